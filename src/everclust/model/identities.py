"""Permanent ids of clusters, and their events: one object for each kind of cluster, with the same methods.

An id never changes its meaning and is never used again. When clusters merge, the one with more samples
keeps its id; when a cluster splits, its largest part does. `fit` alone numbers the clusters anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.communities.levels import UPDATE_INTERVAL
from ..core.communities.linked_nodes import named_by_lowest
from ..core.communities.voting import vote_weights
from ..core.layout import NO_CLUSTER
from ..core.state import State, scalar, scalars_of
from .clusters import HANDOVER, Clusters, CommunityReadOut, read_communities, read_components
from .event_log import Arrays, EventLog, as_records
from .events import Event
from .matching import Community, changes


class ComponentIds:
    """Ids of connected components. The core updates them whenever a component changes, and buffers events."""

    update_interval = None  # the learner has no updates to schedule

    def __init__(self) -> None:
        self.log = EventLog()

    def update(self, state: State) -> None:
        """The core has updated the ids already."""
        self.drain(state)

    def updated_clusters(self, state: State) -> Clusters:
        """The present components, whose ids are permanent."""
        self.drain(state)
        return self.clusters(state)

    def drain(self, state: State) -> None:  # INOUT scalars.n_events, scalars.n_event_centres
        """Move the buffered events of the state to the event log."""
        if not scalar(state, "n_events"):
            return
        centres = state.event_centre[: scalar(state, "n_event_centres")].copy()
        # As bytes, because NumPy copies records field by field.
        records = bytearray(state.event[: scalar(state, "n_events")].tobytes())
        self.log.add(np.frombuffer(records, state.event.dtype), centres)
        _empty_buffer(state)

    def clusters(self, state: State) -> Clusters:
        """The present components."""
        return read_components(state)

    def rename(self, state: State, order: np.ndarray) -> np.ndarray:  # INOUT slot.cluster, scalars
        """Number the clusters 0, 1, 2 … in the order in which their ids are listed, then those that ended.

        Returns the new id of every id.
        """
        scalars = scalars_of(state)
        new_id = _new_ids(order, int(scalars.next_cluster))
        is_provisional = not scalars.n_active  # then the provisional cluster is the only one
        if is_provisional:
            new_id += 1
            scalars.provisional, scalars.next_cluster = 0, len(new_id) + 1
        _replace(state.slot["cluster"][: scalars.n_slots], new_id)
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


class CommunityIds:
    """Ids of hand-over clusters, updated every 1,000 samples.

    A new cluster inherits the id of the cluster with which it shares the most samples. Between updates, the
    present clusters are matched with the latest ids, and the ids of those that are new are provisional.
    """

    update_interval = UPDATE_INTERVAL

    def __init__(self) -> None:
        self.log = EventLog()
        self.communities: dict[int, Community] = {}  # by id, at the latest update

    def update(self, state: State) -> None:  # INOUT node.community, scalars.next_community
        """Make the present clusters' ids permanent and log what has changed."""
        self._update(state, read_communities(state))

    def updated_clusters(self, state: State) -> Clusters:  # INOUT node.community, scalars.next_community
        """The present clusters, after `update`."""
        found = read_communities(state)
        self._update(state, found)
        return self._clusters(state, found)

    def _update(self, state: State, found: CommunityReadOut) -> None:
        communities = self._described(state, found)
        changed = list(changes(found.matching, self.communities, communities))
        if changed:
            self.log.add(*as_records(changed, scalar(state, "n_seen")))
        ids = state.node["community"][: scalar(state, "n_nodes")]
        ids[:] = NO_CLUSTER
        ids[found.nodes] = found.ids
        state.scalars["next_community"] = found.matching.next_id
        self.communities = communities

    def drain(self, state: State) -> None:  # INOUT scalars.n_events, scalars.n_event_centres
        """Drop the buffered events of the state: they are about connected components."""
        _empty_buffer(state)

    def _described(self, state: State, found: CommunityReadOut) -> dict[int, Community]:
        wins, position = state.node["wins"][found.nodes], state.prototype[found.nodes]
        ids, n_seen = found.ids, scalar(state, "n_seen")
        communities = {}
        for c in np.unique(ids).tolist():
            weight = wins * (ids == c)
            since = self._since(c, n_seen)
            communities[c] = Community(int(weight.sum()), weight @ position / weight.sum(), since)
        return communities

    def _since(self, c: int, n_seen: int) -> int:
        return self.communities[c].since if c in self.communities else n_seen

    def clusters(self, state: State) -> Clusters:
        """The present clusters."""
        return self._clusters(state, read_communities(state))

    def _clusters(self, state: State, found: CommunityReadOut) -> Clusters:
        n_nodes, n_seen = scalar(state, "n_nodes"), scalar(state, "n_seen")
        ids, since = np.full(n_nodes, NO_CLUSTER), np.zeros(n_nodes, np.int64)
        ids[found.nodes] = found.ids
        since_of_group = [self._since(c, n_seen) for c in found.matching.group_ids.tolist()]
        since[found.nodes] = np.array(since_of_group)[found.group]
        group = named_by_lowest(found.nodes, found.group, n_nodes)
        weights = vote_weights(found.links, found.group)
        return Clusters(HANDOVER, found.nodes, group, ids, since, weights)

    def rename(self, state: State, order: np.ndarray) -> np.ndarray:  # INOUT node.community
        """Number the clusters 0, 1, 2 … in the order in which their ids are listed, then those that ended.

        Returns the new id of every id.
        """
        new_id = _new_ids(order, scalar(state, "next_community"))
        self.communities = {int(new_id[c]): community for c, community in self.communities.items()}
        _replace(state.node["community"][: scalar(state, "n_nodes")], new_id)
        self.log.rename(new_id)
        return new_id

    def events(self, since: int) -> list[Event]:
        """Events after sample `since`."""
        return self.log.events(since)

    def export(self, n_features: int) -> Arrays:
        """What the state does not hold, as plain arrays."""
        table = [(c, community.size, community.since) for c, community in self.communities.items()]
        centres: list[Any] = [community.centre for community in self.communities.values()]
        return self.log.export(n_features) | {
            "community_list": np.array(table, np.int64).reshape(-1, 3),
            "community_centre": np.array(centres, float).reshape(-1, n_features),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take over what `export` wrote."""
        self.log.restore(arrays)
        rows = zip(arrays["community_list"].tolist(), arrays["community_centre"], strict=True)
        self.communities = {c: Community(size, centre, since) for (c, size, since), centre in rows}


def _empty_buffer(state: State) -> None:  # INOUT scalars.n_events, scalars.n_event_centres
    state.scalars["n_events"] = state.scalars["n_event_centres"] = 0


def _new_ids(order: np.ndarray, n_ids: int) -> np.ndarray:
    """New id of every id: 0, 1, 2 … in this order, and then the ids that are not listed."""
    order = order[order != NO_CLUSTER]
    new_id = np.empty(n_ids, np.int64)
    new_id[np.concatenate([order, np.setdiff1d(np.arange(n_ids), order)])] = np.arange(n_ids)
    return new_id


def _replace(ids: np.ndarray, new_id: np.ndarray) -> None:  # INOUT ids
    named = ids != NO_CLUSTER
    ids[named] = new_id[ids[named]]
