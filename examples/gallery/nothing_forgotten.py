"""# Nothing is forgotten when new classes appear
The digits come one after the other and never again. A line shows how many of a digit's images are still in the
cluster that most of them were put in at first.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from everclust import EverClust

X, y = load_digits(return_X_y=True)
model, home, kept = EverClust(), {}, {}
for now in range(10):
    model.partial_fit(X[y == now])
    for digit in range(now + 1):
        ids = model.predict(X[y == digit])
        home.setdefault(digit, np.bincount(ids).argmax())
        kept.setdefault(digit, []).append(np.mean(ids == home[digit]))

# %%
fig, ax = plt.subplots(figsize=(8, 4))
for digit, share in kept.items():
    ax.plot(range(digit, 10), share, marker="o", label=digit)
ax.set(xlabel="digit that came last", ylabel="share in the first cluster", ylim=(0, 1.05), xticks=range(10))
ax.legend(title="digit", ncols=2, loc="lower left")
plt.savefig("nothing_forgotten.png", bbox_inches="tight")
