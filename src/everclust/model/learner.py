"""A state, the lock that guards it, its clusters' identities, and the latest picture of it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..core.communities.communities import base_nodes, links_of
from ..core.communities.levels import DECISION_INTERVAL
from ..core.communities.valleys import base_labels
from ..core.learn import learn
from ..core.serialise import Arrays, export, restore
from ..core.state import State, clock_of, copy, scalar
from ..core.topology import NO_CLUSTER
from ..core.variants import PUBLISHED, Reading
from .event_arrays import LOGS, export_communities, restore_communities
from .event_log import EventLog, as_records
from .events import Event
from .matching import Community, changes, match_ids
from .rows import CHUNK_CELLS, as_kernel_rows
from .snapshot import Snapshot, take_snapshot

CHUNK_WORK = 2**26  # cells × nodes between two looks at the keyboard: some tens of milliseconds


class Learner:
    """Threads may share it: whoever reads sees the model before or after a batch, never in between."""

    def __init__(self, state: State, reading: Reading = PUBLISHED) -> None:
        self.state = state
        self.reading = reading
        self.choice: tuple[Any, ...] | None = None  # parameters it last learnt with
        self.lock = threading.RLock()
        self.communities: dict[int, Community] = {}  # when it was last decided about them
        # For components (False) and communities (True):
        self._log = {False: EventLog(), True: EventLog()}
        self._picture: dict[bool, Snapshot] = {}

    def learn(self, X: np.ndarray, handover: bool = False) -> None:
        """Learn all rows. Ctrl-C leaves what was learnt until then.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        handover : bool, default=False
            Are the clusters communities? Then it is decided about their ids at every thousandth sample.
        """
        with self.lock:
            if X.shape[1] != self.state.prototype.shape[1]:  # the kernels trust it
                raise ValueError(
                    f"X has {X.shape[1]} features, but the model has {self.state.prototype.shape[1]}."
                )
            try:
                start = 0
                while start < len(X):
                    # A single row, as a stream brings it, needs no measuring.
                    n_rows = self._n_rows_at_once(X.shape[1], handover) if len(X) > 1 else 1
                    stop = start + n_rows
                    learn(self.state, as_kernel_rows(X[start:stop]), self.reading, self._keep)
                    if handover and scalar(self.state, "n_seen") % DECISION_INTERVAL == 0:
                        self.decide()
                    start = stop
            except BaseException:  # Ctrl-C may come before the samples learnt last were kept
                self._keep(self.state)
                raise
            finally:  # not before: a signal handler may have taken a picture in between
                self._picture = {}

    def _n_rows_at_once(self, n_features: int, handover: bool) -> int:
        n_nodes = max(scalar(self.state, "n_nodes"), 64)
        n_rows = max(1, min(CHUNK_WORK // n_nodes, CHUNK_CELLS) // n_features)
        if not handover:
            return n_rows
        return min(n_rows, DECISION_INTERVAL - scalar(self.state, "n_seen") % DECISION_INTERVAL)

    def _keep(self, state: State) -> None:
        """From here on this is the model, and what has happened to its components is taken down."""
        self.state = state
        if scalar(state, "n_lines"):
            self._note()

    def _note(self) -> None:
        state = self.state
        centres = state.centre[: scalar(state, "n_centres")].copy()
        lines = bytearray(state.line[: scalar(state, "n_lines")].tobytes())  # NumPy copies field by field
        self._log[False].add(np.frombuffer(lines, state.line.dtype), centres)
        state.clock["n_lines"] = state.clock["n_centres"] = 0

    def decide(self) -> None:
        """Give the communities their ids."""
        clock, base = clock_of(self.state), base_nodes(self.state)
        group = base_labels(self.state, base, links_of(self.state, base), self.reading.valleys)
        nodes = self.state.node
        matching = match_ids(nodes["community"][base], group, nodes["usage"][base], int(clock.next_community))
        ids = matching.group_ids[group]
        now = self._described(ids, base)
        found = list(changes(matching, self.communities, now))
        if found:
            self._log[True].add(*as_records(found, int(clock.n_seen)))
        nodes["community"][: clock.n_nodes] = NO_CLUSTER
        nodes["community"][base] = ids
        clock.next_community = matching.next_id
        self.communities = now
        self._picture.pop(True, None)

    def _described(self, ids: np.ndarray, base: np.ndarray) -> dict[int, Community]:
        usage, position = self.state.node["usage"][base], self.state.prototype[base]
        n_seen = scalar(self.state, "n_seen")
        found = {}
        for c in np.unique(ids).tolist():
            weight = usage * (ids == c)
            before = self.communities.get(c)
            since = before.since if before else n_seen
            found[c] = Community(int(weight.sum()), weight @ position / weight.sum(), since)
        return found

    def renumber(self, order: np.ndarray, handover: bool) -> None:
        """Call the clusters 0, 1, 2 … in the order in which their ids are listed, those that ended last."""
        with self.lock:
            clock = clock_of(self.state)
            n_ids = int(clock.next_community if handover else clock.next_cluster)
            order = order[order != NO_CLUSTER]
            new_id = np.empty(n_ids, np.int64)
            new_id[np.concatenate([order, np.setdiff1d(np.arange(n_ids), order)])] = np.arange(n_ids)
            if not handover and not clock.n_active:  # the provisional cluster is the only one
                new_id += 1
                clock.provisional, clock.next_cluster = 0, n_ids + 1
            self._rename(new_id, handover)
            self._log[handover].rename(new_id)
            self._picture.pop(handover, None)

    def _rename(self, new_id: np.ndarray, handover: bool) -> None:
        if handover:
            self.communities = {int(new_id[c]): community for c, community in self.communities.items()}
            ids = self.state.node["community"][: clock_of(self.state).n_nodes]
        else:
            ids = self.state.seat["cluster"][: clock_of(self.state).n_seats]
        named = ids != NO_CLUSTER
        ids[named] = new_id[ids[named]]

    def events(self, since: int, handover: bool) -> list[Event]:
        """What happened to clusters after that sample."""
        with self.lock:
            return self._log[handover].events(since)

    def snapshot(self, handover: bool) -> Snapshot:
        """The model as it is now."""
        with self.lock:
            if handover not in self._picture:
                since = {c: community.since for c, community in self.communities.items()}
                self._picture[handover] = take_snapshot(
                    self.state, since if handover else None, self.reading.valleys
                )
            return self._picture[handover]

    def has_learnt(self) -> bool:
        """Was there any sample yet?"""
        with self.lock:
            return scalar(self.state, "n_seen") > 0

    def scalar(self, name: str) -> Any:
        """One of the clock's fields."""
        with self.lock:
            return scalar(self.state, name)

    def copy(self) -> Learner:
        """An independent twin."""
        with self.lock:
            twin = Learner(copy(self.state), self.reading)
            twin.communities = dict(self.communities)
            for handover, name in LOGS.items():
                arrays = self._log[handover].export(name, self.state.prototype.shape[1])
                twin._log[handover].restore(name, arrays)
            return twin

    def export(self) -> tuple[dict[str, Any], Arrays]:
        """All of it as scalars and arrays."""
        with self.lock:
            scalars, arrays = export(self.state)
            n_features = self.state.prototype.shape[1]
            for handover, name in LOGS.items():
                arrays |= self._log[handover].export(name, n_features)
            return scalars, arrays | export_communities(self.communities, n_features)

    @classmethod
    def from_export(cls, scalars: dict[str, Any], arrays: Arrays, reading: Reading = PUBLISHED) -> Learner:
        """What `export` took apart."""
        learner = cls(restore(scalars, arrays), reading)
        learner.communities = restore_communities(arrays)
        for handover, name in LOGS.items():
            learner._log[handover].restore(name, arrays)
        return learner

    def __reduce__(self) -> tuple[Any, ...]:
        return Learner.from_export, (*self.export(), self.reading)
