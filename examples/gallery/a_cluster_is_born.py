"""# A cluster is born, falls quiet and comes back
A stream of one measurement. Colours are permanent ids of clusters; events are told while the stream runs.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from everclust import EverClust
from everclust.view.palette import colours_of

rng = np.random.default_rng(0)
n = 40_000
which = rng.integers(0, 3, n)
newcomer = (rng.random(n) < 0.2) & (np.arange(n) > 12_000) & (np.abs(np.arange(n) - 27_000) > 4_000)
X = np.where(newcomer, 9, np.array([0, 3, 6])[which])[:, None] + rng.normal(0, 0.5, (n, 1))

model, ids = EverClust(), []
for start in range(0, n, 500):
    model.partial_fit(X[start : start + 500])
    ids.append(model.labels_)

# %%
fig, ax = plt.subplots(figsize=(9, 4.5))
ax.scatter(range(n), X, s=0.4, color=colours_of(np.concatenate(ids)))
for event in model.events():
    if event.kind in ("quiet", "back") or event.sample > 2000:
        ax.axvline(event.sample, color="black", lw=0.8)
        ax.text(event.sample, 11.4, f" {event.text}", fontsize=8)
ax.set(xlabel="samples", ylabel="measurement", ylim=(-2.5, 12.5))
plt.savefig("a_cluster_is_born.png", bbox_inches="tight")
