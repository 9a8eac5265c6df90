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

    Nodes are compared with samples by the correntropy-induced metric (CIM). Samples become nodes until the
    determinant of the nodes' similarities vanishes, which shows that they are no longer diverse; how close
    they are then is the threshold. From then on a sample beyond it becomes a node, another one moves the
    nearest node, and joins the nearest two with an edge if both are within the threshold. Edges of unusual
    age are cut, and now and then nodes without an edge are deleted. Connected components are the clusters.
    Features are used as they are: scale them first if their units are not comparable.

    Small data may end before the nodes are no longer diverse. Then every sample is a cluster.

    Parameters
    ----------
    task_size : int or None, default=None
        Number of samples of the whole task, if that is known: with so many nodes the search for their number
        ends in any case. The authors' program is given it.
    max_nodes : int or None, default=2000
        Number of nodes after which no sample becomes one any more, or None for no limit. The search for the
        number of nodes takes memory in proportion to its square.
    cycle : {"global", "call"}, default="global"
        Whether samples are counted from the beginning or from the latest call of `partial_fit`. With
        "global" it makes no difference how a stream is cut into batches; the authors' program counts
        by calls.
    n_init : int, default=10
        Number of samples that the first bandwidth is taken from.
    det_threshold : float, default=1e-6
        Determinant below which nodes are no longer diverse.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample, after `fit` only.
    n_clusters_, n_nodes_ : int
        Number of clusters and of nodes. Both may be 0, as all nodes can be deleted at once; then every
        sample is in cluster 0.
    prototypes_ : ndarray of shape (n_nodes_, n_features_in_)
        Positions of the nodes, in order of creation.
    scales_, usage_ : ndarray of shape (n_nodes_,)
        Bandwidth of each node, and the number of samples that made or moved it as the nearest.
    edges_ : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    node_labels_ : ndarray of shape (n_nodes_,)
        Cluster of each node. Clusters are numbered by their oldest nodes; after `fit`, those that win samples
        come first.
    threshold_ : float
        CIM beyond which a sample becomes a node; NaN while there is no such threshold.
    n_active_ : int or None
        Number of nodes that are made before there is a threshold, and made again after deletions; None
        while it is not known.
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
    _early: np.ndarray  # samples that wait for the first bandwidth
    _state: State | None  # there is none before

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
        """A model that knows the first bandwidth."""
        return new_state(X[: self.n_init], None if self.task_size is None else int(self.task_size))

    def _rule(self) -> Rule:
        return Rule(
            max_nodes=UNKNOWN if self.max_nodes is None else int(self.max_nodes),
            log_floor=math.log(self.det_threshold) if self.det_threshold > 0 else -math.inf,
        )

    def _present(self) -> State:
        """The model as if the stream ended here: samples that still wait are learnt by a copy."""
        if self._state is not None:
            return self._state
        *_, state = learn(self._begun(self._early), self._early, self._rule())
        return state

    @property
    def n_active_(self) -> int | None:
        """Number of nodes that are made before there is a threshold; None while it is not known."""
        scalars = self._fitted().scalars[0]
        return scalars["n_active"].item() if scalars["ready"] else None
