"""A state, the lock that guards it, the identities of its clusters, and the latest snapshots of it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..core.layout import FOUND_AT, NEXT_PAUSE
from ..core.learn import learn
from ..core.serialise import Arrays, export, restore
from ..core.state import State, copy, scalar
from ..core.variants import PUBLISHED, Variant
from ..jit.holding import hold
from ..jit.interrupts import uninterrupted
from .clusters import COMPONENTS, HANDOVER
from .events import Event
from .ids.community_ids import CommunityIds
from .ids.component_ids import ComponentIds
from .novelty import Known, take_known
from .predict import labels
from .rows import CHUNK_CELLS, as_kernel_rows
from .snapshot import Snapshot, take_snapshot

CHUNK_WORK = 2**26  # cells × nodes between two checks for Ctrl-C: some tens of milliseconds


class Learner:
    """A model that threads may share: a reader sees it before or after a batch, never in between.

    Parameters
    ----------
    state : State
    variant : Variant
    clusters : {"components", "handover"}, default="components"
        What a cluster is.
    history : dict of str to ndarray, optional
        Ids and events, as `export` wrote them.
    """

    def __init__(
        self,
        state: State,
        variant: Variant = PUBLISHED,
        clusters: str = COMPONENTS,
        history: Arrays | None = None,
    ) -> None:
        self.state = state
        self._held: Any = None  # what kernels take for it
        self._n_features = state.prototype.shape[1]
        self.variant = variant
        self.parameters: tuple[Any, ...] | None = None  # of the estimator, when it last learnt
        self.lock = threading.RLock()
        self.clusters = clusters
        self.ids: ComponentIds | CommunityIds = CommunityIds() if clusters == HANDOVER else ComponentIds()
        self._snapshot: Snapshot | None = None
        self._known: Known | None = None
        self._has_learnt = False  # asked before every sample
        self._n_stepped = 0  # samples at the latest step of the ids
        if history is not None:
            self.ids.restore(history)

    def learn(self, X: np.ndarray) -> None:
        """Learn all rows. After Ctrl-C, the model has learnt the rows before it.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        """
        with self.lock:
            if X.shape[1] != self._n_features:  # the kernels do not check it
                raise ValueError(f"X has {X.shape[1]} features, but the model has {self._n_features}.")
            pause, start = self._adopt, 0
            if self.clusters == HANDOVER:
                pause, self._n_stepped = self._step, scalar(self.state, "n_seen")
            try:
                while start < len(X):
                    if len(X) == 1:  # as a stream brings it: neither measured nor sliced
                        rows, stop = X, 1
                    else:
                        stop = start + self._n_rows_at_once(X.shape[1])
                        rows = X[start:stop]
                    self._held = hold(self.state, self._held)
                    learn(self.state, as_kernel_rows(rows), self.variant, pause, self.ids.watch, self._held)
                    start = stop
            except BaseException:  # Ctrl-C may come between learning and what is due after it
                with uninterrupted():
                    learn(self.state, as_kernel_rows(X[:0]), self.variant, pause, self.ids.watch)
                raise
            finally:  # not earlier: a signal handler may have taken a snapshot in between
                self._snapshot = self._known = None

    def _n_rows_at_once(self, n_features: int) -> int:
        n_nodes = max(scalar(self.state, "n_nodes"), 64)
        return max(1, min(CHUNK_WORK // n_nodes, CHUNK_CELLS) // n_features)

    def _step(self, state: State) -> None:
        """Adopt `state`, and update the ids of communities if samples have come since the latest pause."""
        self._adopt(state)
        n_seen = scalar(state, "n_seen")
        is_due = n_seen >= self.ids.watch[NEXT_PAUSE] or n_seen == self.ids.watch[FOUND_AT]
        if is_due and n_seen != self._n_stepped:
            with uninterrupted():
                self._n_stepped = n_seen
                self.ids.step(state)

    def _adopt(self, state: State) -> None:
        """Adopt `state` and empty its buffer of events."""
        self.state = state
        if state.scalars["n_events"].item():
            self.ids.drain(state)

    def become(self, other: Learner) -> None:
        """Hold what another learner holds, which is not used any more."""
        with self.lock:
            self.state, self.ids = other.state, other.ids
            self._snapshot = self._known = None

    def update_ids(self) -> None:
        """Make the ids of the present clusters permanent."""
        with self.lock:
            if self.has_learnt():
                with uninterrupted():
                    self.ids.update(self.state)
                    self._snapshot = None

    def renumber(self, X: np.ndarray) -> np.ndarray:
        """Number the clusters from 0 on, those of the rows of X first; returns the cluster of every row."""
        with self.lock:
            self.update_ids()
            before = self.snapshot()
            found = labels(before, X)
            with uninterrupted():
                new_id = self.ids.rename(self.state, _found_first(before, found))
                self._snapshot = None
            return new_id[found]

    def events(self, since: int) -> list[Event]:
        """Events after sample `since`."""
        with self.lock:
            return self.ids.events(since)

    def snapshot(self) -> Snapshot:
        """The model as it is now."""
        with self.lock:
            if self._snapshot is None:
                with uninterrupted():
                    self._snapshot = take_snapshot(self.state, self.ids.clusters(self.state))
            return self._snapshot

    def known(self) -> Known:
        """What rows are compared with to see whether they are new."""
        with self.lock:
            if self._known is None:
                with uninterrupted():
                    self._known = take_known(self.state)
            return self._known

    def has_learnt(self) -> bool:
        """Whether at least one sample was learnt."""
        if not self._has_learnt:
            if not scalar(self.state, "n_seen"):
                with self.lock:  # another thread may be learning the first ones
                    pass
            self._has_learnt = scalar(self.state, "n_seen") > 0
        return self._has_learnt

    def scalar(self, name: str) -> Any:
        """One of the scalars of the state."""
        with self.lock:
            return scalar(self.state, name)

    def copy(self) -> Learner:
        """An independent learner with the same content."""
        with self.lock:
            return Learner(copy(self.state), self.variant, self.clusters, self._history())

    def export(self) -> tuple[dict[str, Any], Arrays]:
        """The whole content as scalars and arrays."""
        with self.lock:
            scalars, arrays = export(self.state)
            return scalars, arrays | self._history()

    def _history(self) -> Arrays:
        return self.ids.export(self.state.prototype.shape[1])

    @classmethod
    def from_export(cls, scalars: dict[str, Any], arrays: Arrays, variant: Variant, clusters: str) -> Learner:
        """The learner whose `export` these are."""
        return cls(restore(scalars, arrays), variant, clusters, arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        return Learner.from_export, (*self.export(), self.variant, self.clusters)


def _found_first(snapshot: Snapshot, found: np.ndarray) -> np.ndarray:
    """Ids of all clusters, those in `found` before the others, each in the order of their nodes."""
    ids = snapshot.node_labels[snapshot.candidates.node]
    is_found = np.isin(ids, found)
    order = np.concatenate([ids[is_found], ids[~is_found]])
    return order[np.sort(np.unique(order, return_index=True)[1])]
