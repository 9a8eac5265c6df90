"""What the estimators share: validation, learning, prediction and files. Nothing numerical."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..callbacks import CallbackSupportMixin, reported, with_callbacks
from ..core.layout import SEED_NODES
from ..core.state import new_state
from ..core.variants import PUBLISHED, Variant
from ..inspection import InspectionMixin
from ..jit import prefetch
from ..model.chunks import n_cores
from ..model.distances import distances
from ..model.events import Event
from ..model.file import StoredModel, write_model
from ..model.learner import Learner
from ..model.novelty import are_novel, similarities
from ..model.parallel import learn_rows, round_length
from ..model.predict import labels
from ..model.rows import CHUNK_CELLS
from ..model.times import SampleTimes
from ..validation import (
    as_table,
    needs_no_validation,
    refuse_arguments,
    validated_rows,
    validated_rows_to_predict,
)

_STARTING = threading.Lock()


class IncrementalClusterer(
    InspectionMixin,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """An estimator that learns one sample at a time.

    Subclasses have the parameter `max_nodes`, and may have `metric` and `n_jobs`.
    """

    max_nodes: int | None
    _algorithm: ClassVar[str]  # its name in files and on the command line
    _clusters: ClassVar[str]  # what a cluster is: COMPONENTS or HANDOVER
    _choices: ClassVar[dict[str, tuple[str, ...]]]  # legal values of parameters, the default first
    _variant: ClassVar[Variant] = PUBLISHED  # of learning, in the Euclidean metric, without a bound on nodes
    _listeners: list[Callable[[Event], object]]
    _times: SampleTimes | None = None  # of samples, where a stream has a clock of its own

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
        refuse_arguments("partial_fit", unsupported)
        return self._fit(X, first=False)

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

    def on_event(self, listener: Callable[[Event], object]) -> Self:
        """Call a function with every event of a cluster, after the batch in which it happened.

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

    def copy(self) -> Self:
        """An independent model that has learnt the same.

        Returns
        -------
        model : estimator of the same class
        """
        twin = type(self)()
        twin.__dict__.update(self.__getstate__())
        if "_learner" in self.__dict__:
            twin._learner = self._learner.copy()
        if self._times is not None:
            twin._times = self._times.copy()
        return twin

    def fork(self) -> Self:
        """A copy to learn a share of the data apart, which `everclust.merge` merges with others like it.

        Present clusters keep their ids in the copy, and so in every merged model: ids that `partial_fit`
        would update later are updated now.

        Returns
        -------
        model : estimator of the same class
        """
        twin = self.copy()
        if "_learner" in twin.__dict__:
            twin._learner.update_ids()
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
        write_model(path, *self._learner.export(), self._algorithm, self._saved_params(), names, self._times)

    @classmethod
    def _from_file(cls, stored: StoredModel) -> Self:
        model = cls(**stored.params)
        model._learner = Learner(stored.state, model._chosen_variant(), cls._clusters, stored.arrays)
        model.n_features_in_ = stored.state.prototype.shape[1]
        if stored.names is not None:
            model.feature_names_in_ = np.array(stored.names, dtype=object)
        if stored.times is not None:
            model._times = stored.times
        return model

    @property
    def labels_(self) -> np.ndarray:
        """Cluster of each sample of the latest `fit` or `partial_fit`."""
        if "_labels" not in self.__dict__:
            latest = self.__dict__.get("_latest")
            if latest is None:
                raise AttributeError("There are no labels_: they are there after fit and partial_fit only.")
            self._labels = self._predict_rows(latest)
        return self._labels

    # Rows that were validated before

    def _learn_rows(self, X: np.ndarray) -> None:
        """`partial_fit` of a C-contiguous float64 array of valid rows; feature names are left as they are."""
        self._fit(X, first=False, is_valid=True)

    def _predict_rows(self, X: np.ndarray) -> np.ndarray:
        """`predict` of an array of valid rows."""
        return labels(self.snapshot(), X)

    def _score_rows(self, X: np.ndarray) -> np.ndarray:
        """`score_samples` of an array of valid rows."""
        return similarities(self._learner.known(), X)

    def _novel_rows(self, X: np.ndarray) -> np.ndarray:
        """`predict_novel` of an array of valid rows."""
        return are_novel(self._learner.known(), X)

    # Learning

    def _fit(self, X: Any, first: bool, is_valid: bool = False) -> Self:
        """Learn rows, after forgetting everything when they are the first, and notify listeners."""
        events = None
        if first or not self.__sklearn_is_fitted__():
            with nullcontext() if first else _STARTING:  # of two threads that start a model, one makes it
                if first or not self.__sklearn_is_fitted__():
                    variant = self._chosen_variant()
                    prefetch.expect("everclust.core.precompile", self._clusters)
                    X = self._validated(X, True, is_valid)
                    events = self._learn(X, self._new_learner(X.shape[1], variant), first)
        if events is None:
            X = self._validated(X, False, is_valid)
            events = self._learn(X)
        if not (first or is_valid):
            self._remember(X)
        if events:
            self._notify(events)
        return self

    def _remember(self, X: np.ndarray) -> None:
        """What `labels_` are predicted for: a copy of a small batch, later; those of a large one, now."""
        if X.size <= CHUNK_CELLS:
            self._latest = np.array(X)  # callers reuse their memory
        else:
            self._labels = self._predict_rows(X)

    def _new_learner(self, n_features: int, variant: Variant) -> Learner:
        return Learner(new_state(n_features, variant), variant, self._clusters)

    def _validated(self, X: Any, reset: bool, is_valid: bool) -> np.ndarray:
        if is_valid:
            if reset:
                self.n_features_in_ = X.shape[1]
            return X
        if not reset and needs_no_validation(self, X, 2):
            return X
        return validated_rows(self, X, reset=reset, as_is=True)

    def _learn(self, X: np.ndarray, new: Learner | None = None, first: bool = False) -> Sequence[Event]:
        """Learn rows in the model's learner or in a new one that replaces it; returns its events."""
        learner = self._learner if new is None else new
        n_jobs = 1 if self._n_jobs is None else n_threads(self._n_jobs)
        parameters = self._metric, self.max_nodes
        if parameters != learner.parameters:  # to validate them takes time, and samples may come one by one
            self._pass_on(parameters, learner)
        self.__dict__.pop("_labels", None)
        self.__dict__.pop("_latest", None)
        if n_jobs == 1 and new is None and "_listeners" not in self.__dict__:  # the fast path of a stream
            learner.learn(X)
            return ()
        with learner.lock:  # other threads wait for the whole batch, and their events are not ours
            if new is not None:  # only then: another thread may have replaced the learner meanwhile
                self._learner = new
            n_seen = learner.scalar("n_seen")
            step = None if n_jobs == 1 else round_length(X.shape[1], n_jobs)
            for part in reported(self, X, step) if first else (X,):
                learn_rows(learner, part, n_jobs)
            if first:
                self._labels = learner.renumber(X)
            return learner.events(n_seen) if "_listeners" in self.__dict__ else ()

    def _notify(self, events: Sequence[Event]) -> None:
        for event in events:
            for listener in self._listeners:
                listener(event)

    # Parameters

    @property
    def _metric(self) -> str:
        return getattr(self, "metric", "euclidean")

    @property
    def _n_jobs(self) -> int | None:
        return getattr(self, "n_jobs", None)

    def _chosen_variant(self) -> Variant:
        """The variant of the algorithm that the parameters choose."""
        for name, legal in self._choices.items():
            _check_choice(name, getattr(self, name), legal)
        n_threads(self._n_jobs)
        variant = self._variant._replace(capped=self._metric == "capped")
        if self.max_nodes is None:
            return variant
        if not isinstance(self.max_nodes, Integral) or self.max_nodes < SEED_NODES:
            raise ValueError(
                f"max_nodes is {self.max_nodes!r}, but it must be None or an integer of {SEED_NODES} or more."
            )
        return variant._replace(max_nodes=int(self.max_nodes))

    def _pass_on(self, parameters: tuple[Any, ...], learner: Learner) -> None:
        """Let a learner go on with new parameters; its metric cannot change."""
        variant = self._chosen_variant()
        if learner.variant.capped != variant.capped:
            raise ValueError(
                f"The model was learnt in another metric than {self._metric!r}, which cannot change; "
                "set the metric back, or call fit to start anew."
            )
        with learner.lock:
            learner.variant, learner.parameters = variant, parameters

    def _saved_params(self) -> dict[str, Any]:
        """The parameters without the number of cores, which is the machine's, not the model's."""
        return {name: value for name, value in self.get_params().items() if name != "n_jobs"}

    # What scikit-learn calls

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_listeners", "_latest")}

    def __sklearn_is_fitted__(self) -> bool:
        return "_learner" in self.__dict__ and self._learner.has_learnt()


def n_threads(n_jobs: object) -> int:
    """Number of threads, as in scikit-learn: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"n_jobs is {n_jobs!r}, but it must be None, a number of threads, or -1 for all cores."
        )
    number = int(n_jobs)
    return number if number > 0 else max(n_cores() + 1 + number, 1)


def _check_choice(name: str, value: object, legal: tuple[str, ...]) -> None:
    if value not in legal:
        raise ValueError(f"{name} is {value!r}, but it must be {' or '.join(map(repr, legal))}.")
