"""What both algorithms share without scikit-learn: learning rows, answering for rows, copies and files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ..core.layout import SEED_NODES
from ..core.state import new_state
from ..core.variants import PUBLISHED, Variant
from ..inspection import InspectionMixin
from ..jit import prefetch
from ..model.chunks import n_cores
from ..model.events import Event
from ..model.file import StoredModel, write_model
from ..model.learner import Learner
from ..model.novelty import are_novel, similarities
from ..model.parallel import learn_rows, round_length
from ..model.predict import labels
from ..model.rows import CHUNK_CELLS, MOST_SAMPLES
from ..model.times import SampleTimes

_STARTING = threading.Lock()


class Clusterer(InspectionMixin):
    """A model that learns one sample at a time, from rows that were validated before.

    The command line works with it directly, because scikit-learn takes seconds to import. Subclasses have
    the parameter `max_nodes`; those with a metric or threads to choose override `_metric` and `_n_jobs`.
    """

    max_nodes: int | None
    n_features_in_: int
    feature_names_in_: np.ndarray
    _algorithm: ClassVar[str]  # its name in files and on the command line
    _clusters: ClassVar[str]  # what a cluster is: COMPONENTS or HANDOVER
    _choices: ClassVar[dict[str, tuple[str, ...]]]  # legal values of parameters, the default first
    _saved: ClassVar[tuple[str, ...]]  # the parameters in files: not n_jobs, which is the machine's
    _variant: ClassVar[Variant] = PUBLISHED  # of learning, in the Euclidean metric, without a bound on nodes
    _listeners: list[Callable[[Event], object]]
    _times: SampleTimes | None = None  # of samples, where a stream has a clock of its own
    _labels: np.ndarray | None = None  # of the latest rows, if they were predicted
    _latest: np.ndarray | None = None  # rows to predict when labels are asked for

    def on_event(self, listener: Callable[[Event], object]) -> Self:
        """Call a function with every event of a cluster, after the batch in which it happened.

        Parameters
        ----------
        listener : callable
            Called with every `Event`, in the order in which they happened. It is not saved, copied or
            pickled with the model. If it raises an error, the batch is learnt nevertheless, the other
            events are told, and the error is raised after that.

        Returns
        -------
        self
        """
        if not callable(listener):
            raise TypeError(f"on_event takes a function of an event, but got {type(listener).__name__}.")
        self._listeners = [*self.__dict__.get("_listeners", ()), listener]
        return self

    def copy(self) -> Self:
        """An independent model that has learnt the same.

        Returns
        -------
        model : estimator of the same class
        """
        twin = type(self)()
        twin.__dict__.update(without_listeners(vars(self)))
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
        self._check_is_fitted()
        self._pass_on_changes(self._learner)  # what no file can hold must not replace one
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
        if (labels := self._labels) is None:
            if (latest := self._latest) is None:
                raise AttributeError("There are no labels_: they are there after fit and partial_fit only.")
            labels = self._labels = self._predict_rows(latest)
        return labels

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
            self._latest = X.copy()  # callers reuse their memory
        else:
            self._labels = self._predict_rows(X)

    def _new_learner(self, n_features: int, variant: Variant) -> Learner:
        return Learner(new_state(n_features, variant), variant, self._clusters)

    def _validated(self, X: Any, reset: bool, is_valid: bool) -> np.ndarray:
        """Rows that can be learnt; here all are valid. With `reset`, they say how many features there are."""
        if reset:
            self.n_features_in_ = X.shape[1]
        return X

    def _parts(self, X: np.ndarray, step: int | None) -> Iterable[np.ndarray]:
        """The rows of a fit, in the parts that they are learnt in."""
        return (X,)

    def _learn(self, X: np.ndarray, new: Learner | None = None, first: bool = False) -> Sequence[Event]:
        """Learn rows in the model's learner or in a new one that replaces it; returns its events."""
        learner = self._learner if new is None else new
        n_jobs = 1 if (chosen := self._n_jobs) is None else n_threads(chosen)
        self._pass_on_changes(learner)
        self._labels = self._latest = None
        if n_jobs == 1 and new is None and "_listeners" not in self.__dict__:  # the fast path of a stream
            learner.learn(X)
            return ()
        with learner.lock:  # other threads wait for the whole batch, and their events are not ours
            if new is not None:  # only then: another thread may have replaced the learner meanwhile
                self._learner = new
            n_seen = learner.scalar("n_seen")
            step = None if n_jobs == 1 else round_length(X.shape[1], n_jobs)
            for part in self._parts(X, step) if first else (X,):
                learn_rows(learner, part, n_jobs)
            if first:
                self._labels = learner.renumber(X)
            return learner.events(n_seen) if "_listeners" in self.__dict__ else ()

    def _notify(self, events: Sequence[Event]) -> None:
        """Call every listener with every event, and raise the first error afterwards."""
        errors: list[Exception] = []
        for event in events:
            for listener in self._listeners:
                try:
                    listener(event)
                except Exception as error:
                    errors.append(error)
        if errors:
            raise errors[0]

    # Parameters

    @property
    def _metric(self) -> str:
        return "euclidean"

    @property
    def _n_jobs(self) -> int | None:
        return None

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
        if self.max_nodes > MOST_SAMPLES:
            raise ValueError(f"max_nodes is {self.max_nodes}, above 2**53; leave it out for no bound.")
        return variant._replace(max_nodes=int(self.max_nodes))

    def _pass_on_changes(self, learner: Learner) -> None:
        """Let a learner go on with new parameters; its metric cannot change."""
        parameters = self._metric, self.max_nodes
        if parameters == learner.parameters:  # to validate them takes time, and samples may come one by one
            return
        variant = self._chosen_variant()
        if learner.variant.capped != variant.capped:
            raise ValueError(
                f"The model was learnt in another metric than {self._metric!r}, which cannot change; "
                "set the metric back, or call fit to start anew."
            )
        with learner.lock:
            learner.variant, learner.parameters = variant, parameters

    def _saved_params(self) -> dict[str, Any]:
        """The parameters that are written into files."""
        return {name: getattr(self, name) for name in self._saved}


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


def without_listeners(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes that copies and pickles of a model have too, without the latest rows."""
    kept = {name: value for name, value in attributes.items() if name != "_listeners"}
    return kept | {"_latest": None} if "_latest" in kept else kept


def _check_choice(name: str, value: object, legal: tuple[str, ...]) -> None:
    if value not in legal:
        raise ValueError(f"{name} is {value!r}, but it must be {' or '.join(map(repr, legal))}.")
