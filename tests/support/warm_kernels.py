"""Compile the kernels of the core into the cache on disk, unless they are there."""

import pickle

import numpy as np

from everclust import IDAT, EverClust

X = np.random.default_rng(0).normal(size=(1000, 3))
for algorithm in (IDAT, EverClust):
    model = algorithm(max_nodes=20).fit(X)
    pickle.loads(pickle.dumps(model)).predict(X)
    model.score_samples(X)
    model.transform(X[:10])
EverClust(n_jobs=2).fit(np.random.default_rng(0).normal(size=(22_000, 3)))  # forks, a merger and a recount
