"""# Shapes, and who is told what
Two moons, rings, blobs and one single cloud, with the number of clusters that each algorithm finds. KMeans is
told the true number; EverClust and HDBSCAN are told nothing, and EverClust sees every point once.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons

from everclust import EverClust
from everclust.view.palette import colours_of

moons = make_moons(3000, noise=0.06, random_state=0)[0]
rings = make_circles(3000, noise=0.04, factor=0.45, random_state=0)[0]
blobs = make_blobs(3000, centers=7, cluster_std=0.6, random_state=6)[0]
cloud = np.random.default_rng(0).normal(size=(3000, 2))

# %%
fig, axes = plt.subplots(3, 4, figsize=(11, 8))
for X, k, column in zip((moons, rings, blobs, cloud), (2, 2, 7, 1), axes.T, strict=True):
    for ax, model in zip(column, (EverClust(), KMeans(k, random_state=0), HDBSCAN(copy=True)), strict=True):
        ids = model.fit_predict(X)
        ax.scatter(*X.T, s=3, color=np.where(ids[:, None] < 0, 0.85, colours_of(ids)))
        ax.set_title(f"{type(model).__name__}: {ids.max() + 1}", fontsize=9)
        ax.axis("off")
plt.savefig("shapes.png", bbox_inches="tight")
