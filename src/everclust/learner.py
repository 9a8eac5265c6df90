"""A state, the lock that guards it, and the latest picture of it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .core.learn import learn
from .core.portable import Arrays, export, restore
from .core.readings import PUBLISHED, Reading
from .core.state import State, clock_of, copy
from .snapshot import CHUNK_CELLS, Snapshot, plain, take_snapshot

CHUNK_WORK = 2**26  # cells × nodes between two looks at the keyboard: some tens of milliseconds


class Learner:
    """Threads may share it: whoever reads sees the model before or after a batch, never in between."""

    def __init__(self, state: State, order: np.ndarray | None = None, reading: Reading = PUBLISHED) -> None:
        self.state = state
        self.reading = reading
        self.lock = threading.RLock()
        self._order = order  # the clusters' numbering: nodes, in the order of their clusters
        self._picture: Snapshot | None = None

    def learn(self, X: np.ndarray) -> None:
        """Learn all rows. Ctrl-C leaves what was learnt until then."""
        with self.lock:
            if X.shape[1] != self.state.prototype.shape[1]:  # the kernels trust it
                raise ValueError(
                    f"X has {X.shape[1]} features, but the model has {self.state.prototype.shape[1]}."
                )
            self._order = None
            try:
                start = 0
                while start < len(X):
                    stop = start + self._n_rows_at_once(X.shape[1])
                    self.state = learn(self.state, plain(X[start:stop]), self.reading)
                    start = stop
            finally:  # not before: a signal handler may have taken a picture in between
                self._picture = None

    def _n_rows_at_once(self, n_features: int) -> int:
        n_nodes = max(int(self.state.clock["n_nodes"][0]), 64)
        return max(1, min(CHUNK_WORK // n_nodes, CHUNK_CELLS) // n_features)

    def renumber(self, order: np.ndarray) -> None:
        """Number the clusters in the order of these nodes, until something is learnt."""
        with self.lock:
            self._order, self._picture = order, None

    def snapshot(self) -> Snapshot:
        """The model as it is now."""
        with self.lock:
            if self._picture is None:
                self._picture = take_snapshot(self.state, self._order)
            return self._picture

    def has_learnt(self) -> bool:
        """Was there any sample yet?"""
        with self.lock:
            return bool(self.state.clock["n_seen"][0])

    def scalar(self, name: str) -> Any:
        """One of the clock's fields."""
        with self.lock:
            return clock_of(self.state)[name].item()

    def copy(self) -> Learner:
        """An independent twin."""
        with self.lock:
            return Learner(copy(self.state), self._order, self.reading)

    def export(self) -> tuple[dict[str, Any], Arrays]:
        """All of it as scalars and arrays."""
        with self.lock:
            scalars, arrays = export(self.state)
            if self._order is not None:
                arrays["order"] = self._order
            return scalars, arrays

    @classmethod
    def from_export(cls, scalars: dict[str, Any], arrays: Arrays, reading: Reading = PUBLISHED) -> Learner:
        """What `export` took apart."""
        return cls(restore(scalars, arrays), arrays.get("order"), reading)

    def __reduce__(self) -> tuple[Any, ...]:
        return Learner.from_export, (*self.export(), self.reading)
