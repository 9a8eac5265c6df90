"""# How a model tunes itself
Every 3,000 samples the stream moves elsewhere and gets a new spread. The recalculation interval and the
vigilance threshold are derived from the newest samples, again and again: there is nothing to set.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import everclust

rng = np.random.default_rng(0)
parts = [rng.normal(rng.uniform(-8, 8, 4), sd, (3000, 4)) for sd in (0.3, 0.3, 2.0, 0.5, 1.0)]
history = everclust.History(every=50)
everclust.learn(everclust.EverClust(), np.concatenate(parts), history=history)

# %%
everclust.HistoryDisplay(history).plot()
plt.savefig("self_adjusting.png", bbox_inches="tight")
