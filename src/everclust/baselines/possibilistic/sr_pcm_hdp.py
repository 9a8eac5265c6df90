"""Self-regulating possibilistic c-means with high-density points as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from threadpoolctl import threadpool_limits

from ...validation import all_or_nothing, validated_rows, validated_rows_to_predict
from ..distances import chunks, distances, points
from ..memory import refuse_beyond_memory
from .density_peaks import dense_points
from .possibilistic import Clusters, Pull, eliminate, fuzzy_c_means, memberships, winners

STARTS = 3  # centres for each dense point
MATRICES = 5  # of centres × samples that are held at a time, at most


class SRPCMHDP(ClusterMixin, BaseEstimator):
    """Self-regulating possibilistic c-means with high-density points.

    Possibilistic c-means that begins with too many centres, three for each high-density point, placed by
    fuzzy c-means. The high-density points attract the centres, every cluster adapts its width to its core,
    and clusters that win no sample are dropped. Features are used as they are. All samples must be there at
    once. In many dimensions fuzzy c-means puts all centres into the middle of the data, and one cluster is
    left.

    Parameters
    ----------
    n_dense_points : int, default=3
        Number of high-density points: the samples with the largest product of density and distance to the
        nearest denser sample. The comparison with IDAT gives it the number of classes.
    alpha : float, default=1.0
        How fast membership decays with distance. The comparison with IDAT calls it beta.
    lamda : float, default=0.5
        How strongly the high-density points attract. The comparison with IDAT calls it theta.
    reference_quirks : bool, default=True
        When fuzzy c-means begins, every centre is a sample. The authors' code then gives each of these
        samples to each of the centres with membership 1. False gives each to its own centre.
    random_state : int, RandomState instance or None, default=None
        Decides which samples are the first centres.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample: that of the largest membership.
    n_clusters_, n_nodes_ : int
        Number of clusters. Each has one centre.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features_in_)
        The centres for which the memberships were computed last.
    widths_ : ndarray of shape (n_clusters_,)
        Their widths.
    memberships_ : ndarray of shape (n_samples, n_clusters_)
        Memberships, from 0 to 1. They need not add up to 1.
    dense_points_ : ndarray of shape (n_dense_points,)
        Indices of the high-density points.
    counts_ : ndarray of shape (n_iter_,)
        Number of clusters after each iteration.
    n_iter_ : int
        Number of iterations of possibilistic c-means.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    Hu et al.: Automated Cluster Elimination Guided by High-Density Points. IEEE Transactions on Cybernetics
    (2025). What is done here is what the authors' program windflowerHu/SRPCMHDP does.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import SRPCMHDP
    >>> model = SRPCMHDP(alpha=1.375, lamda=0.9, random_state=1).fit(load_iris().data)
    >>> model.n_clusters_
    5
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_dense_points": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "lamda": [Interval(Real, 0, None, closed="left")],
        "reference_quirks": ["boolean"],
        "random_state": ["random_state"],
    }
    _clusters: Clusters
    _alpha: float  # at the time of fit

    def __init__(
        self,
        *,
        n_dense_points: int = 3,
        alpha: float = 1.0,
        lamda: float = 0.5,
        reference_quirks: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_dense_points = n_dense_points
        self.alpha = alpha
        self.lamda = lamda
        self.reference_quirks = reference_quirks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        MemoryError
            If the memberships do not fit into the memory available. Nothing has been allocated then.
        """
        self._validate_params()
        with all_or_nothing(self):
            X = validated_rows(self, X, reset=True)
            n_starts = min(STARTS * self.n_dense_points, len(X))
            _refuse_too_many(n_starts, *X.shape)
            self.dense_points_ = dense_points(X, self.n_dense_points)
            first = check_random_state(self.random_state).choice(len(X), n_starts, replace=False)
            with threadpool_limits(1, "blas"):  # for products this small, threads mostly wait for each other
                start = fuzzy_c_means(X, X[first], self.reference_quirks)
                found = eliminate(X, start, Pull(X[self.dense_points_], self.lamda), self.alpha)
            self._clusters, self._alpha = found.clusters, self.alpha
            self.labels_, self.memberships_ = found.winner, found.membership.T
            self.counts_ = np.array(found.counts)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row: that of the largest membership. The model is not changed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X = validated_rows_to_predict(self, X)
        to, labels = points(self._clusters.centre), np.empty(len(X), np.int64)
        for part in chunks(len(X), to.size):
            away = np.ascontiguousarray(distances(X[part], to).T)
            labels[part] = winners(memberships(away, self._clusters, self._alpha))
        return labels

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return len(self._clusters.centre)

    @property
    def n_nodes_(self) -> int:
        """Number of centres."""
        return self.n_clusters_

    @property
    def cluster_centers_(self) -> np.ndarray:
        """The centres."""
        return self._clusters.centre

    @property
    def widths_(self) -> np.ndarray:
        """Their widths."""
        return self._clusters.width

    @property
    def n_iter_(self) -> int:
        """Number of iterations of possibilistic c-means."""
        return len(self.counts_)


def _refuse_too_many(n_starts: int, n_samples: int, n_features: int) -> None:
    refuse_beyond_memory(
        8 * n_samples * (MATRICES * n_starts + 4 * n_features),
        f"The memberships of {n_samples} samples in {n_starts} clusters",
        "cluster fewer samples, or set n_dense_points lower",
    )
