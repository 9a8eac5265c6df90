"""CAE as a scikit-learn estimator: validation and fitted attributes, nothing numerical."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions

from .cae_loop import learn
from .cae_state import UNKNOWN, Rule, State, new_state
from .estimator import NodesMixin


class CAE(NodesMixin, ClusterMixin, BaseEstimator):
    """CIM-based ART with Edge: incremental clustering without a parameter to tune.

    CAE compares samples with nodes by the correntropy-induced metric (CIM). Samples become nodes until the
    determinant of the nodes' similarity matrix vanishes: the nodes are then no longer diverse, and their mean
    distance to the nearest other node is the threshold. From then on, a sample farther away than that becomes
    a node; any other sample moves the nearest node, and joins the nearest two by an edge if both are within
    the threshold. Unusually old edges are cut, and nodes without edges are deleted at intervals. Connected
    components are the clusters. Features are used as they are: scale them first if their units are not
    comparable.

    On a small data set there may never be a threshold; then every sample is a cluster.

    Parameters
    ----------
    task_size : int or None, default=None
        Number of samples of the whole task, if known: an upper bound of the number of nodes before there is a
        threshold. The authors' program needs it.
    max_nodes : int or None, default=2000
        Largest number of nodes; None for no limit. Until there is a threshold, memory grows with the square
        of the number of nodes.
    cycle : {"global", "call"}, default="global"
        Count samples from the start of the stream ("global") or from the latest call of `partial_fit`
        ("call"). With "global", the result does not depend on how a stream is cut into batches; the authors'
        program counts per call.
    n_init : int, default=10
        Number of samples from which the first bandwidth is estimated.
    det_threshold : float, default=1e-6
        Determinant below which the nodes are no longer diverse.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample, after `fit` only.
    n_clusters_, n_nodes_ : int
        Number of clusters and of nodes. Both are 0 if all nodes were deleted; then every sample is in
        cluster 0.
    prototypes_ : ndarray of shape (n_nodes_, n_features_in_)
        Positions of the nodes, in order of creation.
    scales_, usage_ : ndarray of shape (n_nodes_,)
        Bandwidth of each node, and the number of samples that it won, its first one included.
    edges_ : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    node_labels_ : ndarray of shape (n_nodes_,)
        Cluster of each node. Clusters are numbered by their oldest nodes; after `fit`, clusters that win
        samples come first.
    threshold_ : float
        CIM above which a sample becomes a node; NaN before there is a threshold.
    n_active_ : int or None
        Number of nodes that are created before there is a threshold, and again after deletions; None before
        it is known.
    n_samples_seen_, n_features_in_ : int
        Number of samples learnt, number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    N. Masuyama, T. Takebayashi, Y. Nojima, C. K. Loo, H. Ishibuchi, S. Wermter: A parameter-free adaptive
    resonance theory-based topological clustering algorithm capable of continual learning. Neural Computing
    and Applications 38:217 (2026); arXiv:2305.01507.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import CAE
    >>> X = load_iris().data[np.random.RandomState(0).permutation(150)]
    >>> model = CAE().fit(X)
    >>> model.n_active_, model.n_nodes_, model.n_clusters_
    (63, 54, 31)
    >>> model.partial_fit(X[:10]).n_samples_seen_
    160
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "task_size": [Interval(Integral, 1, UNKNOWN, closed="left"), None],
        "max_nodes": [Interval(Integral, 1, None, closed="left"), None],
        "cycle": [StrOptions({"global", "call"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "det_threshold": [Interval(Real, 0, None, closed="left")],
    }
    _early: np.ndarray  # samples kept until the first bandwidth can be estimated
    _state: State | None  # None until then

    def __init__(
        self,
        *,
        task_size: int | None = None,
        max_nodes: int | None = 2000,
        cycle: str = "global",
        n_init: int = 10,
        det_threshold: float = 1e-6,
    ) -> None:
        self.task_size = task_size
        self.max_nodes = max_nodes
        self.cycle = cycle
        self.n_init = n_init
        self.det_threshold = det_threshold

    def _learn(self, X: np.ndarray, first: bool) -> None:
        if first:
            self._early, self._state = np.empty((0, X.shape[1])), None
        if self._state is None:
            if len(self._early):
                X = np.concatenate([self._early, X])
            if len(X) < self.n_init and self.cycle == "global":
                self._early = X.copy()
                return
            self._state, self._early = self._begun(X), self._early[:0]
        if self.cycle == "call":
            self._state.scalars["n_cycle"] = 0
        for state in learn(self._state, X, self._rule()):
            self._state = state

    def _begun(self, X: np.ndarray) -> State:
        """An empty model with the first bandwidth."""
        return new_state(X[: self.n_init], None if self.task_size is None else int(self.task_size))

    def _rule(self) -> Rule:
        return Rule(
            max_nodes=UNKNOWN if self.max_nodes is None else int(self.max_nodes),
            log_floor=math.log(self.det_threshold) if self.det_threshold > 0 else -math.inf,
        )

    def _present(self) -> State:
        """The current model; if samples still wait for the bandwidth, a copy that has learnt them."""
        if self._state is not None:
            return self._state
        *_, state = learn(self._begun(self._early), self._early, self._rule())
        return state

    @property
    def n_active_(self) -> int | None:
        """Number of nodes that are created before there is a threshold; None before it is known."""
        scalars = self._fitted().scalars[0]
        return scalars["n_active"].item() if scalars["ready"] else None
