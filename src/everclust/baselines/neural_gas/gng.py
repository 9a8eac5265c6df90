"""GNG: a graph of prototypes that inserts nodes where the error is largest."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from ..graph.estimator import GraphMixin
from ..graph.prototypes import nearest, positions
from .gng_loop import Rules, State, learn, new_state, start_from

UNLIMITED = 2**62


class GNG(GraphMixin, ClusterMixin, BaseEstimator):
    """Growing Neural Gas: incremental clustering by a graph that learns the topology of the data.

    Each sample moves the nearest node and its neighbours closer and joins the two nearest nodes by an edge.
    Edges that are not confirmed age and are removed. Every `lambda_` samples, GNG inserts a node where the
    accumulated error is largest. Each connected component is a cluster.

    Features are used as they are: scale them first if their units are not comparable. **The defaults are
    Fritzke's own, which learn one topology: on the IDAT paper's data sets they leave a single cluster, even
    after 20,000 samples.** To separate clusters, let edges age faster (`a_max` of 1 to 10) and insert nodes
    more often (`lambda_` below 50), or tune them: `everclust.baselines.parameters` has values.

    Parameters
    ----------
    eps_b, eps_n : float in [0, 1], default=0.2, 0.006
        Learning rates: the fraction of the way that the nearest node and its neighbours move to a sample.
    a_max : int >= 0, default=50
        Age beyond which an edge is removed: how often one of its ends won without confirming it.
    lambda_ : int >= 1, default=100
        Number of samples between two insertions.
    alpha : float in [0, 1], default=0.5
        Factor on the errors of the two nodes between which a node is inserted.
    delta : float in (0, 1], default=0.995
        Factor on all errors after each sample.
    max_nodes : int >= 2 or None, default=2000
        Largest number of nodes; None for no limit.
    init : {"first", "random"}, default="first"
        Positions of the first two nodes: the first two samples, or two points drawn uniformly from the
        bounding box of the first batch.
    random_state : int, RandomState instance or None, default=None
        For ``init="random"``; nothing else is random.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample, after `fit` only.
    n_clusters_, n_nodes_ : int
        Number of clusters and of nodes.
    prototypes_ : ndarray of shape (n_nodes_, n_features_in_)
        Positions of the nodes, in order of creation.
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
    B. Fritzke: A growing neural gas network learns topologies. Advances in Neural Information Processing
    Systems 7 (1995) 625–632.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import GNG
    >>> X = load_iris().data
    >>> model = GNG(lambda_=3, a_max=2, eps_n=0.02).fit(X)
    >>> model.n_nodes_, model.n_clusters_
    (51, 5)
    >>> model.partial_fit(X).n_samples_seen_
    300
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "eps_b": [Interval(Real, 0, 1, closed="both")],
        "eps_n": [Interval(Real, 0, 1, closed="both")],
        "a_max": [Interval(Integral, 0, None, closed="left")],
        "lambda_": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "delta": [Interval(Real, 0, 1, closed="right")],
        "max_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "init": [StrOptions({"first", "random"})],
        "random_state": ["random_state"],
    }
    _state: State

    def __init__(
        self,
        *,
        eps_b: float = 0.2,
        eps_n: float = 0.006,
        a_max: int = 50,
        lambda_: int = 100,
        alpha: float = 0.5,
        delta: float = 0.995,
        max_nodes: int | None = 2000,
        init: str = "first",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.eps_b = eps_b
        self.eps_n = eps_n
        self.a_max = a_max
        self.lambda_ = lambda_
        self.alpha = alpha
        self.delta = delta
        self.max_nodes = max_nodes
        self.init = init
        self.random_state = random_state

    def _learn(self, X: np.ndarray, first: bool) -> None:
        self._state = learn(self._begin(X) if first else self._state, X, self._rules())

    def _begin(self, X: np.ndarray) -> State:
        state = new_state(X.shape[1])
        if self.init == "random":
            random = check_random_state(self.random_state)
            start_from(state, random.uniform(X.min(axis=0), X.max(axis=0), (2, X.shape[1])))
        return state

    def _rules(self) -> Rules:
        return Rules(
            eps_b=float(self.eps_b),
            eps_n=float(self.eps_n),
            a_max=int(self.a_max),
            interval=int(self.lambda_),
            alpha=float(self.alpha),
            delta=float(self.delta),
            max_nodes=UNLIMITED if self.max_nodes is None else int(self.max_nodes),
        )

    def _nearest(self, X: np.ndarray) -> np.ndarray:
        return nearest(self._state.blocks, self.n_nodes_, X)

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt, including a first one that waits for the second."""
        return super().n_samples_seen_ or 1

    @property
    def prototypes_(self) -> np.ndarray:
        """Positions of the nodes, in order of creation."""
        return positions(self._fitted().blocks, self.n_nodes_)
