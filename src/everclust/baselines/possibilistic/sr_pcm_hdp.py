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
from ..scaling import refuse_vanishing
from .c_means import Clusters, Pull, eliminate, fuzzy_c_means, memberships, winners
from .density_peaks import dense_points

STARTS = 3  # initial centres per dense point
MATRICES = 5  # matrices of centres × samples in memory at a time, at most


class SRPCMHDP(ClusterMixin, BaseEstimator):
    """Self-regulating possibilistic c-means with high-density points.

    Possibilistic c-means that starts with too many centres, three per high-density point, placed by fuzzy
    c-means. The high-density points attract the centres, each cluster adapts its width to its core, and
    clusters that win no sample are dropped. Features are used as they are. Needs all samples at once. In high
    dimension, fuzzy c-means puts all centres into the mean of the data, and one cluster is left.

    Parameters
    ----------
    n_dense_points : int, default=3
        Number of high-density points: the samples with the largest product of density and distance to the
        nearest denser sample. The IDAT paper sets it to the number of classes.
    alpha : float, default=1.0
        How fast membership decays with distance. The IDAT paper calls it beta.
    lamda : float, default=0.5
        How strongly the high-density points attract. The IDAT paper calls it theta.
    reference_quirks : bool, default=True
        When fuzzy c-means starts, each centre is a sample. The authors' program then gives each of these
        samples membership 1 in all centres. False gives it membership 1 in its own centre only.
    random_state : int, RandomState instance or None, default=None
        Draws the samples that are the first centres.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample: the one with the largest membership.
    n_clusters_, n_nodes_ : int
        Number of clusters. Each has one centre.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features_in_)
        Centres for which the memberships were last computed.
    widths_ : ndarray of shape (n_clusters_,)
        Widths of the clusters.
    memberships_ : ndarray of shape (n_samples, n_clusters_)
        Memberships, from 0 to 1; rows need not sum to 1.
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
    (2025). This implementation follows the authors' program, windflowerHu/SRPCMHDP.

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
    _alpha: float  # alpha at the time of fit

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
            If the memberships do not fit into the available memory. Nothing has been allocated then.
        """
        self._validate_params()
        with all_or_nothing(self):
            X = validated_rows(self, X, reset=True)
            refuse_vanishing(X)
            n_starts = min(STARTS * self.n_dense_points, len(X))
            _refuse_too_many(n_starts, *X.shape)
            self.dense_points_ = dense_points(X, self.n_dense_points)
            first = check_random_state(self.random_state).choice(len(X), n_starts, replace=False)
            with threadpool_limits(1, "blas"):  # the products are too small for several threads to help
                start = fuzzy_c_means(X, X[first], self.reference_quirks)
                found = eliminate(X, start, Pull(X[self.dense_points_], self.lamda), self.alpha)
            self._clusters, self._alpha = found.clusters, self.alpha
            self.labels_, self.memberships_ = found.winner, found.membership.T
            self.counts_ = np.array(found.counts)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row: the one with the largest membership. Does not change the model.

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
        """Widths of the clusters."""
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
