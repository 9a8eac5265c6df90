"""# A cluster is born, falls quiet and comes back
A stream of four measurements, of which the first is drawn. Colours are permanent ids of clusters; lines
are events, reported while the stream runs.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from everclust import EverClust
from everclust.view.palette import colours_of

rng = np.random.default_rng(4)
n = 40_000
which = rng.integers(0, 3, n)
newcomer = (rng.random(n) < 0.2) & (np.arange(n) > 12_000) & (np.abs(np.arange(n) - 27_000) > 4_000)
X = rng.normal(0, 3, (4, 4))[np.where(newcomer, 3, which)] + rng.normal(0, 0.5, (n, 4))
X[:, 0] += 3 * np.where(newcomer, 3, which) - X[:, 0].mean()

model, ids = EverClust(), []
for start in range(0, n, 500):
    model.partial_fit(X[start : start + 500])
    ids.append(model.labels_)

# %%
fig, ax = plt.subplots(figsize=(9, 4.5))
ax.scatter(range(n), X[:, 0], s=0.4, color=colours_of(np.concatenate(ids)))
for event in model.events():
    if event.kind in ("quiet", "back") or event.sample > 2000:
        ax.axvline(event.sample, color="black", lw=0.8)
        ax.text(event.sample, X[:, 0].max() + 1, f" {event.kind}", fontsize=9)
ax.set(xlabel="samples", ylabel="first measurement", ylim=(X[:, 0].min() - 1, X[:, 0].max() + 2))
plt.savefig("a_cluster_is_born.png", bbox_inches="tight")
