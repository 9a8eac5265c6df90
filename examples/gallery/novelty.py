"""# What is new to a model
The darker, the less a model knows a place. Outside the white lines a sample is novel: there the model would
make a new node, by its own vigilance, without a threshold to choose. Dots are samples that it has learnt.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from everclust import EverClust

X, _ = make_circles(6000, noise=0.06, factor=0.45, random_state=0)
model = EverClust().fit(X)
x, y = np.meshgrid(np.linspace(-1.9, 1.9, 400), np.linspace(-1.6, 1.6, 350))
places = np.c_[x.ravel(), y.ravel()]

# %%
fig, ax = plt.subplots(figsize=(8, 6.7))
ax.contourf(x, y, model.score_samples(places).reshape(x.shape), levels=20, cmap="magma")
ax.contour(x, y, model.predict_novel(places).reshape(x.shape), levels=[0.5], colors="white", linewidths=1)
ax.scatter(*X[::4].T, s=2, color="black", alpha=0.5, linewidths=0)
ax.axis("off")
plt.savefig("novelty.png", bbox_inches="tight")
