"""# Clusters from the first samples on
How well the clusters of digits agree with the truth, while the images come in five random orders.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from everclust import IDAT, EverClust

X, y = load_digits(return_X_y=True)
steps = np.unique(np.geomspace(20, len(X), 25).astype(int))
curves = {}
for name, new in (("EverClust", EverClust), ("IDAT, as published", IDAT)):
    for seed in range(5):
        order, model, start = np.random.default_rng(seed).permutation(len(X)), new(), 0
        for stop in steps:
            model.partial_fit(X[order[start:stop]])
            start = stop
            curves.setdefault(name, []).append(adjusted_rand_score(y, model.predict(X)))

# %%
fig, ax = plt.subplots(figsize=(8, 4.5))
for name, scores in curves.items():
    scores = np.reshape(scores, (5, -1))
    ax.plot(steps, scores.mean(axis=0), label=name)
    ax.fill_between(steps, scores.min(axis=0), scores.max(axis=0), alpha=0.2)
ax.set(xscale="log", xlabel="samples learnt", ylabel="adjusted Rand index", ylim=(0, 1))
ax.legend()
plt.savefig("the_learning_curve.png", bbox_inches="tight")
