"""DDVFA: a Fuzzy ART whose nodes are Fuzzy ARTs, with a vigilance for clusters and one for categories."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ...validation import all_or_nothing, validated_rows, validated_rows_to_predict
from ..scaling import Bounds, given_bounds, observed_bounds, rescale
from .ddvfa_model import UNLIMITED, Model, Rules, grow, new_model, sizes_of
from .dual_vigilance import assign, learn
from .fuzzy_art import complement_code
from .linkage import LINKAGES

AT_ONCE = 2**20  # values that are complement-coded at a time


class DDVFA(ClusterMixin, BaseEstimator):
    """Distributed dual vigilance fuzzy ART: incremental clustering into clusters of any shape.

    Each cluster is a Fuzzy ART: a group of boxes ("categories"). A sample goes to the cluster with the
    largest choice among those whose match passes the lower vigilance, or to a new cluster. In that cluster,
    the best category that passes the upper vigilance grows to contain the sample, or a new category is added.

    Features are scaled to [0, 1] by bounds that are fixed before the first sample is learnt. By default they
    are those of the first batch; later values outside are clipped. **A stream whose first batch does not
    span the range of later samples needs `bounds`**; so does a stream that arrives row by row.

    Parameters
    ----------
    rho_lower, rho_upper : float in [0, 1], default=0.7, 0.85
        Vigilance of clusters and of categories. If `rho_upper` is the lower one, clusters have one category.
    alpha : float > 0, default=1e-3
        Choice parameter, the bias towards small boxes.
    beta : float in (0, 1], default=1.0
        Learning rate.
    gamma : float > 0, default=3.0
        Exponent of the choice.
    gamma_ref : float >= 0, default=1.0
        Exponent of the categories' size in the match.
    linkage : {"single", "complete", "average", "median", "weighted", "centroid"}, default="single"
        How a cluster's choice and match are computed from those of its categories.
    max_nodes : int or None, default=2000
        Largest number of categories; a sample that needs another one is ignored. None for no limit.
    bounds : (minima, maxima) or None, default=None
        Range of the features, each a number or one per feature: ``(X.min(axis=0), X.max(axis=0))``. Takes
        effect when learning begins.
    reference_quirks : bool, default=False
        Let the oldest cluster that passes the lower vigilance win, as in the authors' program, instead of the
        one with the largest choice.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample at the time it was learnt, after `fit` only.
    n_clusters_, n_nodes_ : int
        Number of clusters and of categories.
    weights_ : ndarray of shape (n_nodes_, 2 * n_features_in_)
        Categories in order of creation: lower corners, then complements of the upper corners.
    node_labels_, usage_ : ndarray of shape (n_nodes_,)
        Cluster of each category, and the number of samples it has absorbed.
    bounds_ : (ndarray, ndarray)
        Minima and maxima by which the features are scaled.
    n_samples_seen_, n_features_in_ : int
        Number of samples learnt, number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    L. E. Brito da Silva, I. Elnabarawy, D. C. Wunsch II: Distributed dual vigilance fuzzy adaptive resonance
    theory learns online, retrieves arbitrarily-shaped clusters, and mitigates order dependence. Neural
    Networks 121 (2020) 208–228.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import DDVFA
    >>> X = load_iris().data
    >>> DDVFA(rho_lower=0.6, rho_upper=0.75).fit(X).n_clusters_
    5
    >>> model = DDVFA(bounds=(X.min(axis=0), X.max(axis=0)))
    >>> for row in X:
    ...     _ = model.partial_fit([row])
    >>> bool((model.weights_ == DDVFA().fit(X).weights_).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "rho_lower": [Interval(Real, 0, 1, closed="both")],
        "rho_upper": [Interval(Real, 0, 1, closed="both")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, 1, closed="right")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "gamma_ref": [Interval(Real, 0, None, closed="left")],
        "linkage": [StrOptions(set(LINKAGES))],
        "max_nodes": [Interval(Integral, 1, None, closed="left"), None],
        "bounds": "no_validation",  # validated by given_bounds
        "reference_quirks": ["boolean"],
    }
    _model: Model

    def __init__(
        self,
        *,
        rho_lower: float = 0.7,
        rho_upper: float = 0.85,
        alpha: float = 1e-3,
        beta: float = 1.0,
        gamma: float = 3.0,
        gamma_ref: float = 1.0,
        linkage: str = "single",
        max_nodes: int | None = 2000,
        bounds: Any = None,
        reference_quirks: bool = False,
    ) -> None:
        self.rho_lower = rho_lower
        self.rho_upper = rho_upper
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.gamma_ref = gamma_ref
        self.linkage = linkage
        self.max_nodes = max_nodes
        self.bounds = bounds
        self.reference_quirks = reference_quirks

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
        self.labels_ = self._learn(self._begin(X))
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
        if self.__sklearn_is_fitted__():
            self._validate_params()
            X = validated_rows(self, X, reset=False)
            self.__dict__.pop("labels_", None)
        else:
            X = self._begin(X)
        self._learn(X)
        return self

    def predict(self, X: Any, *, strict: bool = False) -> np.ndarray:
        """Cluster of each row. Does not change the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        strict : bool, default=False
            If True, return the cluster that passes the vigilance tests, or -1 if none does. If False, return
            the cluster of the category with the largest choice, whatever its match.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X = validated_rows_to_predict(self, X)
        labels, rules = np.empty(len(X), np.int64), self._rules()
        for start, items in self._coded(X):
            assign(self._model, items, rules, bool(strict), labels[start : start + len(items)])
        return labels

    def _begin(self, X: Any) -> np.ndarray:
        """Validate everything, then reset the model; returns the rows to learn."""
        self._validate_params()
        with all_or_nothing(self):
            X = validated_rows(self, X, reset=True)
            bounds = self._first_bounds(X)
        self.__dict__.pop("labels_", None)
        self._model, self.bounds_ = new_model(X.shape[1]), bounds
        return X

    def _first_bounds(self, X: np.ndarray) -> Bounds:
        if self.bounds is not None:
            return given_bounds(self.bounds, X.shape[1])
        if len(X) == 1:
            raise ValueError(
                "DDVFA takes the range of the features from the first batch, which has n_samples=1; "
                "give it more rows to begin with, or pass bounds=(minima, maxima)."
            )
        return observed_bounds(X)

    def _learn(self, X: np.ndarray) -> np.ndarray:
        """Learn all rows; returns their clusters."""
        labels, rules = np.empty(len(X), np.int64), self._rules()
        for start, items in self._coded(X):
            done = learn(self._model, items, rules, labels[start : start + len(items)])
            while done < len(items):
                self._model = grow(self._model)
                done += learn(self._model, items[done:], rules, labels[start + done : start + len(items)])
        return labels

    def _coded(self, X: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Chunks of X in complement code, each with the index of its first row."""
        n_rows = max(1, AT_ONCE // X.shape[1])
        for start in range(0, len(X), n_rows):
            yield start, complement_code(rescale(X[start : start + n_rows], self.bounds_))

    def _rules(self) -> Rules:
        full = float(self.n_features_in_) ** self.gamma_ref
        return Rules(
            lower=self.rho_lower * full,
            upper=self.rho_upper * full,
            alpha=float(self.alpha),
            beta=float(self.beta),
            gamma=float(self.gamma),
            gamma_ref=float(self.gamma_ref),
            linkage=LINKAGES[self.linkage],
            max_nodes=UNLIMITED if self.max_nodes is None else int(self.max_nodes),
            by_age=bool(self.reference_quirks),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in self.__dict__:  # joblib may have memory-mapped the arrays read-only
            self._model = Model(*(np.array(array) for array in self._model))

    @property
    def n_nodes_(self) -> int:
        """Number of categories."""
        check_is_fitted(self)
        return int(sizes_of(self._model).n_categories)

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt."""
        check_is_fitted(self)
        return int(sizes_of(self._model).n_seen)

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        check_is_fitted(self)
        return int(sizes_of(self._model).n_clusters)

    @property
    def weights_(self) -> np.ndarray:
        """The categories in order of creation."""
        return np.ascontiguousarray(self._model.weight[:, : self.n_nodes_].T)

    @property
    def node_labels_(self) -> np.ndarray:
        """Cluster of each category."""
        return self._model.owner[: self.n_nodes_].copy()

    @property
    def usage_(self) -> np.ndarray:
        """Number of samples that each category has absorbed."""
        return self._model.usage[: self.n_nodes_].copy()
