"""SOINN+: a self-organising network whose thresholds follow from its own statistics."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval

from ..graph.estimator import GraphMixin
from ..graph.prototypes import nearest, positions
from .soinn_plus_loop import learn
from .soinn_plus_state import Rules, State, new_state

NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class SOINNPlus(GraphMixin, ClusterMixin, BaseEstimator):
    """SOINN+: incremental clustering of noisy streams by a self-organising network, without tuning.

    A sample that is farther from its two nearest nodes than their neighbours are becomes a new node.
    Otherwise the nearest node moves towards it, and an edge joins the two nearest nodes. SOINN+ removes edges
    that are unusually old, and nodes without edges that have been idle for unusually long. Each connected
    component is a cluster; so is each node without edges.

    Features are used as they are: scale them first if their units are not comparable. No parameter needs
    tuning; the constants of the algorithm can still be changed.

    Parameters
    ----------
    link_factor : float >= 0, default=2
        The two winners are linked if the threshold of either, reduced by how often it has won, is below
        the mean of earlier links plus this many standard deviations.
    edge_factor : float >= 0, default=2
        An edge is old if its age is this many interquartile ranges above the upper quartile.
    node_factor : float >= 0, default=2
        A node without edges is idle if its idle time is this many (robust) standard deviations above the
        median of the nodes with edges.
    neighbour_divisor : float > 0, default=100
        The neighbours move this many times less than they would as the winner.
    reference_quirks : bool, default=True
        Count removed nodes as the authors' program does: it adds the index of a node that lost its last
        edge, instead of 1, to the count. The published results depend on it.

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
    >>> from everclust.baselines import SOINNPlus
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

    def _learn(self, X: np.ndarray, first: bool) -> None:
        self._state = learn(new_state(X.shape[1]) if first else self._state, X, self._rules())

    def _rules(self) -> Rules:
        return Rules(
            link_factor=float(self.link_factor),
            edge_factor=float(self.edge_factor),
            node_factor=float(self.node_factor),
            neighbour_divisor=float(self.neighbour_divisor),
            sums_indices=bool(self.reference_quirks),
        )

    def _nearest(self, X: np.ndarray) -> np.ndarray:
        return nearest(self._state.blocks, self.n_nodes_, X)

    @property
    def prototypes_(self) -> np.ndarray:
        """Positions of the nodes, in order of creation."""
        return positions(self._fitted().blocks, self.n_nodes_)

    @property
    def usage_(self) -> np.ndarray:
        """How many samples each node has won, its first one included."""
        return self._fitted().node["wins"][: self.n_nodes_].copy()
