"""What the estimators share: validation and scikit-learn's conventions. Nothing numerical."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import estimator_html_repr

from ..callbacks import CallbackSupportMixin, reported, with_callbacks
from ..model.distances import distances
from ..model.summary import summary_html
from ..validation import (
    as_table,
    needs_no_validation,
    refuse_arguments,
    validated_rows,
    validated_rows_to_predict,
)
from .clusterer import Clusterer, without_listeners


class IncrementalClusterer(
    Clusterer,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """A clusterer that is a scikit-learn estimator."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, **unsupported: Any) -> Self:
        """Forget everything and learn X, row by row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a list of dicts
            Samples, in the order in which they arrive.
        y : ignored
        **unsupported : refused
            There are no sample weights: every sample counts once.

        Returns
        -------
        self
        """
        if unsupported:
            refuse_arguments("fit", unsupported)
        self._fit(X, first=True)
        self.__dict__.pop("_times", None)
        return self

    def partial_fit(self, X: Any, y: Any = None, **unsupported: Any) -> Self:
        """Learn more samples, one row or many.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a list of dicts
            The next samples, in the order in which they arrive. If one of them is invalid, none is learnt.
        y : ignored
        **unsupported : refused
            There are no sample weights: every sample counts once.

        Returns
        -------
        self
        """
        if unsupported:
            refuse_arguments("partial_fit", unsupported)
        if not (self.__sklearn_is_fitted__() and needs_no_validation(self, X, 2)):
            return self._fit(X, first=False)
        events = self._learn(X)  # the same as _fit, in less time: samples may come one by one
        self._remember(X)
        if events:
            self._notify(events)
        return self

    def learn_one(self, x: Any) -> Self:
        """Learn one sample given as a one-dimensional row.

        Parameters
        ----------
        x : array-like of shape (n_features,), dict or pandas.Series
            A dict or a Series names its features.

        Returns
        -------
        self
        """
        if self.__sklearn_is_fitted__() and needs_no_validation(self, x, 1):
            self._notify(self._learn(x[np.newaxis]))
            return self
        return self._fit(as_table(x), first=False)

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row. The model does not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._predict_rows(validated_rows_to_predict(self, X, as_is=True))

    def score_samples(self, X: Any) -> np.ndarray:
        """Similarity of each row to what was learnt, in (0, 1]; low means novel.

        It is 1 / (1 + d/σ) for the nearest node, where a node far from the bulk of the samples counts as that
        far away. It does not depend on the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        similarity : ndarray of shape (n_samples,)

        Examples
        --------
        >>> import numpy as np
        >>> from everclust import EverClust
        >>> model = EverClust().fit(np.random.default_rng(0).normal(size=(500, 2)))
        >>> model.score_samples([[0, 0], [9, 9]]).round(2)
        array([0.71, 0.09])
        """
        return self._score_rows(validated_rows_to_predict(self, X, as_is=True))

    def predict_novel(self, X: Any) -> np.ndarray:
        """Whether each row would found a new node if it were learnt next, by the model's own vigilance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        is_novel : ndarray of shape (n_samples,) of bool

        Examples
        --------
        >>> import numpy as np
        >>> from everclust import EverClust
        >>> model = EverClust().fit(np.random.default_rng(0).normal(size=(500, 2)))
        >>> model.predict_novel([[0, 0], [9, 9]])
        array([False,  True])
        """
        return self._novel_rows(validated_rows_to_predict(self, X, as_is=True))

    def transform(self, X: Any) -> np.ndarray:
        """Distance of each row to each cluster: to the nearest of the cluster's nodes, in the model's metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters_)
            A column per cluster, in the order of `cluster_ids_`.
        """
        return distances(self.snapshot(), validated_rows_to_predict(self, X, as_is=True))

    def _validated(self, X: Any, reset: bool, is_valid: bool) -> np.ndarray:
        if is_valid:
            return super()._validated(X, reset, is_valid)
        return validated_rows(self, X, reset=reset, as_is=True)

    def _parts(self, X: np.ndarray, step: int | None) -> Iterable[np.ndarray]:
        return reported(self, X, step)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def __getstate__(self) -> dict[str, Any]:
        return without_listeners(super().__getstate__())

    # In notebooks

    def _repr_html_(self) -> str:
        """scikit-learn's diagram, and a table of the clusters once the model has learnt."""
        diagram: str = estimator_html_repr(self)
        if not self.__sklearn_is_fitted__():
            return diagram
        return diagram + summary_html(self._title, self.snapshot(), self._names())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What notebooks ask for first; scikit-learn's own would not show the clusters."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
