"""Mixin for estimators whose model is a graph of nodes: fit, predict and fitted attributes."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...validation import all_or_nothing, validated_rows, validated_rows_to_predict
from ..scaling import refuse_vanishing
from .components import components
from .graph import edges, size_of

FEATURES = ("n_features_in_", "feature_names_in_")


def _writable(state: Any) -> Any:
    """The state with copies of arrays that are read-only, such as those that joblib maps from a file."""
    if isinstance(state, np.ndarray):
        return state if state.flags.writeable else np.array(state)
    return type(state)(*map(_writable, state)) if isinstance(state, tuple) else state


class GraphMixin:
    """Estimators whose clusters are the connected components of a graph.

    A subclass has `_learn(X, first)`, which learns validated rows and sets `_state`, a tuple with a graph
    and scalars; and `_nearest(X)`, which returns the nearest node of each row.
    """

    _of_fit: ClassVar[tuple[str, ...]] = ("labels_",)  # attributes that the next learning call removes
    _learn: Any
    _nearest: Any
    _state: Any
    _validate_params: Any

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
        X = self._validate_and_learn(X, first=True)
        winner = self._nearest(X)
        self._number_after_fit(winner)
        self.labels_ = self._labels(winner)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn more rows, one or many.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next samples, in the order in which they arrive. If one of them is invalid, none is learnt.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_and_learn(X, first=not self.__sklearn_is_fitted__())
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of the nearest node of each row. Does not change the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._labels(self._nearest(validated_rows_to_predict(self, X)))

    def _validate_and_learn(self, X: Any, first: bool) -> np.ndarray:
        self._validate_params()
        with all_or_nothing(self, FEATURES):
            X = validated_rows(self, X, reset=first)
            if first and len(X) > 1:  # one row alone may be nearly 0 anywhere
                refuse_vanishing(X)
        for name in self._of_fit:
            self.__dict__.pop(name, None)
        if not first:
            self._state = _writable(self._state)
        self._learn(X, first)
        return X

    def _number_after_fit(self, winner: np.ndarray) -> None:
        """Hook of `fit`: a subclass may renumber its clusters by the winners of the samples."""

    def _labels(self, winner: np.ndarray) -> np.ndarray:
        return self.node_labels_[winner] if self.n_nodes_ else winner

    def _present(self) -> Any:
        """The current state."""
        return self._state

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self._present()

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        return int(size_of(self._fitted().graph).n_nodes)

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return int(components(self._fitted().graph)[1])

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt."""
        return int(self._fitted().scalars["n_seen"][0])

    @property
    def edges_(self) -> np.ndarray:
        """Pairs of nodes joined by an edge."""
        return edges(self._fitted().graph)[0]

    @property
    def node_labels_(self) -> np.ndarray:
        """Cluster of each node."""
        return components(self._fitted().graph)[0]
