"""# Clusters that drift
Five clusters wander for 60,000 samples; colours are permanent ids. A cluster keeps its id while it moves, as
long as it is connected with the places that it came from. When it has left them far behind, the id changes,
and an event reports a split.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from everclust import EverClust, StreamDisplay

rng = np.random.default_rng(1)
time = np.linspace(0, 2 * np.pi, 60_000)
cluster = rng.integers(0, 5, len(time))
path = np.c_[8 * cluster + 3 * np.sin(time + cluster), 2 * np.cos(time) * cluster]
X = path + rng.normal(0, 0.7, path.shape)

# %%
StreamDisplay.from_stream(EverClust(max_nodes=400), X)
plt.savefig("drift.png", bbox_inches="tight")
