"""# How soon clusters are found
How well the clusters of 1,797 images of digits agree with the truth, while the images come: mean, least and
most of five random orders.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import shuffle

from everclust import IDAT, EverClust

steps = np.unique(np.geomspace(20, 1797, 25).astype(int))
fig, ax = plt.subplots(figsize=(8, 4.5))
for algorithm in (EverClust, IDAT):
    scores = []
    for seed in range(5):
        X, y = shuffle(*load_digits(return_X_y=True), random_state=seed)
        model, batches = algorithm(), np.split(X, steps[:-1])
        scores.append([adjusted_rand_score(y, model.partial_fit(batch).predict(X)) for batch in batches])
    ax.plot(steps, np.mean(scores, axis=0), label=algorithm.__name__)
    ax.fill_between(steps, np.min(scores, axis=0), np.max(scores, axis=0), alpha=0.2)
ax.set(xscale="log", xlabel="samples learnt", ylabel="adjusted Rand index", ylim=(0, 1))
ax.set_xticks([20, 50, 100, 200, 500, 1000, 1797], ["20", "50", "100", "200", "500", "1,000", "1,797"])
ax.legend()
plt.savefig("the_learning_curve.png", bbox_inches="tight")
