"""An algorithm of your own in the benchmark: everclust bench run --with examples/extending/baseline.py."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from everclust.benchmark.run.registry import Algorithm, register


class Leader(ClusterMixin, BaseEstimator):
    """Hartigan's leader algorithm: a row farther than a radius from all leaders becomes a leader."""

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius

    def fit(self, X: np.ndarray, y: None = None) -> Self:
        """Start anew."""
        self.leaders_ = X[:1].copy()
        return self.partial_fit(X)

    def partial_fit(self, X: np.ndarray, y: None = None) -> Self:
        """Go on."""
        if not hasattr(self, "leaders_"):
            self.leaders_ = X[:1].copy()
        for x in X:
            if np.linalg.norm(self.leaders_ - x, axis=1).min() > self.radius:
                self.leaders_ = np.vstack([self.leaders_, x])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The nearest leader of each row."""
        return np.linalg.norm(X[:, None] - self.leaders_, axis=2).argmin(axis=1)


register(
    Algorithm(
        "leader",
        "Leader",
        make=lambda parameters, seed: Leader(**parameters),
        count=lambda leader: (len(leader.leaders_), len(leader.leaders_)),
        incremental=True,
        space={"radius": (0.1, 1000.0, "log")},  # tuned by a search, which uses the classes
    )
)
