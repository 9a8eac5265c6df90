"""# Hand-overs: why two nodes are in one cluster
A sample's nearest node hands over to its second nearest. Nodes of one cluster hand over to each other, hardly
to others: sorted by cluster, the table of hand-overs falls into blocks.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from everclust import EverClust

X = load_digits().data
model = EverClust().fit(X)
away = np.linalg.norm(X[:, None] - model.prototypes_, axis=2)
first, second = np.argsort(away, axis=1)[:, :2].T
counts = np.zeros((model.n_nodes_, model.n_nodes_))
np.add.at(counts, (first, second), 1)
order = np.argsort(model.node_labels_, kind="stable")
order = order[(model.node_labels_[order] >= 0) & (counts[order].sum(axis=1) > 0)]

# %%
fig, ax = plt.subplots(figsize=(7, 7))
both = (counts + counts.T)[np.ix_(order, order)]
ax.imshow(np.log1p(both), cmap="Blues", interpolation="nearest")
ends = np.flatnonzero(np.diff(model.node_labels_[order])) + 0.5
for end in ends:
    ax.axhline(end, color="black", lw=0.4)
    ax.axvline(end, color="black", lw=0.4)
ax.set(xticks=[], yticks=[], title=f"{len(order)} nodes in {len(ends) + 1} clusters")
plt.savefig("handovers.png", bbox_inches="tight")
