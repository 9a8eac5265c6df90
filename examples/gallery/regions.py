"""# Nodes and their regions
Six clusters of all sizes, the nodes that stand for them (the larger, the more samples), and to which cluster
every point of the plane belongs. Lines join nodes that often share samples.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from everclust import EverClust, TopologyDisplay
from everclust.view.palette import colours_of, paler

rng = np.random.default_rng(3)
centres, spreads = rng.uniform(-10, 10, (6, 2)), rng.uniform(0.3, 1.5, 6)
model = EverClust().fit(make_blobs(15_000, centers=centres, cluster_std=spreads, random_state=0)[0])
(left, low), (right, high) = model.prototypes_.min(axis=0) - 2, model.prototypes_.max(axis=0) + 2
x, y = np.meshgrid(np.linspace(left, right, 600), np.linspace(low, high, 600))
ids = model.predict(np.c_[x.ravel(), y.ravel()])

# %%
fig, ax = plt.subplots(figsize=(7, 7))
TopologyDisplay.from_estimator(model, ax=ax).legend_.remove()
ax.imshow(paler(colours_of(ids), 0.75).reshape(600, 600, 3), extent=(left, right, low, high), origin="lower")
ax.axis("off")
plt.savefig("regions.png", bbox_inches="tight")
