"""# Nothing is forgotten when new classes appear
The digits come one after the other and never again. How well do clusters agree with the digits that
have come so far? MiniBatchKMeans is told that there will be ten.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_mutual_info_score

from everclust import IDAT, EverClust

X, y = load_digits(return_X_y=True)
models = {
    "EverClust": EverClust(),
    "IDAT, as published": IDAT(),
    "MiniBatchKMeans, told ten": MiniBatchKMeans(10, random_state=0),
}
scores = {name: [] for name in models}
for digit in range(10):
    for name, model in models.items():
        for batch in np.array_split(X[y == digit], 5):
            model.partial_fit(batch)
        so_far = y <= digit
        scores[name].append(adjusted_mutual_info_score(y[so_far], model.predict(X[so_far])))

# %%
fig, ax = plt.subplots(figsize=(8, 4))
for name, score in scores.items():
    ax.plot(range(2, 11), score[1:], marker="o", label=name)
ax.set(xlabel="digits that have come", ylabel="adjusted mutual information", ylim=(0, 1))
ax.legend(loc="lower left")
plt.savefig("nothing_forgotten.png", bbox_inches="tight")
