"""# Clusters that drift keep their ids
Five clusters move for 60,000 samples. `max_nodes` bounds memory and lets old places be forgotten; every colour
is one permanent id.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from everclust import EverClust
from everclust.view.palette import colours_of

rng = np.random.default_rng(1)
n, batch = 60_000, 1_000
turn = np.linspace(0, 1.1 * np.pi, n)
which = rng.integers(0, 5, n)
angle, radius = turn + 2 * np.pi * which / 5, 6 + 2 * np.sin(3 * turn)
X = np.c_[radius * np.cos(angle), radius * np.sin(angle)] + rng.normal(0, 0.45, (n, 2))

model = EverClust(max_nodes=150)
fig, ax = plt.subplots(figsize=(7, 7))
for start in range(0, n, batch):
    model.partial_fit(X[start : start + batch])
    fade = 0.08 + 0.5 * (start / n) ** 3
    ax.scatter(*X[start : start + batch].T, s=2, lw=0, alpha=fade, color=colours_of(model.labels_))
ax.set_title(f"{n:,} samples, {model.n_nodes_} nodes, {model.n_clusters_} clusters at the end")
ax.set_aspect("equal")
ax.axis("off")
plt.savefig("drift.png", bbox_inches="tight")
