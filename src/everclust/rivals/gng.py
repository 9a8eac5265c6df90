"""GNG: a graph of prototypes that grows where the error is largest."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .gng_loop import Rules, State, learn, new_state, start_from
from .graph import components, edges, size_of
from .prototypes import nearest, positions
from .streaming import rows_to_learn, rows_to_predict

UNLIMITED = 2**62


class GNG(ClusterMixin, BaseEstimator):
    """Growing Neural Gas: incremental clustering by a graph that learns the topology of the data.

    Every sample draws the nearest node and its neighbours closer and joins the two nearest nodes by an edge.
    Edges that are not confirmed grow old and are removed. Every `lambda_` samples a node is inserted where
    the accumulated error is largest. Each connected component is a cluster.

    Features are used as they are: scale them first if their units are not comparable. The defaults are
    Fritzke's own and need thousands of samples to be useful.

    Parameters
    ----------
    eps_b, eps_n : float in [0, 1], default=0.2, 0.006
        By which part of the way the nearest node and its neighbours move towards a sample.
    a_max : int >= 0, default=50
        Age beyond which an edge is removed: how often one of its ends won without confirming it.
    lambda_ : int >= 1, default=100
        A node is inserted every so many samples.
    alpha : float in [0, 1], default=0.5
        What is left of the errors of the two nodes between which a node is inserted.
    delta : float in (0, 1], default=0.995
        What is left of all errors from one sample to the next.
    max_nodes : int >= 2 or None, default=2000
        Number of nodes from which on none is inserted; None for no limit.
    init : {"first", "random"}, default="first"
        Where the two first nodes stand: at the first two samples, or at two points drawn evenly from the box
        around the first batch.
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
    >>> from everclust.rivals import GNG
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
        self._state = learn(self._begin(X), X, self._rules())
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
        self._state = learn(self._begin(X) if is_new else self._state, X, self._rules())
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
        """Number of samples learnt; a single one waits as a node until there is a second."""
        return int(self._fitted().clock["n_seen"][0]) or 1

    @property
    def prototypes_(self) -> np.ndarray:
        """Positions of the nodes, in order of creation."""
        return positions(self._fitted().blocks, self.n_nodes_)

    @property
    def edges_(self) -> np.ndarray:
        """Pairs of nodes joined by an edge."""
        return edges(self._fitted().graph)[0]

    @property
    def node_labels_(self) -> np.ndarray:
        """Cluster of each node."""
        return components(self._fitted().graph)[0]
