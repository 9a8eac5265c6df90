"""# Nodes and their regions
Six clusters of all sizes, the nodes that stand for them, and to which cluster every point of the plane
belongs.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from everclust import EverClust, TopologyDisplay
from everclust.view.palette import colours_of, paler

X, _ = make_blobs(15_000, centers=6, cluster_std=[0.3, 0.6, 0.9, 1.2, 1.4, 0.5], random_state=3)
model = EverClust().fit(X)
x, y = np.meshgrid(np.linspace(-14, 14, 600), np.linspace(-14, 14, 600))
ids = model.predict(np.c_[x.ravel(), y.ravel()])

# %%
fig, ax = plt.subplots(figsize=(7, 7))
TopologyDisplay.from_estimator(model, ax=ax)
ax.imshow(paler(colours_of(ids), 0.75).reshape(600, 600, 3), extent=(-14, 14, -14, 14), origin="lower")
ax.axis("off")
plt.savefig("regions.png", bbox_inches="tight")
