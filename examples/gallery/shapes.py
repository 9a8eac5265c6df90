"""# Shapes, and who is told what
Two moons, rings, blobs and one single cloud. k-means is told the true number of clusters; EverClust is told
nothing and sees every point once.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons

from everclust import EverClust
from everclust.view.palette import colours_of

rng = np.random.default_rng(0)
shapes = [
    make_moons(3000, noise=0.06, random_state=0),
    make_circles(3000, noise=0.04, factor=0.45, random_state=0),
    make_blobs(3000, centers=7, cluster_std=0.6, random_state=8),
    (rng.normal(size=(3000, 2)), np.zeros(3000, int)),
]

# %%
fig, axes = plt.subplots(3, 4, figsize=(11, 8))
for (X, y), column in zip(shapes, axes.T, strict=True):
    found = {
        "EverClust, told nothing": EverClust().fit_predict(X),
        "k-means, told the number": KMeans(len(set(y)), random_state=0).fit_predict(X),
        "HDBSCAN, told nothing": HDBSCAN(copy=True).fit_predict(X),
    }
    for ax, (name, ids) in zip(column, found.items(), strict=True):
        ax.scatter(*X.T, s=3, color=np.where(ids[:, None] < 0, 0.85, colours_of(np.maximum(ids, 0))))
        ax.set_title(f"{name}: {len(set(ids[ids >= 0]))}", fontsize=9)
        ax.axis("off")
plt.savefig("shapes.png", bbox_inches="tight")
