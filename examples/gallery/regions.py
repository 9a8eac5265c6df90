"""# Nodes and their regions
Six clusters of all sizes, the nodes that stand for them, and to which cluster every point of the plane
belongs.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from everclust import EverClust
from everclust.view.palette import colours_of, paler

rng = np.random.default_rng(3)
centres, spread = rng.uniform(-10, 10, (6, 2)), rng.uniform(0.3, 1.5, 6)
which = rng.integers(0, 6, 15_000)
model = EverClust().fit(centres[which] + rng.normal(size=(15_000, 2)) * spread[which][:, None])

# %%
x, y = np.meshgrid(np.linspace(-13, 13, 600), np.linspace(-13, 13, 600))
ids = model.predict(np.c_[x.ravel(), y.ravel()])
nodes = model.node_labels_ >= 0
fig, ax = plt.subplots(figsize=(7, 7))
ax.imshow(paler(colours_of(ids), 0.75).reshape(600, 600, 3), extent=(-13, 13, -13, 13), origin="lower")
size = 4 + 60 * np.sqrt(model.usage_[nodes] / model.usage_.max())
ax.scatter(
    *model.prototypes_[nodes].T, s=size, color=colours_of(model.node_labels_[nodes]), edgecolor="white"
)
ax.axis("off")
plt.savefig("regions.png", bbox_inches="tight")
