"""Permanent ids of connected components and their events; see community_ids.py for hand-over clusters.

An id never changes its meaning and is never used again. When clusters merge, the one with more samples
keeps its id; when a cluster splits, its largest part does. `fit` alone numbers the clusters anew.
"""

from __future__ import annotations

import numpy as np

from ...core.layout import NO_CLUSTER
from ...core.learn import NOT_WATCHED
from ...core.state import State, scalar, scalars_of
from ..clusters import Clusters, read_components
from ..events import Event
from .event_log import Arrays, EventLog


class ComponentIds:
    """Ids of connected components. The core updates them whenever a component changes, and buffers events."""

    watch = NOT_WATCHED

    def __init__(self) -> None:
        self.log = EventLog()

    def step(self, state: State) -> None:
        """The core has updated the ids already."""

    def update(self, state: State) -> None:
        """The core has updated the ids already."""
        self.drain(state)

    def drain(self, state: State) -> None:  # INOUT scalars.n_events, scalars.n_event_centres
        """Move the buffered events of the state to the event log."""
        if not scalar(state, "n_events"):
            return
        centres = state.event_centre[: scalar(state, "n_event_centres")].copy()
        # As bytes, because NumPy copies records field by field.
        records = bytearray(state.event[: scalar(state, "n_events")].tobytes())
        self.log.add(np.frombuffer(records, state.event.dtype), centres)
        empty_buffer(state)

    def clusters(self, state: State) -> Clusters:
        """The present components."""
        return read_components(state)

    def rename(self, state: State, order: np.ndarray) -> np.ndarray:  # INOUT slot.cluster, scalars
        """Number the clusters 0, 1, 2 … in the order in which their ids are listed, then those that ended.

        Returns the new id of every id.
        """
        scalars = scalars_of(state)
        new_id = new_ids(order, int(scalars.next_cluster))
        is_provisional = not scalars.n_active  # then the provisional cluster is the only one
        if is_provisional:
            new_id += 1
            scalars.provisional, scalars.next_cluster = 0, len(new_id) + 1
        replace_ids(state.slot["cluster"][: scalars.n_slots], new_id)
        self.log.rename(new_id)
        return np.zeros(len(new_id) + 1, np.int64) if is_provisional else new_id  # its id may be NO_CLUSTER

    def events(self, since: int) -> list[Event]:
        """Events after sample `since`."""
        return self.log.events(since)

    def export(self, n_features: int) -> Arrays:
        """What the state does not hold, as plain arrays."""
        return self.log.export(n_features)

    def restore(self, arrays: Arrays) -> None:
        """Take over what `export` wrote."""
        self.log.restore(arrays)


def empty_buffer(state: State) -> None:  # INOUT scalars.n_events, scalars.n_event_centres
    state.scalars["n_events"] = state.scalars["n_event_centres"] = 0


def new_ids(order: np.ndarray, n_ids: int) -> np.ndarray:
    """New id of every id: 0, 1, 2 … in this order, and then the ids that are not listed."""
    order = order[order != NO_CLUSTER]
    new_id = np.empty(n_ids, np.int64)
    new_id[np.concatenate([order, np.setdiff1d(np.arange(n_ids), order)])] = np.arange(n_ids)
    return new_id


def replace_ids(ids: np.ndarray, new_id: np.ndarray) -> None:  # INOUT ids
    named = ids != NO_CLUSTER
    ids[named] = new_id[ids[named]]
