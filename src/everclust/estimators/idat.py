"""IDAT as a scikit-learn estimator: learning, predicting and keeping, nothing numerical."""

from __future__ import annotations

import threading
from collections.abc import Callable
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ..callbacks import CallbackSupportMixin, reported, with_callbacks
from ..core.state import SEED_NODES, new_state
from ..core.variants import PUBLISHED, Reading
from ..inspection import FindingsMixin
from ..model.events import Event
from ..model.file import read_model, write_model
from ..model.learner import Learner
from ..model.predict import labels, similarities
from ..validation import needs_no_validation, validated_rows, validated_rows_to_predict

CHOICES = {"clusters": ("components", "handover"), "metric": ("euclidean", "capped")}  # legal values

_STARTING = threading.Lock()


class IDAT(FindingsMixin, CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Clustering of data that keeps arriving, without a parameter to tune.

    IDAT learns one sample at a time and never looks at it again. It keeps prototypes ("nodes"), joins
    those that keep winning together with edges, and calls each connected component a cluster. It finds
    the number of clusters by itself and forgets nothing when new classes appear. Features are used as
    they are: scale them first if their units are not comparable.

    There is nothing to tune. The two parameters choose between the algorithm as published, which is the
    default, and two additions to it, which often find better clusters.

    Parameters
    ----------
    clusters : {"components", "handover"}, default="components"
        What a cluster is: a connected component of the edges between active nodes, as published; or a
        community of nodes that hand samples over to each other more often than chance would have it,
        which uses all nodes that won more than once. Learning is the same in both cases, so that a model
        can be read out either way: ``model.set_params(clusters="handover")``.
    metric : {"euclidean", "capped"}, default="euclidean"
        How distances are measured: as published; or with no feature weighing more than the median
        feature, which helps when features have very different spreads. Nothing is ever amplified.
    max_nodes : int or None, default=None
        How many nodes are kept at most. The published algorithm never lets go of a node that won twice, so
        that nodes and costs grow for ever when the data keep drifting. With a bound, the nodes that have
        gone longest without winning go first, inactive before active ones.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample, after `fit` only.
    n_clusters_ : int
        Number of clusters.
    n_nodes_, n_active_nodes_ : int
        Number of nodes, and how many of them take part in the answer. While none does (n_active_nodes_
        is 0), all of them do. (With hand-over clusters, all nodes that won more than once do.)
    prototypes_ : ndarray of shape (n_nodes_, n_features_in_)
        Positions of the nodes, in order of creation.
    feature_weights_ : ndarray of shape (n_features_in_,)
        What each feature weighs in squared distances: 1, or less in the capped metric.
    scales_, usage_, active_ : ndarray of shape (n_nodes_,)
        Distance scale of each node, how often it was moved, whether it is active.
    edges_ : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    node_labels_ : ndarray of shape (n_nodes_,)
        Cluster of each node, -1 for those that are in none.
    interval_, vigilance_ : int, float
        The recalculation interval and the vigilance threshold, which IDAT derives by itself.
    n_samples_seen_, n_features_in_ : int
        Number of samples learnt, number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    N. Masuyama, Y. Toda, Y. Nojima, H. Ishibuchi: An Adaptive Resonance Theory-based Topological
    Clustering Algorithm with a Self-Adjusting Vigilance Parameter. arXiv:2511.17983.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust import IDAT
    >>> X = load_iris().data
    >>> model = IDAT().fit(X)
    >>> model.n_clusters_
    5
    >>> model.partial_fit(X[:10]).n_samples_seen_
    160
    """

    _listeners: list[Callable[[Event], object]]
    _variant = PUBLISHED  # the benchmark's ablation variants have others

    def __init__(
        self, *, clusters: str = "components", metric: str = "euclidean", max_nodes: int | None = None
    ) -> None:
        self.clusters = clusters
        self.metric = metric
        self.max_nodes = max_nodes

    @with_callbacks
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
        X = validated_rows(self, X, reset=True, as_is=True)
        self.__dict__.pop("labels_", None)
        learner = self._new_learner(X.shape[1])
        with learner.lock:  # whoever asks meanwhile waits
            self._learner = learner
            clusters = self._chosen("clusters")
            for part in reported(self, X):
                learner.learn(part, clusters)
            self.labels_ = learner.renumber(X, clusters)
            happened = self.events() if "_listeners" in self.__dict__ else []
        self._tell(happened)
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
        if not self.__sklearn_is_fitted__():
            with _STARTING:  # two threads may begin at once, but only one of them makes the model
                if not self.__sklearn_is_fitted__():
                    X = validated_rows(self, X, reset=True, as_is=True)
                    self._learner = self._new_learner(X.shape[1])
                    self._learn(X)
                    return self
        if not needs_no_validation(self, X, 2):
            X = validated_rows(self, X, reset=False, as_is=True)
        self._go_on(X)
        return self

    def learn_one(self, x: Any) -> Self:
        """Learn one sample given as a one-dimensional row.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        self
        """
        if self.__sklearn_is_fitted__() and needs_no_validation(self, x, 1):
            self._go_on(x[np.newaxis])
            return self
        row = np.asarray(x)
        if row.ndim != 1:
            raise ValueError(
                f"learn_one takes one row of features, but got an array with {row.ndim} dimensions; "
                "use partial_fit for several rows."
            )
        return self.partial_fit(row.reshape(1, -1))

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row. The model is not changed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X = validated_rows_to_predict(self, X, as_is=True)
        return labels(self.snapshot(), X)

    def score_samples(self, X: Any) -> np.ndarray:
        """Similarity of each row to the node that wins it, in (0, 1]; low means novel.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        similarity : ndarray of shape (n_samples,)
        """
        X = validated_rows_to_predict(self, X, as_is=True)
        return similarities(self.snapshot(), X)

    def on_event(self, listener: Callable[[Event], object]) -> Self:
        """Be told what happens to clusters, after each batch that is learnt.

        Parameters
        ----------
        listener : callable
            Called with every `Event`, in the order in which they happened. It is not saved, copied or
            pickled with the model.

        Returns
        -------
        self
        """
        self._listeners = [*self.__dict__.get("_listeners", ()), listener]
        return self

    def copy(self) -> IDAT:
        """An independent model that has learnt the same.

        Returns
        -------
        model : IDAT
        """
        twin = type(self)()
        twin.__dict__.update(self.__getstate__())
        if "_learner" in self.__dict__:
            twin._learner = self._learner.copy()
        return twin

    def save(self, path: str | Path) -> None:
        """Write the model into one file, from which `everclust.load` reads it back.

        The file is complete or not there at all: it is written under another name and then renamed.

        Parameters
        ----------
        path : str or Path
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        write_model(path, *self._learner.export(), self.get_params(), names)

    # The parameters

    def _reading(self) -> Reading:
        reading = self._variant._replace(capped=self._chosen("metric") == "capped")
        if self.max_nodes is None:
            return reading
        if not isinstance(self.max_nodes, Integral) or self.max_nodes < SEED_NODES:
            raise ValueError(
                f"max_nodes is {self.max_nodes!r}, but it must be None or an integer of {SEED_NODES} or more."
            )
        return reading._replace(max_nodes=int(self.max_nodes))

    def _chosen(self, name: str) -> str:
        value = getattr(self, name)
        if value not in CHOICES[name]:
            choices = " or ".join(map(repr, CHOICES[name]))
            raise ValueError(f"{name} is {value!r}, but it must be {choices}.")
        return value

    def _new_learner(self, n_features: int) -> Learner:
        self._chosen("clusters")
        reading = self._reading()
        return Learner(new_state(n_features, reading), reading)

    def _choose(self, choice: tuple[Any, ...]) -> None:
        """The parameters may have been set anew, but the metric stays that in which the model began."""
        self._chosen("clusters")
        reading = self._reading()
        if self._learner.variant.capped != reading.capped:
            raise ValueError(
                f"The model has learnt in another metric than {self.metric!r}, and it cannot change over: "
                "set the metric back, or call fit to begin anew."
            )
        self._learner.variant, self._learner.parameters = reading, choice

    # Learning more

    def _go_on(self, X: np.ndarray) -> None:
        """Learn more."""
        choice = (self.clusters, self.metric, self.max_nodes)
        if choice != self._learner.parameters:  # to validate them takes time, and samples may come one by one
            self._choose(choice)
        self.__dict__.pop("labels_", None)
        self._learn(X)

    def _learn(self, X: np.ndarray) -> None:
        if "_listeners" not in self.__dict__:
            self._learner.learn(X, self.clusters)
            return
        with self._learner.lock:  # what another thread learns is told by that one
            before = self._learner.scalar("n_seen")
            self._learner.learn(X, self.clusters)
            happened = self.events(before)
        self._tell(happened)

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            for listener in self._listeners:
                listener(event)

    # What scikit-learn wants to know

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_listeners"}

    def __sklearn_is_fitted__(self) -> bool:
        return "_learner" in self.__dict__ and self._learner.has_learnt()


def load(path: str | Path) -> IDAT:
    """Read a model that `IDAT.save` has written. It goes on learning as if it had never stopped.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    model : IDAT

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, or was written by a newer everclust.
    """
    stored = read_model(path, CHOICES)
    model = IDAT(**stored.params)
    model._learner = Learner(stored.state, model._reading(), stored.arrays)
    model.n_features_in_ = stored.state.prototype.shape[1]
    if stored.names is not None:
        model.feature_names_in_ = np.array(stored.names, dtype=object)
    return model
