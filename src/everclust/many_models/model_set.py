"""`everclust.ModelSet`: one model for each machine, user or sensor; the least recently used are on disk."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from ..estimators.incremental import IncrementalClusterer
from ..model.events import Event
from ..model.times import SampleTimes
from ..validation import validated_rows
from .keyed_rows import ask_models, checked_key, listed_keys, name_the_bad_row, rows_by_key
from .loaded_models import LoadedModels
from .model_folder import Key, ModelFolder
from .template import check_template, header_of, restored_template

IN_MEMORY = 1_000  # models of 120 nodes in 8 features take 160 MB


class Learnt(NamedTuple):
    """What came of rows that one model has learnt."""

    n_before: int  # samples that it had learnt before
    events: list[Event]
    n_founded: int  # nodes


class ModelSet:
    """One model for each key: a machine, a user, a sensor.

    Rows come with keys, and each model learns the rows of its key, in order, as if it were alone: the result
    depends neither on how rows are cut into batches nor on which models are in memory. All models have the
    same features.

    The models live in a folder, which holds the set as it was when `save` was last called, whatever
    happens in between. As a context manager, the set is saved at the end, unless there was an error.

    Parameters
    ----------
    folder : str or Path
        A folder of its own; if it holds a saved set, that one continues.
    model : EverClust or IDAT, optional
        A model that has learnt nothing, whose parameters all models get; by default `EverClust()`, or what
        the folder was made with.
    in_memory : int, default=1000
        Largest number of models in memory; the least recently used others are on disk. It changes the time
        and memory that the set needs, never its results.

    Examples
    --------
    >>> import numpy as np
    >>> from everclust import ModelSet
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> keys = ["pump", "fan"] * 300
    >>> with ModelSet("machines") as models:
    ...     models.partial_fit(keys, X).predict(["fan", "pump"], [[0, 0], [1, 1]]).shape
    (2,)
    >>> with ModelSet("machines") as models:
    ...     models["fan"].n_samples_seen_
    300
    """

    def __init__(
        self, folder: str | Path, model: IncrementalClusterer | None = None, *, in_memory: int = IN_MEMORY
    ) -> None:
        if in_memory != int(in_memory) or in_memory < 1:
            raise ValueError(f"in_memory is {in_memory!r}, but it must be an integer of 1 or more.")
        if model is not None:
            check_template(model)
        self.in_memory = int(in_memory)
        self._files = ModelFolder(Path(folder))
        try:
            self._template, self._position = restored_template(self._files, model)
        except BaseException:
            self._files.close()
            raise
        self._models = LoadedModels(self._files, self.in_memory)
        self._listeners: list[Callable[[Key, Event], object]] = []
        self._lock = threading.RLock()

    @property
    def folder(self) -> Path:
        """The folder of the models."""
        return self._files.path

    @property
    def position(self) -> Any:
        """What was passed to `save`, for example the place in the stream to go on from; None at first."""
        return self._position

    def partial_fit(self, keys: Any, X: Any) -> Self:
        """Learn rows, each with the model of its key; a new key begins a new model.

        Parameters
        ----------
        keys : array-like of shape (n_samples,), or one key for all rows
            Strings or integers; 7 and "7" are different keys.
        X : array-like of shape (n_samples, n_features), or a list of dicts
            The next samples. If a key or a row is invalid, nothing is learnt.

        Returns
        -------
        self
        """
        with self._lock:
            rows, groups = self._grouped(keys, X, learns=True)
            for key, places in groups.items():
                self._learn(key, np.ascontiguousarray(rows[places]))
        return self

    def predict(self, keys: Any, X: Any) -> np.ndarray:
        """Cluster of each row in the model of its key. No model changes.

        Parameters
        ----------
        keys : array-like of shape (n_samples,), or one key for all rows
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Ids of clusters count from 0 in every model.
        """
        return self._answer(keys, X, IncrementalClusterer._predict_rows, np.int64)

    def score_samples(self, keys: Any, X: Any) -> np.ndarray:
        """Similarity of each row to what the model of its key has learnt, in (0, 1]; low means novel.

        Parameters
        ----------
        keys : array-like of shape (n_samples,), or one key for all rows
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        similarity : ndarray of shape (n_samples,)
        """
        return self._answer(keys, X, IncrementalClusterer._score_rows, np.float64)

    def predict_novel(self, keys: Any, X: Any) -> np.ndarray:
        """Whether each row would found a new node in the model of its key if it were learnt next.

        Parameters
        ----------
        keys : array-like of shape (n_samples,), or one key for all rows
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        is_novel : ndarray of shape (n_samples,) of bool
        """
        return self._answer(keys, X, IncrementalClusterer._novel_rows, np.bool_)

    def on_event(self, listener: Callable[[Key, Event], object]) -> Self:
        """Call a function with every event of a cluster of any model, after its rows were learnt.

        Parameters
        ----------
        listener : callable
            Called with the key and the `Event`.

        Returns
        -------
        self
        """
        self._listeners.append(listener)
        return self

    def save(self, position: Any = None) -> None:
        """Save all models together: after a crash, the folder holds this set or the one saved before.

        Parameters
        ----------
        position : JSON value, optional
            Saved with the models, for example the place in the stream up to which they have learnt. None
            keeps the one before.
        """
        with self._lock:
            self._files.check_open()
            if position is not None:
                self._position = json.loads(json.dumps(position))
            self._models.write()
            self._files.save(header_of(self._template, self._position))

    def close(self) -> None:
        """Let other processes use the folder. What was learnt after the last `save` is lost."""
        self._files.close()
        self._models.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.save()
        finally:
            self.close()

    def __getitem__(self, key: Key) -> IncrementalClusterer:
        """A copy of a model; what the copy learns does not become part of the set."""
        with self._lock:
            self._files.check_open()
            return self._models.read(checked_key(key)).copy()

    def __delitem__(self, key: Key) -> None:
        """Forget a model; its file goes with the next `save`."""
        with self._lock:
            if key not in self:
                raise KeyError(key)
            self._models.drop(key)

    def __contains__(self, key: object) -> bool:
        return key in self._models

    def __iter__(self) -> Iterator[Key]:
        return iter(sorted(self._keys(), key=lambda key: (isinstance(key, str), key)))

    def __len__(self) -> int:
        return len(self._keys())

    def _keys(self) -> set[Key]:
        with self._lock:
            return self._models.keys()

    def __repr__(self) -> str:
        return f"ModelSet({str(self._files.path)!r}, {self._template!r}): {len(self):,} models"

    # One model

    def _learn(
        self, key: Key, rows: np.ndarray, times: np.ndarray | None = None, *, wants_events: bool = False
    ) -> Learnt:
        model = self._models.read(key) if key in self else self._new_model()
        n_seen = getattr(model, "n_samples_seen_", 0)
        n_born = model._scalar("n_born") if n_seen else 0
        self._models.unwritten.add(key)
        if times is not None:
            model._times = SampleTimes() if model._times is None else model._times
            model._times.add(n_seen, times, is_recent=False)
        model._learn_rows(rows)
        self._models.loaded[key] = model  # not earlier: after Ctrl-C, a new one may have learnt nothing
        events = model.events(n_seen) if wants_events or self._listeners else []
        for event in events:
            for listener in self._listeners:
                listener(key, event)
        self._models.make_room()
        return Learnt(n_seen, events, model._scalar("n_born") - n_born)

    def _new_model(self) -> IncrementalClusterer:
        model = clone(self._template)
        if hasattr(self._template, "feature_names_in_"):
            model.feature_names_in_ = self._template.feature_names_in_
        return model

    # Rows of many keys

    def _learn_rows(
        self, keys: Sequence[Key], X: np.ndarray, times: np.ndarray | None, *, wants_events: bool
    ) -> list[tuple[Key, list[int], Learnt]]:
        """`partial_fit` of valid rows; returns each key, the places of its rows, and what came of them."""
        with self._lock:
            self._files.check_open()
            if not hasattr(self._template, "n_features_in_"):
                self._template.n_features_in_ = X.shape[1]
            learnt = []
            for key, places in rows_by_key(keys).items():
                part = None if times is None else times[places]
                rows = np.ascontiguousarray(X[places])
                learnt.append((key, places, self._learn(key, rows, part, wants_events=wants_events)))
            return learnt

    def _ask_rows(
        self,
        keys: Sequence[Key],
        X: np.ndarray,
        ask: Callable[[IncrementalClusterer, np.ndarray], np.ndarray],
        unknown: Any,
    ) -> list[Any]:
        """What the models say of valid rows, and `unknown` for rows of keys that have no model."""
        with self._lock:
            return ask_models(
                lambda key: self._models.read(key) if key in self else None, keys, X, ask, unknown
            )

    def _grouped(self, keys: Any, X: Any, *, learns: bool) -> tuple[np.ndarray, dict[Key, list[int]]]:
        """Valid rows, and for each key the places of its rows, in the order of the first ones."""
        self._files.check_open()
        is_new = not hasattr(self._template, "n_features_in_")
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        names = listed_keys(keys, n_rows)
        for i, key in enumerate(names) if not learns else ():
            if key not in self:
                raise ValueError(
                    f"Row {i} has the key {key!r}, of which no row was learnt; learn some first."
                )
        if n_rows == 0:
            return np.empty((0, 0)), {}
        try:
            rows = validated_rows(self._template, X, reset=is_new)
        except ValueError:
            name_the_bad_row(X, names)
            raise
        return rows, rows_by_key(names)

    def _answer(
        self, keys: Any, X: Any, ask: Callable[[IncrementalClusterer, np.ndarray], np.ndarray], dtype: Any
    ) -> np.ndarray:
        with self._lock:
            rows, groups = self._grouped(keys, X, learns=False)
            answers = np.empty(len(rows), dtype)
            for key, places in groups.items():
                answers[places] = ask(self._models.read(key), np.ascontiguousarray(rows[places]))
            return answers
