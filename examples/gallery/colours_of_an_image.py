"""# The colours of a photograph
EverClust reads the pixels as a stream and finds the colours, and how many there are. Every pixel gets the mean
colour of its cluster.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from everclust import EverClust

image = load_sample_image("china.jpg") / 255
pixels = image.reshape(-1, 3)
model = EverClust().partial_fit(pixels[np.random.default_rng(0).permutation(len(pixels))])
ids = model.predict(pixels)
mean = {c: pixels[ids == c].mean(axis=0) for c in np.unique(ids)}

# %%
fig, (left, right, bottom) = plt.subplots(3, 1, figsize=(6, 9), height_ratios=(8, 8, 1))
left.imshow(image)
right.imshow(np.array([mean[c] for c in ids]).reshape(image.shape))
shares = np.array([np.mean(ids == c) for c in mean])
order = np.argsort(-shares)
bottom.barh(0, shares[order], left=np.r_[0, np.cumsum(shares[order])[:-1]], color=np.array(list(mean.values()))[order])
left.set_title(f"{len(pixels):,} pixels, {len(mean)} colours found")
for ax in (left, right, bottom):
    ax.axis("off")
plt.savefig("colours_of_an_image.png", bbox_inches="tight")
