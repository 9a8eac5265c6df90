"""Mixin of CAE and CAEA: prediction by CIM, and fitted attributes.

`state` is the State of either algorithm: both have nodes, a graph, and scalars with a mean bandwidth.
"""

from typing import Any

import numpy as np

from ...core.readout import number_clusters
from ...validation import validated_rows_to_predict
from ..graph.estimator import GraphMixin
from ..graph.graph import size_of
from .search import assign


def winners(state: Any, X: np.ndarray) -> np.ndarray:
    """Nearest node of each row by CIM with the mean bandwidth; 0 if there is no node."""
    winner, n_nodes = np.zeros(len(X), np.int64), size_of(state.graph).n_nodes
    if n_nodes:
        assign(state.nodes, n_nodes, X, state.scalars["mean_scale"][0], winner)
    return winner


def winners_first(component: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """Renumber the components: those that win samples come first."""
    wins = np.isin(component, component[winner]) if len(component) else component
    return number_clusters(component, np.argsort(~wins, kind="stable"))


class NodesMixin(GraphMixin):
    """A graph of nodes, each with a bandwidth. After `fit`, clusters that win samples come first."""

    _of_fit = ("labels_", "_numbers")

    def predict_nodes(self, X: Any) -> np.ndarray:
        """Nearest node of each row: a finer partition than the clusters. Does not change the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        nodes : ndarray of shape (n_samples,)
            Rows of `prototypes_`; 0 if there is no node.
        """
        return self._nearest(validated_rows_to_predict(self, X))

    def _number_after_fit(self, winner: np.ndarray) -> None:
        self._numbers = winners_first(self.node_labels_, winner)

    def _nearest(self, X: np.ndarray) -> np.ndarray:
        return winners(self._present(), X)

    def _nodes(self, name: str) -> np.ndarray:
        state = self._fitted()
        return getattr(state.nodes, name)[: size_of(state.graph).n_nodes].copy()

    @property
    def threshold_(self) -> float:
        """CIM above which a sample becomes a node; NaN before there is a threshold."""
        return self._fitted().scalars["threshold"][0].item()

    @property
    def prototypes_(self) -> np.ndarray:
        """Positions of the nodes, in order of creation."""
        return self._nodes("weight")

    @property
    def usage_(self) -> np.ndarray:
        """Number of samples that each node has won, its first one included."""
        return self._nodes("usage")

    @property
    def scales_(self) -> np.ndarray:
        """Bandwidth of each node."""
        return self._nodes("scale")

    @property
    def node_labels_(self) -> np.ndarray:
        """Cluster of each node."""
        return self._numbers.copy() if "_numbers" in self.__dict__ else super().node_labels_
