"""# Clusters that drift
Five clusters wander by seven times their spread; colours are permanent ids. A cluster keeps its id while it
moves, because it stays connected with the places that it came from. Lines are events: at first the model
revises its clusters; later a small one is born beside a moving one, twice, and the two merge again.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from everclust import EverClust, StreamDisplay

rng = np.random.default_rng(1)
time = np.linspace(0, 2 * np.pi, 60_000)
cluster = rng.integers(0, 5, len(time))
path = np.c_[12 * cluster + 2.5 * np.sin(time + cluster), rng.normal(0, 10, 5)[cluster]]

# %%
StreamDisplay.from_stream(EverClust(), path + rng.normal(0, 0.7, path.shape))
plt.savefig("drift.png", bbox_inches="tight")
