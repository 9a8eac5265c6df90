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

    CAEA compares samples with nodes by the correntropy-induced metric (CIM). The first samples become nodes,
    and their mean distance to the nearest other node is the threshold. From then on, a sample farther away
    than the threshold becomes a node; any other sample moves the nearest node, and joins the nearest two by
    an edge if both are within the threshold. Edges that are not renewed are cut, and nodes without edges are
    deleted every `lambda_` samples. Connected components are the clusters. Features are used as they are:
    scale them first if their units are not comparable.

    Parameters
    ----------
    lambda_ : int >= 2, default=50
        Number of samples between two deletions of nodes without edges. Half of it, rounded up, is the number
        of first nodes, and the number of samples from which a node's bandwidth is estimated.
    a_max : int >= 0, default=10
        Age above which an edge is cut.
    cycle : {"global", "call"}, default="global"
        Count samples, and keep them for the bandwidth, from the start of the stream ("global") or from the
        latest call of `partial_fit` ("call"). With "global", the result does not depend on how a stream is
        cut into batches; the authors' program counts per call.
    reference_quirks : bool, default=False
        Do not round ``lambda_ / 2``. If `lambda_` is odd, the number of nodes never equals it, so there is
        never a threshold, and no further node and no edge is created. Many results published for CAEA are of
        this kind. The bandwidth of a single sample is computed across its features.

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
        Bandwidth of each node, and one more than the number of samples it has won.
    edges_ : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    node_labels_ : ndarray of shape (n_nodes_,)
        Cluster of each node. Clusters are numbered by their oldest nodes; after `fit`, clusters that win
        samples come first.
    threshold_ : float
        CIM above which a sample becomes a node; NaN before there is a threshold.
    n_samples_seen_, n_features_in_ : int
        Number of samples learnt, number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    Notes
    -----
    The authors' absolute constants make results depend on the scale of the data below about 1e-5.

    Parameters other than `cycle` take effect when learning begins. The scores that the IDAT paper
    (arXiv:2511.17983) reports for CAEA are those of the nearest nodes, not of the clusters: see
    `predict_nodes`.

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
