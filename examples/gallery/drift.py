"""# Clusters that drift
Five clusters move for 60,000 samples; colours are ids. A cluster keeps its id as long as it is
connected with the places that it came from. When it has left them far behind, an event reports a split.
`max_nodes` bounds memory.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from everclust import EverClust
from everclust.view.palette import colours_of

rng = np.random.default_rng(1)
n, batch = 60_000, 500
time = np.linspace(0, 1, n)
which = rng.integers(0, 5, n)
X = np.c_[8 * which + 3 * np.sin(2 * np.pi * time + which), 12 * time * np.cos(2 * which)]
X += rng.normal(0, 0.7, (n, 2))

model, ids = EverClust(max_nodes=50), []
for start in range(0, n, batch):
    ids += model.partial_fit(X[start : start + batch]).labels_.tolist()

# %%
fig, axes = plt.subplots(2, 1, figsize=(9, 6), sharex=True)
for ax, column in zip(axes, X.T, strict=True):
    ax.scatter(range(n), column, s=0.5, lw=0, color=colours_of(np.array(ids)))
axes[0].set_title(f"{n:,} samples, {model.n_nodes_} nodes, {model.n_clusters_} clusters at the end")
axes[1].set_xlabel("samples")
plt.savefig("drift.png", bbox_inches="tight")
