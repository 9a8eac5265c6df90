"""# A map of handwritten digits
Every picture is a node that EverClust has learnt, in the colour of its cluster; it was not told that there
are ten digits.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE

from everclust import EverClust
from everclust.view.palette import colours_of

model = EverClust().fit(load_digits().data)
nodes = model.node_labels_ >= 0
place = TSNE(perplexity=15, random_state=0).fit_transform(model.prototypes_[nodes])
colour = colours_of(model.node_labels_[nodes])

# %%
fig, ax = plt.subplots(figsize=(8, 8), facecolor="white")
for (x, y), image, ink in zip(place, model.prototypes_[nodes], colour, strict=True):
    tint = 1 - (1 - ink) * image.reshape(8, 8, 1) / 16
    ax.imshow(tint, extent=(x - 0.9, x + 0.9, y - 0.9, y + 0.9))
ax.set(
    xlim=(place[:, 0].min() - 2, place[:, 0].max() + 2), ylim=(place[:, 1].min() - 2, place[:, 1].max() + 2)
)
ax.set_title(f"{len(place)} nodes, {model.n_clusters_} clusters")
ax.axis("off")
plt.savefig("digits_map.png", bbox_inches="tight")
