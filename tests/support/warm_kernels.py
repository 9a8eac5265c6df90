"""Compile the kernels of the core into the cache on disk, unless they are there."""

import numpy as np

from everclust import IDAT

X = np.random.default_rng(0).normal(size=(300, 3))
for clusters in ("components", "handover"):
    model = IDAT(clusters=clusters, max_nodes=20).fit(X)
    model.copy().predict(X)
