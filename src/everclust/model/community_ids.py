"""Permanent ids of hand-over clusters and their events; see component_ids.py for connected components.

The present clusters are shown at once. Events tell what lasts (waiting.py). A cluster has an id from the
first update on that finds it, and owns that id when it is told.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.cluster_ids import BORN, SPLIT
from ..core.communities.levels import SHORTEST_PAUSE
from ..core.communities.linked_nodes import named_by_lowest
from ..core.communities.newcomers import find_newcomers, newcomers_among
from ..core.communities.voting import vote_weights
from ..core.handovers import births_of
from ..core.layout import NO_CLUSTER, NONE
from ..core.state import State, scalar
from .absences import QUIET, look
from .clusters import HANDOVER, NEVER, Clusters, CommunityReadOut, clear_clusters, read_communities
from .component_ids import empty_buffer, new_ids, replace_ids
from .event_log import Arrays, EventLog, as_records
from .events import Event
from .matching import Change, Community, sizes_and_centres
from .members import NO_MEMBERS, Members
from .schedule import (
    ABSENCE_INTERVAL,
    CHECK_INTERVAL,
    FIRST_UPDATE,
    check_interval,
    earliest_update,
    is_answer,
    next_check,
    planned_update,
)
from .telling import Move, gone_changes, told_changes, told_ids, without_early_mergers
from .waiting import Key, Waiting, first_wait, is_large, next_look, present_changes, ripe


class CommunityIds:
    """Ids of hand-over clusters, and their events.

    A present cluster has the id of the told cluster with which it shares the most samples. Others have ids of
    their own, which `born` and `split` tell when they have lasted.
    """

    def __init__(self) -> None:
        self.log = EventLog()
        self.communities: dict[int, Community] = {}  # that were told, by id
        self.members = NO_MEMBERS
        self.waiting: dict[Key, Waiting] = {}
        self.next_update = FIRST_UPDATE
        self.first_young = NEVER  # birth of the first node that may belong to a new cluster
        self.look_interval = CHECK_INTERVAL  # samples between two looks at the youngest nodes, at least

    # ---- When to update ----

    def n_rows_until_step(self, n_seen: int) -> int:
        """Samples until `step` may have something to do."""
        return max(1, min(self.next_update, next_check(n_seen, self.look_interval)) - n_seen)

    def step(self, state: State) -> None:  # INOUT state
        """Update ids when it is time, or when a cluster may be new or quiet."""
        n_seen = scalar(state, "n_seen")
        is_check = n_seen % check_interval(scalar(state, "n_nodes")) == 0
        if n_seen >= self.next_update or (is_check and self._has_newcomers(state)):
            self._update(state)
        if n_seen % ABSENCE_INTERVAL == 0:
            self._look_for_absences(state)

    def _has_newcomers(self, state: State) -> bool:
        """Whether most nodes of a group of newcomers were not told to be in a cluster."""
        group = find_newcomers(state, self.first_young)
        if group.max(initial=NONE) == NONE:
            return False
        told = self.members.of(births_of(state)[-len(group) :]).told
        groups = np.unique(group[group != NONE]).tolist()
        return any(2 * (told[group == c] == NO_CLUSTER).mean() > 1 for c in groups)

    def _plan(self, found: CommunityReadOut, state: State) -> None:
        n_seen = scalar(state, "n_seen")
        self.next_update = planned_update(n_seen)
        at = next_look(self.waiting, n_seen)
        if at is not None:
            self.next_update = min(self.next_update, max(at, earliest_update(n_seen)))
        if is_answer(n_seen) and not found.n_set_apart:
            self.first_young = scalar(state, "n_born")

    # ---- Updates ----

    def update(self, state: State) -> None:  # INOUT state
        """Make the present clusters' ids permanent, and tell what has changed whether it lasts or not."""
        self._update(state, at_once=True)

    def _update(self, state: State, at_once: bool = False) -> None:  # INOUT state
        n_seen = scalar(state, "n_seen")
        found = read_communities(state, self.members, self.first_young)
        self._follow(found, n_seen, at_once)
        keys = set(self.waiting)
        if not at_once:
            clear = self._newcomers(found, state) if n_seen >= SHORTEST_PAUSE else clear_clusters(found)
            keys = ripe(self.waiting, clear, n_seen, not self.communities)
        self._tell(found, state, without_early_mergers(keys, self.waiting, self.communities))
        if at_once or is_answer(n_seen):
            community = state.node["community"][: scalar(state, "n_nodes")]
            community[:] = NO_CLUSTER
            community[found.nodes] = found.ids
        state.scalars["next_community"] = found.matching.next_id
        self._plan(found, state)

    def _newcomers(self, found: CommunityReadOut, state: State) -> list[int]:
        """Ids of the groups that newcomers have won most samples of."""
        is_new = newcomers_among(state, found.nodes, self.first_young) != NONE
        wins = state.node["wins"][found.nodes] * is_new
        mostly = 2 * np.bincount(found.group, wins) > found.matching.mass
        return found.matching.group_ids[mostly].tolist()

    def _follow(self, found: CommunityReadOut, n_seen: int, at_once: bool) -> None:
        """Note which changes wait now. Clusters ask for more patience after those that did not last."""
        present = {
            key: c
            for key, c in present_changes(found.matching).items()
            if at_once or is_large(key, found.matching)
        }
        for key in set(self.waiting) - set(present):
            change = self.waiting.pop(key)
            self._ask_for_patience(2 * change.wait, key[1], change.cluster)
        for key, c in present.items():
            if key in self.waiting:
                self.waiting[key] = self.waiting[key]._replace(cluster=c)
            else:
                asked = (self.communities[i].wait for i in (key[1], c) if i in self.communities)
                self.waiting[key] = Waiting(c, n_seen, max(first_wait(n_seen), *asked, 0))

    def _ask_for_patience(self, wait: int, *clusters: int) -> None:
        for c in clusters:
            if c in self.communities:
                longest = max(wait, self.communities[c].wait)
                self.communities[c] = self.communities[c]._replace(wait=longest)

    def _tell(self, found: CommunityReadOut, state: State, keys: set[Key]) -> None:
        """Log these changes; they wait no longer."""
        before, after = found.before.told, told_ids(found, keys)
        gone = list(gone_changes(self.communities, before))
        self.communities = self._described(state, found, after)
        move = Move(before, after, state.node["wins"][found.nodes])
        self._log([*gone, *told_changes(keys, self.waiting, move, self.communities)], state)
        for key in sorted(keys):
            change = self.waiting.pop(key)
            if key[0] != BORN:
                self._ask_for_patience(2 * change.wait, key[1], change.cluster)
        untold = ~np.isin(found.ids, list(self.communities))
        candidate = np.where(untold, found.ids, found.before.candidate)
        candidate[np.isin(candidate, list(self.communities))] = NO_CLUSTER
        since_look = np.where(found.before.wins == NO_CLUSTER, move.wins, found.before.wins)
        self.members = Members(found.before.births, after, candidate, since_look)

    def _log(self, changes: list[Change], state: State) -> None:
        if changes:
            self.log.add(*as_records(changes, scalar(state, "n_seen")))

    def _described(self, state: State, found: CommunityReadOut, ids: np.ndarray) -> dict[int, Community]:
        """The told clusters with these ids of nodes."""
        known_by_id = {}
        for c, size, centre in sizes_and_centres(state, found.nodes, ids):
            known_by_id[c] = self._last_known(c, state)._replace(size=size, centre=centre)
        for k in np.flatnonzero((found.before.told == NO_CLUSTER) & (ids != NO_CLUSTER)).tolist():
            c, last_won = int(ids[k]), int(state.node["last_won"][found.nodes[k]])
            if last_won > known_by_id[c].seen:  # a new node shows that samples have come
                known_by_id[c] = known_by_id[c]._replace(seen=last_won)
        return known_by_id

    def _last_known(self, c: int, state: State) -> Community:
        if c in self.communities:
            return self.communities[c]
        n_seen = scalar(state, "n_seen")
        return Community(0, np.empty(0), self._since(c, n_seen), seen=n_seen)

    def _since(self, c: int, n_seen: int) -> int:
        if c in self.communities:
            return self.communities[c].since
        waits = [self.waiting[kind, c].since for kind in (BORN, SPLIT) if (kind, c) in self.waiting]
        return min(waits, default=n_seen)

    # ---- Absences ----

    def _look_for_absences(self, state: State) -> None:
        """Tell which clusters are quiet or back; before one is told quiet, look where its samples are."""
        members, wins = self._present_members(state)
        looks = self._looks(state, members, wins)
        if any(kind == QUIET for kind, _, _ in looks):
            self._update(state)
            members, wins = self._present_members(state)
            looks = self._looks(state, members, wins)
        self.communities |= {c: community for _, c, community in looks}
        changes = [(kind, c, c, one.size, one.centre) for kind, c, one in looks if kind is not None]
        self._log(changes, state)
        self.members = members._replace(wins=wins)

    def _looks(
        self, state: State, members: Members, wins: np.ndarray
    ) -> list[tuple[int | None, int, Community]]:
        """(QUIET, BACK or None, id, cluster after this look) of every told cluster."""
        ids, place = np.unique(members.told, return_inverse=True)
        came = np.bincount(place, wins - members.wins, len(ids)).astype(np.int64).tolist()
        sizes = np.bincount(place, wins, len(ids)).astype(np.int64).tolist()
        looks, n_seen = [], scalar(state, "n_seen")
        for c, n_came, size in zip(ids.tolist(), came, sizes, strict=True):
            if c != NO_CLUSTER:
                kind, community = look(self.communities[c], n_came, size, n_seen)
                looks.append((kind, c, community))
        return looks

    def _present_members(self, state: State) -> tuple[Members, np.ndarray]:
        """The members that are still there, and their wins."""
        births = births_of(state)
        place = np.minimum(births.searchsorted(self.members.births), len(births) - 1)
        there = births[place] == self.members.births
        if there.all():
            return self.members, state.node["wins"][place]
        return Members(*(column[there] for column in self.members)), state.node["wins"][place[there]]

    # ---- What is shown ----

    def drain(self, state: State) -> None:  # INOUT scalars.n_events, scalars.n_event_centres
        """Drop the buffered events of the state: they are about connected components."""
        empty_buffer(state)

    def clusters(self, state: State) -> Clusters:
        """The present clusters."""
        found = read_communities(state, self.members, self.first_young)
        n_nodes, n_seen = scalar(state, "n_nodes"), scalar(state, "n_seen")
        ids, since = np.full(n_nodes, NO_CLUSTER), np.zeros(n_nodes, np.int64)
        ids[found.nodes] = found.ids
        since_of_group = [self._since(c, n_seen) for c in found.matching.group_ids.tolist()]
        since[found.nodes] = np.array(since_of_group)[found.group]
        group = named_by_lowest(found.nodes, found.group, n_nodes)
        weights = vote_weights(found.links, found.group)
        return Clusters(HANDOVER, found.nodes, group, ids, since, weights)

    def events(self, since: int) -> list[Event]:
        """Events after sample `since`."""
        return self.log.events(since)

    # ---- Other ids, other places ----

    def adopt(self, state: State, ids: np.ndarray, communities: dict[int, Community]) -> None:  # INOUT state
        """Take over clusters that were found elsewhere: ids of all nodes, and the clusters by id."""
        n_seen = scalar(state, "n_seen")
        state.node["community"][: len(ids)] = ids
        self.communities = {c: community._replace(seen=n_seen) for c, community in communities.items()}
        wins = state.node["wins"][: len(ids)].copy()
        self.members = Members(births_of(state), ids.copy(), np.full(len(ids), NO_CLUSTER), wins)
        self.waiting = {}
        self.next_update = planned_update(n_seen)
        self.first_young = scalar(state, "n_born")

    def rename(self, state: State, order: np.ndarray) -> np.ndarray:  # INOUT node.community
        """Number the clusters 0, 1, 2 … in the order in which their ids are listed, then those that ended.

        Returns the new id of every id.
        """
        new_id = new_ids(order, scalar(state, "next_community"))
        self.communities = {int(new_id[c]): community for c, community in self.communities.items()}
        replace_ids(state.node["community"][: scalar(state, "n_nodes")], new_id)
        replace_ids(self.members.told, new_id)
        self.log.rename(new_id)
        return new_id

    def export(self, n_features: int) -> Arrays:
        """What the state does not hold, as plain arrays."""
        table = [(c, one.size, *one[2:]) for c, one in self.communities.items()]
        centres: list[Any] = [community.centre for community in self.communities.values()]
        waiting = [(*key, *change) for key, change in self.waiting.items()]
        return self.log.export(n_features) | {
            "community_list": np.array(table, np.int64).reshape(-1, len(Community._fields)),
            "community_centre": np.array(centres, float).reshape(-1, n_features),
            "community_member": np.column_stack(self.members),
            "community_change": np.array(waiting, np.int64).reshape(-1, 2 + len(Waiting._fields)),
            "community_schedule": np.array([self.next_update, self.first_young]),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take over what `export` wrote."""
        self.log.restore(arrays)
        rows = zip(arrays["community_list"].tolist(), arrays["community_centre"], strict=True)
        for (c, size, *rest), centre in rows:
            known = Community(size, centre, *rest)
            self.communities[c] = known._replace(absent=bool(known.absent), is_quiet=bool(known.is_quiet))
        self.members = Members(*arrays["community_member"].T.copy())
        self.waiting = {(kind, c): Waiting(*rest) for kind, c, *rest in arrays["community_change"].tolist()}
        self.next_update, self.first_young = arrays["community_schedule"].tolist()
