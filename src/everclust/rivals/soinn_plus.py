"""SOINN+: a self-organising network that takes its limits from statistics of itself."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .graph import components, edges, size_of
from .prototypes import nearest, positions
from .soinn_plus_loop import learn
from .soinn_plus_state import Rules, State, new_state
from .streaming import rows_to_learn, rows_to_predict

NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class SOINNPlus(ClusterMixin, BaseEstimator):
    """SOINN+: incremental clustering of noisy streams by a self-organising network, without tuning.

    A sample that is farther from its two nearest nodes than their neighbours are becomes a node of its own.
    Otherwise the nearest node moves towards it, and an edge joins the two. Edges that were not confirmed for
    longer than others, and nodes without edges that have been idle for longer than others, are removed. Each
    connected component is a cluster; so is each node without edges.

    Features are used as they are: scale them first if their units are not comparable. There is nothing to
    tune; the constants of the algorithm can be changed all the same.

    Parameters
    ----------
    link_factor : float >= 0, default=2
        Standard deviations that the reach of winners may be above its mean when they are linked.
    edge_factor : float >= 0, default=2
        Interquartile ranges that the age of an edge may be above the upper quartile.
    node_factor : float >= 0, default=2
        Deviations that the idleness of a node without edges may be above the others' median.
    neighbour_divisor : float > 0, default=100
        How much less than the winner its neighbours move.
    reference_quirks : bool, default=True
        Remember nodes that were cut off as the authors' program does, which adds their numbers, not one for
        each, to the count of removed nodes. The published results depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample, after `fit` only.
    n_clusters_, n_nodes_ : int
        Number of clusters and of nodes.
    prototypes_ : ndarray of shape (n_nodes_, n_features_in_)
        Positions of the nodes, in order of creation.
    usage_ : ndarray of shape (n_nodes_,)
        How many samples each node has won, its first one included.
    edges_ : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    node_labels_ : ndarray of shape (n_nodes_,)
        Cluster of each node. Clusters are numbered by their oldest nodes.
    n_samples_seen_, n_features_in_ : int
        Number of samples learnt, number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    C. Wiwatcharakoses, D. Berrar: SOINN+, a self-organizing incremental neural network for unsupervised
    learning from noisy data streams. Expert Systems with Applications 143 (2020) 113069.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.rivals import SOINNPlus
    >>> X = load_iris().data
    >>> model = SOINNPlus().fit(X)
    >>> model.n_nodes_, model.n_clusters_
    (45, 26)
    >>> model.partial_fit(X).n_samples_seen_
    300
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "link_factor": [NOT_NEGATIVE],
        "edge_factor": [NOT_NEGATIVE],
        "node_factor": [NOT_NEGATIVE],
        "neighbour_divisor": [Interval(Real, 0, None, closed="neither")],
        "reference_quirks": ["boolean"],
    }
    _state: State

    def __init__(
        self,
        *,
        link_factor: float = 2,
        edge_factor: float = 2,
        node_factor: float = 2,
        neighbour_divisor: float = 100,
        reference_quirks: bool = True,
    ) -> None:
        self.link_factor = link_factor
        self.edge_factor = edge_factor
        self.node_factor = node_factor
        self.neighbour_divisor = neighbour_divisor
        self.reference_quirks = reference_quirks

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and learn X, row by row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, in the order in which they arrive.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        X = rows_to_learn(self, X, reset=True)
        self._state = learn(new_state(X.shape[1]), X, self._rules())
        self.labels_ = self._labels(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on learning, with one row or many.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next samples, in the order in which they arrive. All of them are learnt, or, when there
            is something wrong with one, none.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        is_new = not self.__sklearn_is_fitted__()
        X = rows_to_learn(self, X, reset=is_new)
        self.__dict__.pop("labels_", None)
        self._state = learn(new_state(X.shape[1]) if is_new else self._state, X, self._rules())
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row: that of the nearest node. The model is not changed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._labels(rows_to_predict(self, X))

    def _rules(self) -> Rules:
        return Rules(
            link_factor=float(self.link_factor),
            edge_factor=float(self.edge_factor),
            node_factor=float(self.node_factor),
            neighbour_divisor=float(self.neighbour_divisor),
            sums_indices=bool(self.reference_quirks),
        )

    def _labels(self, X: np.ndarray) -> np.ndarray:
        return self.node_labels_[nearest(self._state.blocks, self.n_nodes_, X)]

    def _fitted(self) -> State:
        check_is_fitted(self)
        return self._state

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        return int(size_of(self._fitted().graph).n_nodes)

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return components(self._fitted().graph)[1]

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt."""
        return int(self._fitted().clock["n_seen"][0])

    @property
    def prototypes_(self) -> np.ndarray:
        """Positions of the nodes, in order of creation."""
        return positions(self._fitted().blocks, self.n_nodes_)

    @property
    def usage_(self) -> np.ndarray:
        """How many samples each node has won, its first one included."""
        return self._fitted().node["wins"][: self.n_nodes_].copy()

    @property
    def edges_(self) -> np.ndarray:
        """Pairs of nodes joined by an edge."""
        return edges(self._fitted().graph)[0]

    @property
    def node_labels_(self) -> np.ndarray:
        """Cluster of each node."""
        return components(self._fitted().graph)[0]
