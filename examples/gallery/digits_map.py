"""# A map of handwritten digits
Every picture is a node that EverClust has learnt, in the colour of its cluster; it was not told that there
are ten digits. t-SNE places them, without knowing the clusters.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
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
    ink = np.dstack([np.broadcast_to(colour, (8, 8, 3)), node.reshape(8, 8) / 16])
    ax.imshow(ink, extent=(x - 0.8, x + 0.8, y - 0.8, y + 0.8))
ax.autoscale()
ax.set_title(f"{len(nodes)} nodes, {model.n_clusters_} clusters")
ax.axis("off")
plt.savefig("digits_map.png", bbox_inches="tight")
