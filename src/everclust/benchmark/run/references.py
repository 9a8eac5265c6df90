"""Registers the references: scikit-learn's offline clustering as users know it.

k-means, Ward and the Gaussian mixture are told the true number of classes. HDBSCAN and Birch run with their
defaults and are told nothing; Birch's default is three clusters. Noise of HDBSCAN counts as one cluster.
"""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any, Self
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, Birch, KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .registry import NUMBER_OF_CLASSES, Algorithm, nothing_given, number_of_classes, register

WARD_ROWS = 20_000  # the distances between all pairs of so many rows take 1.5 GiB


class Ward(AgglomerativeClustering):
    """Agglomerative clustering by Ward's rule, on at most 20,000 rows."""

    def fit(self, X: np.ndarray, y: None = None) -> Self:
        """Cluster the rows, or refuse them because of the memory that their distances take."""
        if len(X) > WARD_ROWS:
            raise MemoryError(
                f"the distances between all pairs of {len(X):,} rows; Ward takes up to {WARD_ROWS:,}"
            )
        return super().fit(X)


class Offline:
    """A clusterer that sees all rows at once, standardised or not.

    Parameters
    ----------
    clusterer : estimator
        With `fit_predict`.
    is_standardised : bool
        Scale each feature to mean 0 and variance 1 first.
    """

    def __init__(self, clusterer: Any, is_standardised: bool) -> None:
        self._pipeline = make_pipeline(*[StandardScaler()] * is_standardised, clusterer)

    def fit(self, X: np.ndarray) -> Self:
        """Cluster the rows."""
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # the scores tell
            self.labels_ = self._pipeline.fit_predict(X)
        return self


# name, title, class, parameter for the number of classes
TOLD = [
    ("k-means", "k-means", KMeans, "n_clusters"),
    ("ward", "Ward", Ward, "n_clusters"),
    ("gaussian-mixture", "Gaussian mixture", GaussianMixture, "n_components"),
]
# scikit-learn warns of HDBSCAN's default for `copy`, which does not change results
UNTOLD = [
    ("hdbscan", "HDBSCAN, defaults", partial(HDBSCAN, copy=True)),
    ("birch", "Birch, defaults (3 clusters)", Birch),
]


def _make(clusterer: Any, is_standardised: bool, params: dict[str, Any], seed: int) -> Offline:
    random = {"random_state": seed} if "random_state" in signature(clusterer).parameters else {}
    return Offline(clusterer(**random, **params), is_standardised)


def register_references() -> None:
    """Add the references to the registry."""
    for name, title, clusterer, parameter in TOLD:
        for suffix, words in (("", "raw features"), ("-standardised", "standardised")):
            make = partial(_make, clusterer, suffix != "")
            given = partial(number_of_classes, parameter)
            _register(f"{name}{suffix}", f"{title}, {words}", make, given, NUMBER_OF_CLASSES)
    for name, title, clusterer in UNTOLD:
        _register(name, title, partial(_make, clusterer, False), nothing_given, "")


def _register(name: str, title: str, make: Any, given: Any, told: str) -> None:
    register(Algorithm(name, title, make, kind="references", given=given, told=told))
