"""What a model of nodes compared by CIM tells the world: nodes to clusters, samples to clusters.

`state` is the State of either algorithm: both have nodes, a graph and a clock with a mean bandwidth.
"""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.clusters import number_clusters
from .cim_search import assign
from .graph import components, edges, size_of
from .streaming import rows_to_learn, rows_to_predict


def winners(state: Any, X: np.ndarray) -> np.ndarray:
    """Nearest node of every row by CIM with the mean bandwidth; 0 when there is no node."""
    winner, n_nodes = np.zeros(len(X), np.int64), size_of(state.graph).n_nodes
    if n_nodes:
        assign(state.nodes, n_nodes, X, state.clock["mean_scale"][0], winner)
    return winner


def winners_first(component: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """The components numbered anew: those that win samples before the others."""
    wins = np.isin(component, component[winner]) if len(component) else component
    return number_clusters(component, np.argsort(~wins, kind="stable"))


class NodesMixin:
    """Learning in scikit-learn's manner, and what was learnt.

    An estimator with it has `_learn(X, first)`, which learns rows that have been checked, and `_present()`,
    which is the state as it is now; it says itself when it is fitted.
    """

    _learn: Any
    _present: Any
    _validate_params: Any
    __sklearn_is_fitted__: Any

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
        X = self._take_in(X, first=True)
        winner = winners(self._present(), X)
        self._numbers = winners_first(self.node_labels_, winner)
        self.labels_ = self._labels(winner)
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
        self._take_in(X, first=not self.__sklearn_is_fitted__())
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
        return self._labels(self.predict_nodes(X))

    def predict_nodes(self, X: Any) -> np.ndarray:
        """Nearest node of each row: a finer partition than the clusters. The model is not changed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        nodes : ndarray of shape (n_samples,)
            Rows of `prototypes_`; 0 when there is no node.
        """
        X = rows_to_predict(self, X)
        return winners(self._present(), X)

    def _take_in(self, X: Any, first: bool) -> np.ndarray:
        self._validate_params()
        X = rows_to_learn(self, X, reset=first)
        for name in ("labels_", "_numbers"):
            self.__dict__.pop(name, None)
        self._learn(X, first)
        return X

    def _labels(self, winner: np.ndarray) -> np.ndarray:
        return self.node_labels_[winner] if self.n_nodes_ else winner

    def _nodes(self, name: str) -> np.ndarray:
        check_is_fitted(self)
        state = self._present()
        return getattr(state.nodes, name)[: size_of(state.graph).n_nodes].copy()

    def _scalar(self, name: str) -> Any:
        check_is_fitted(self)
        return self._present().clock[name][0].item()

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        return len(self._nodes("usage"))

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        check_is_fitted(self)
        return int(components(self._present().graph)[1])

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt."""
        return self._scalar("n_seen")

    @property
    def threshold_(self) -> float:
        """CIM beyond which a sample becomes a node; NaN while there is no such threshold."""
        return self._scalar("threshold")

    @property
    def prototypes_(self) -> np.ndarray:
        """Positions of the nodes, in order of creation."""
        return self._nodes("weight")

    @property
    def usage_(self) -> np.ndarray:
        """Number of samples that made or moved each node as the nearest."""
        return self._nodes("usage")

    @property
    def scales_(self) -> np.ndarray:
        """Bandwidth of each node."""
        return self._nodes("scale")

    @property
    def edges_(self) -> np.ndarray:
        """Pairs of nodes joined by an edge."""
        check_is_fitted(self)
        return edges(self._present().graph)[0]

    @property
    def node_labels_(self) -> np.ndarray:
        """Cluster of each node."""
        check_is_fitted(self)
        if "_numbers" in self.__dict__:
            return self._numbers.copy()
        return components(self._present().graph)[0]
