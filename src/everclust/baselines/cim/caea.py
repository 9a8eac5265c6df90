"""CAEA as a scikit-learn estimator: validation and fitted attributes, nothing numerical."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions

from .caea_loop import Rule, State, learn, make_rule, new_state
from .estimator import NodesMixin


class CAEA(NodesMixin, ClusterMixin, BaseEstimator):
    """CIM-based ART with Edge and Age: incremental clustering with a threshold estimated from a buffer.

    Nodes are compared with samples by the correntropy-induced metric (CIM). The first samples become nodes;
    how close these are to each other is the threshold from then on. A sample beyond it becomes a node,
    another one moves the nearest node, and joins the nearest two with an edge if both are within the
    threshold. Edges that are not renewed are cut, and now and then nodes without an edge are deleted.
    Connected components are the clusters. Features are used as they are: scale them first if their units
    are not comparable.

    Parameters
    ----------
    lambda_ : int >= 2, default=50
        Nodes without an edge are deleted every `lambda_` samples. Half of it, rounded up, is the number of
        nodes in the buffer, and of the samples that a node's bandwidth is taken from.
    a_max : int >= 0, default=10
        Age beyond which an edge is cut.
    cycle : {"global", "call"}, default="global"
        Whether samples are counted, and remembered for the bandwidth, from the beginning or from the latest
        call of `partial_fit`. With "global" it makes no difference how a stream is cut into batches; the
        authors' program counts by calls.
    reference_quirks : bool, default=False
        Take ``lambda_ / 2`` as it is. If `lambda_` is odd, no number of nodes equals it, so that there is
        never a threshold: no further node and no edge is made. Many results published for CAEA are of this
        kind. The bandwidth of a single sample is taken across its features.

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
        Bandwidth of each node, and one more than the number of samples it has won.
    edges_ : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    node_labels_ : ndarray of shape (n_nodes_,)
        Cluster of each node. Clusters are numbered by their oldest nodes; after `fit`, those that win samples
        come first.
    threshold_ : float
        CIM beyond which a sample becomes a node; NaN while there is no such threshold.
    n_samples_seen_, n_features_in_ : int
        Number of samples learnt, number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    Notes
    -----
    Parameters other than `cycle` are read when learning begins. The scores published for CAEA by the authors
    of IDAT (arXiv:2511.17983) are those of the nearest nodes, not of the clusters: see `predict_nodes`.

    References
    ----------
    N. Masuyama, N. Amako, Y. Yamada, Y. Nojima, H. Ishibuchi: Adaptive resonance theory-based clustering
    with a divisive hierarchical structure capable of continual learning. IEEE Access 10 (2022).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import CAEA
    >>> X = load_iris().data
    >>> model = CAEA(lambda_=18).fit(X)
    >>> model.n_nodes_, model.n_clusters_
    (16, 10)
    >>> model.partial_fit(X[:10]).n_samples_seen_
    160
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "lambda_": [Interval(Integral, 2, None, closed="left")],
        "a_max": [Interval(Integral, 0, None, closed="left")],
        "cycle": [StrOptions({"global", "call"})],
        "reference_quirks": ["boolean"],
    }
    _rule: Rule
    _state: State

    def __init__(
        self,
        *,
        lambda_: int = 50,
        a_max: int = 10,
        cycle: str = "global",
        reference_quirks: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.a_max = a_max
        self.cycle = cycle
        self.reference_quirks = reference_quirks

    def _learn(self, X: np.ndarray, first: bool) -> None:
        if first:
            self._rule = make_rule(int(self.lambda_), int(self.a_max), bool(self.reference_quirks))
            self._state = new_state(X.shape[1], self._rule)
        if self.cycle == "call":
            self._state.scalars["n_cycle"] = 0
        for state in learn(self._state, X, self._rule):
            self._state = state
