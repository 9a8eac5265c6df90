"""# The colours of a photograph
EverClust reads the pixels as a stream. Its nodes are a palette that it has chosen by itself; its clusters are
what the colours fall into, here the sky and the rest.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.metrics import pairwise_distances_argmin

from everclust import EverClust

image = load_sample_image("china.jpg") / 255
pixels = image.reshape(-1, 3)
model = EverClust().partial_fit(pixels[np.random.default_rng(0).permutation(len(pixels))])
nearest = pairwise_distances_argmin(pixels, model.prototypes_)
centre = dict(zip(model.cluster_ids_, model.cluster_centers_, strict=True))
pictures = {
    f"{len(pixels):,} pixels": image,
    f"{len(set(nearest))} nodes": model.prototypes_[nearest],
    f"{model.n_clusters_} clusters": np.array([centre[c] for c in model.predict(pixels)]),
}

# %%
fig, axes = plt.subplots(3, 1, figsize=(6, 12))
for ax, (name, picture) in zip(axes, pictures.items(), strict=True):
    ax.imshow(picture.reshape(image.shape).clip(0, 1))
    ax.set_title(name)
    ax.axis("off")
plt.savefig("colours_of_an_image.png", bbox_inches="tight")
