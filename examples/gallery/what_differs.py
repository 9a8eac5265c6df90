"""# What clusters are like
`cluster_profile` says in which features each cluster differs from the rest, in standard deviations.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from everclust import EverClust

wines = load_wine(as_frame=True).data
model = EverClust().fit(wines)
profile = model.cluster_profile()

# %%
fig, ax = plt.subplots(figsize=(9, 3.5))
shade = ax.imshow(profile, cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto")
ax.set_xticks(range(profile.shape[1]), profile.columns, rotation=50, ha="right")
ax.set_yticks(range(len(profile)), [f"cluster {c}" for c in profile.index])
fig.colorbar(shade, label="standard deviations")
plt.savefig("what_differs.png", bbox_inches="tight")
