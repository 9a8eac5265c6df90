"""Torque clustering as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from ...validation import all_or_nothing, validated_rows, validated_rows_to_predict
from ..distances import Points, chunks, distances, points
from ..memory import refuse_beyond_memory
from ..scaling import refuse_vanishing
from .cut import count_abnormal, partition, weigh
from .neighbours import connect_by_matrix, connect_by_rows, distance_matrix

SYMMETRY = 1e-10  # relative difference up to which two distances count as equal


class TorqueClustering(ClusterMixin, BaseEstimator):
    """Autonomous clustering by fast find of mass and distance peaks: no parameter, no randomness.

    Each cluster, at first each sample, joins its nearest cluster if that is no lighter, until one is left.
    Then the connections between heavy clusters over long distances are cut: torque is mass times mass times
    squared distance, and the largest gap between successive torques determines how many are cut. Features
    are used as they are. Needs all samples at once.

    The authors of the method ask its commercial users to contact them, and users must check for patents
    themselves; this implementation contains none of the authors' code.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters; None determines it.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        With "precomputed", X is the symmetric matrix of all distances.
    algorithm : {"dense", "low_memory"}, default="dense"
        "dense" stores all n² distances, 3.2 GB for 20,000 samples. "low_memory" computes them about four
        times, in a few megabytes. The results are equal to the bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first sample.
    n_clusters_ : int
        Number of clusters.
    n_nodes_ : int
        Number of samples: each is a node.
    connections_ : ndarray of shape (n_samples - 1,)
        All connections by decreasing torque, with the fields a and b (two samples), mass_a and mass_b (of
        their clusters), distance, torque and layer (from 1). They form a spanning tree.
    n_cut_ : int
        Number of connections that were cut, counted from the first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    J. Yang, C.-T. Lin: Autonomous Clustering by Fast Find of Mass and Distance Peaks. IEEE Transactions on
    Pattern Analysis and Machine Intelligence 47(7), 2025, doi:10.1109/TPAMI.2025.3535743.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import TorqueClustering
    >>> model = TorqueClustering().fit(load_iris().data)
    >>> model.n_clusters_
    2
    >>> model.connections_["torque"][: model.n_cut_].round()
    array([13450.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [StrOptions({"euclidean", "cosine", "precomputed"})],
        "algorithm": [StrOptions({"dense", "low_memory"})],
    }
    _points: Points | None

    def __init__(
        self, *, n_clusters: int | None = None, metric: str = "euclidean", algorithm: str = "dense"
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.algorithm = algorithm

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        MemoryError
            If the distances do not fit into the available memory. Nothing has been allocated then.
        """
        self._validate_params()
        with all_or_nothing(self):
            X = validated_rows(self, X, reset=True)
            refuse_vanishing(X)
            self._refuse_too_many_clusters(len(X))
            connections = weigh(self._connections(X))
            self.n_cut_ = count_abnormal(connections) if self.n_clusters is None else self.n_clusters - 1
            self.connections_ = connections
            self.labels_ = partition(connections, self.n_cut_)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of the training sample nearest to each row. The method itself does not define prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            If precomputed, the distances to the training samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X = validated_rows_to_predict(self, X)
        if self._points is None:
            return self.labels_[X.argmin(axis=1)]
        X, nearest = self._prepared(X), np.empty(len(X), np.int64)
        for part in chunks(len(X), self._points.size):
            nearest[part] = distances(X[part], self._points).argmin(axis=1)
        return self.labels_[nearest]

    def _connections(self, X: np.ndarray) -> np.ndarray:
        if self.metric == "precomputed":
            _refuse_other_matrices(X)
            self._points = None
            return connect_by_matrix(X)
        X = self._prepared(X)
        if self.algorithm == "dense":
            _refuse_too_many_samples(len(X))
        self._points = points(X)
        in_rows = self.algorithm == "low_memory"
        found = connect_by_rows(X) if in_rows else connect_by_matrix(distance_matrix(X))
        if self.metric == "cosine":
            found["distance"] **= 2
            found["distance"] /= 2  # 1 − cos = ‖u − v‖² / 2 for rows u, v of length 1
        return found

    def _prepared(self, X: np.ndarray) -> np.ndarray:
        """X, with its rows scaled to length 1 if the metric is "cosine"."""
        return X if self.metric == "euclidean" else _directions(X)

    def _refuse_too_many_clusters(self, n_samples: int) -> None:
        if self.n_clusters is not None and self.n_clusters > n_samples:
            raise ValueError(f"n_samples={n_samples} should be >= n_clusters={self.n_clusters}.")

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return self.n_cut_ + 1

    @property
    def n_nodes_(self) -> int:
        """Number of samples."""
        return len(self.labels_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags


def _refuse_too_many_samples(n_samples: int) -> None:
    refuse_beyond_memory(
        8 * n_samples**2,
        f"The distances between {n_samples} samples",
        'cluster fewer samples, or set algorithm="low_memory"',
    )


def _directions(X: np.ndarray) -> np.ndarray:
    largest = np.abs(X).max(axis=1, keepdims=True)
    if not largest.all():
        row = int(np.flatnonzero(largest == 0)[0])
        raise ValueError(f'Row {row} of X is zero, but metric="cosine" needs a direction; leave it out.')
    X = X / largest  # so that no square overflows
    return X / np.sqrt((X * X).sum(axis=1, keepdims=True))


def _refuse_other_matrices(X: np.ndarray) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"A matrix of distances must be square, but X has shape {X.shape}.")
    for part in chunks(len(X), len(X)):
        if X[part].min() < 0:
            raise ValueError("Distances must not be negative, but X holds a negative number.")
        if not np.allclose(X[part], X[:, part].T, rtol=SYMMETRY, atol=0):
            raise ValueError("A matrix of distances must be symmetric, but X is not.")
