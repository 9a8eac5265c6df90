"""# Two sites, one model
Two models learn apart, from what each site sees; `merge` makes one of them that knows both.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import everclust

rng = np.random.default_rng(2)
centres = rng.uniform(-10, 10, (9, 2))
base = everclust.EverClust().fit(centres[rng.integers(0, 9, 200)] + rng.normal(0, 0.8, (200, 2)))
sites = [base.fork(), base.fork()]
for site, seen in zip(sites, (range(0, 6), range(3, 9)), strict=True):
    site.partial_fit(centres[rng.choice(seen, 6000)] + rng.normal(0, 0.8, (6000, 2)))
both = everclust.merge(sites, base=base)

# %%
fig, axes = plt.subplots(1, 3, figsize=(12, 4), sharex=True, sharey=True)
for ax, model, name in zip(axes, [*sites, both], ["site A", "site B", "merged"], strict=True):
    everclust.TopologyDisplay.from_estimator(model).plot(ax=ax)
    ax.set_title(f"{name}: {model.n_samples_seen_:,} samples, {model.n_clusters_} clusters")
plt.savefig("two_sites.png", bbox_inches="tight")
