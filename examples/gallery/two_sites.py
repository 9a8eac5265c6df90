"""# Two sites, one model
A first model knows a little of six groups. Two copies of it learn apart, each from the four groups that its
site sees; `merge` makes one model of them that knows all six. A cluster that both sites knew keeps its id;
where both gave the same id to a new cluster of their own, one of the two gets another.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import everclust

rng = np.random.default_rng(2)
centres = 7 * np.array([(0, 0), (1, 2), (2, 0), (3, 2), (4, 0), (5, 2)])
base = everclust.EverClust().fit(centres[rng.integers(0, 6, 200)] + rng.normal(0, 0.8, (200, 2)))
sites = [base.fork(), base.fork()]
for site, seen in zip(sites, (range(0, 4), range(2, 6)), strict=True):
    site.partial_fit(centres[rng.choice(seen, 6000)] + rng.normal(0, 0.8, (6000, 2)))
both = everclust.merge(sites, base=base)

# %%
fig, axes = plt.subplots(3, 1, figsize=(7, 9), sharex=True, sharey=True, layout="constrained")
for ax, model, name in zip(axes, [*sites, both], ["site A", "site B", "merged"], strict=True):
    everclust.TopologyDisplay.from_estimator(model, ax=ax)
    ax.set_title(f"{name}: {model.n_samples_seen_:,} samples, {model.n_clusters_} clusters")
plt.savefig("two_sites.png", bbox_inches="tight")
