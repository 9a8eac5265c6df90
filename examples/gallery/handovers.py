"""# Hand-overs: why two nodes are in one cluster
A sample's nearest node hands over to its second nearest. Lines are hand-overs, the thicker the more; those
between two clusters are black. Clusters are groups of nodes that hand over to each other, hardly to others.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from everclust import EverClust
from everclust.view.palette import colours_of

X, _ = make_blobs(
    20_000, centers=[(0, 0), (3.5, 1), (1, 4), (6, 4.5)], cluster_std=[1, 0.7, 0.8, 1], random_state=0
)
model = EverClust().fit(X)
pairs = NearestNeighbors(n_neighbors=2).fit(model.prototypes_).kneighbors(X, return_distance=False)
pairs, counts = np.unique(np.sort(pairs), axis=0, return_counts=True)

# %%
fig, ax = plt.subplots(figsize=(8, 7))
for (a, b), count in zip(pairs, counts, strict=True):
    inside = model.node_labels_[a] == model.node_labels_[b]
    colour = colours_of(model.node_labels_[a]) if inside else "black"
    ax.plot(*model.prototypes_[[a, b]].T, color=colour, lw=np.sqrt(count) / 3, solid_capstyle="round")
ax.set_aspect("equal")
ax.axis("off")
plt.savefig("handovers.png", bbox_inches="tight")
