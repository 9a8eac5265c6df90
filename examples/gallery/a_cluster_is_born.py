"""# A cluster is born, falls quiet and comes back
A machine has three states; a fourth one appears, pauses and returns. One of three measurements is drawn.
Colours are permanent ids of clusters; lines are events, reported while the stream runs.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from everclust import EverClust, StreamDisplay

rng = np.random.default_rng(4)
time = np.arange(40_000)
state = rng.integers(0, 3, len(time))
state[(time > 12_000) & (abs(time - 27_000) > 4_000) & (rng.random(len(time)) < 0.2)] = 3
levels = np.array([[0, 0, 4], [3, 5, 0], [6, 0, 0], [9, 5, 4]])
X = levels[state] + rng.normal(0, 0.5, (len(time), 3))

# %%
StreamDisplay.from_stream(EverClust(), X)
plt.savefig("a_cluster_is_born.png", bbox_inches="tight")
