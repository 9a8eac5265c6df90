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
inside = model.node_labels_ >= 0
nodes, colours = model.prototypes_[inside], colours_of(model.node_labels_[inside])
places = TSNE(perplexity=15, random_state=0).fit_transform(nodes)

# %%
fig, ax = plt.subplots(figsize=(8, 8))
for (x, y), node, colour in zip(places, nodes, colours, strict=True):
    ax.imshow(1 - (1 - colour) * node.reshape(8, 8, 1) / 16, extent=(x - 1.2, x + 1.2, y - 1.2, y + 1.2))
ax.autoscale()
ax.set_title(f"{len(nodes)} nodes, {model.n_clusters_} clusters")
ax.axis("off")
plt.savefig("digits_map.png", bbox_inches="tight")
