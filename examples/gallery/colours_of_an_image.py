"""# The colours of a photograph
EverClust reads the pixels as a stream. Its nodes are a palette that it has chosen by itself, below with the
most used colours first; the number of colours was not given.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.metrics import pairwise_distances_argmin

from everclust import EverClust

image = load_sample_image("flower.jpg") / 255
pixels = image.reshape(-1, 3)
model = EverClust(metric="euclidean").fit(np.random.default_rng(0).permutation(pixels))
nearest = pairwise_distances_argmin(pixels, model.prototypes_)
palette = model.prototypes_[np.argsort(-np.bincount(nearest, minlength=model.n_nodes_))]

# %%
fig, axes = plt.subplot_mosaic("AB;CC", height_ratios=(8, 1), figsize=(10, 4), layout="constrained")
axes["A"].imshow(image)
axes["B"].imshow(model.prototypes_[nearest].reshape(image.shape).clip(0, 1))
axes["C"].imshow(palette[None].clip(0, 1), aspect="auto", interpolation="nearest")
for ax, title in zip(axes.values(), (f"{len(pixels):,} pixels", f"{model.n_nodes_} nodes", ""), strict=True):
    ax.set_title(title)
    ax.axis("off")
plt.savefig("colours_of_an_image.png", bbox_inches="tight")
