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
fig, ax = plt.subplots(figsize=(8, 4))
for model in (EverClust(), IDAT(), MiniBatchKMeans(10, random_state=0)):
    scores = []
    for digit in range(10):
        for batch in np.array_split(X[y == digit], 5):
            model.partial_fit(batch)
        scores.append(adjusted_mutual_info_score(y[y <= digit], model.predict(X[y <= digit])))
    ax.plot(range(2, 11), scores[1:], marker="o", label=type(model).__name__)
ax.set(xlabel="digits that have come", ylabel="adjusted mutual information", ylim=(0, 1))
ax.legend(loc="lower left")
plt.savefig("nothing_forgotten.png", bbox_inches="tight")
