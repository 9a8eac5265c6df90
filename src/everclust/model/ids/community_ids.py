"""Permanent ids of hand-over clusters and their events; see component_ids.py for connected components.

The present clusters are shown at once. Events report what lasts (waiting.py). A cluster has an id from the
first update on that finds it, and owns that id when it is reported.
"""

from __future__ import annotations

import numpy as np

from ...core.communities.levels import SHORTEST_PAUSE
from ...core.communities.linked_nodes import Base, named_by_lowest
from ...core.communities.matching import (
    NO_MEMBERS,
    Arrivals,
    Matched,
    Members,
    count_arrivals,
    report_nodes,
)
from ...core.communities.newcomers import is_due
from ...core.communities.voting import vote_weights
from ...core.handovers import births_of
from ...core.layout import FEWEST, FOUND_AT, NO_CLUSTER
from ...core.state import State, scalar
from ...jit.compile import Direct
from ..clusters import HANDOVER, Clusters
from ..events import Event
from .absences import QUIET, check_absences
from .communities import Change, Community, export_communities, restore_communities
from .component_ids import empty_buffer, new_ids, replace_ids
from .divisions import RecentWins
from .event_log import Arrays, EventLog, as_records
from .read_communities import (
    CommunityReadOut,
    clear_clusters,
    has_unsettled,
    newcomer_ids,
    read_communities,
    reported_of,
)
from .reporting import (
    Move,
    described,
    first_found,
    gone_changes,
    reported_changes,
    reported_of_groups,
    unmerged,
    without_early_mergers,
)
from .schedule import ABSENCE_INTERVAL, Schedule, is_answer
from .shifts import Shifts
from .waiting import (
    Key,
    Waiting,
    check_pause,
    clusters_of,
    due,
    export_waiting,
    first_wait,
    is_large,
    next_check,
    present_changes,
    restore_waiting,
    shortened,
)

_report_nodes, _count_arrivals = Direct(report_nodes), Direct(count_arrivals)


class CommunityIds:
    """Ids of hand-over clusters, and their events.

    A present cluster has the id of the reported cluster with which it shares the most samples. Others have
    ids of their own, which `born` and `split` report when they have lasted.
    """

    def __init__(self) -> None:
        self.log = EventLog()
        self.communities: dict[int, Community] = {}  # that were reported, by id
        self.members = NO_MEMBERS
        self.waiting: dict[Key, Waiting] = {}
        self.shifts = Shifts()
        self.schedule = Schedule()
        self.watch = self.schedule.watch

    # ---- When to update ----

    def step(self, state: State) -> None:  # INOUT state
        """Update ids when it is time, or when a cluster may be new or quiet."""
        n_seen = scalar(state, "n_seen")
        is_check = self.watch[FOUND_AT] == n_seen and is_due(n_seen, scalar(state, "n_nodes"))
        newcomers = self.members, self.schedule.first_young, int(self.watch[FEWEST])
        if n_seen >= self.schedule.next_update or (is_check and has_unsettled(state, *newcomers)):
            self._update(state)
        if n_seen % ABSENCE_INTERVAL == 0:
            self._check_absences(state)
        self._set_watch(n_seen)

    def _set_watch(self, n_seen: int) -> None:
        self.schedule.set_watch(n_seen, self.shifts.fewest_wins)

    def _plan(self, found: CommunityReadOut, state: State, first_check: int | None) -> None:
        shorter = shortened(self.waiting, self.shifts.shifted())
        self.waiting |= shorter
        checks = [check for check in (next_check(shorter), first_check) if check is not None]
        n_seen, n_born = scalar(state, "n_seen"), scalar(state, "n_born")
        self.schedule.plan(n_seen, min(checks, default=None), None if found.n_set_apart else n_born)

    # ---- Updates ----

    def update(self, state: State) -> None:  # INOUT state
        """Make the present clusters' ids permanent, and report what has changed whether it lasts or not."""
        self._update(state, at_once=True)
        self._set_watch(scalar(state, "n_seen"))

    def _update(self, state: State, at_once: bool = False) -> None:  # INOUT state
        n_seen = scalar(state, "n_seen")
        found = self._read_out(state)
        self._follow(found.matching, n_seen, at_once)
        keys = set(self.waiting)
        if not at_once:
            clear = newcomer_ids(found) if n_seen >= SHORTEST_PAUSE else clear_clusters(found.matching)
            keys = due(self.waiting, clear, n_seen, not self.communities)
        self._report(found, state, without_early_mergers(keys, self.waiting, self.communities))
        if at_once or is_answer(n_seen):
            community = state.node["community"][: scalar(state, "n_nodes")]
            community[:] = NO_CLUSTER
            community[found.base.nodes] = found.ids
        state.scalars["next_community"] = found.matching.next_id
        before = self.shifts.shifted()
        self.shifts.update(found.base, found.is_divided, self.members.reported, self.communities, n_seen)
        has_more = not self.shifts.shifted() <= before
        self._plan(found, state, n_seen + check_pause(n_seen) if has_more else None)

    def _follow(self, matching: Matched, n_seen: int, at_once: bool) -> None:
        """Note which changes wait now. Clusters ask for more patience after those that did not last."""
        present = {
            key: c for key, c in present_changes(matching).items() if at_once or is_large(key, matching)
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

    def _report(self, found: CommunityReadOut, state: State, keys: set[Key]) -> None:
        """Log these changes; they wait no longer."""
        base, matching = found.base, found.matching
        if not keys and not self.communities:  # nothing was reported yet
            since_check = np.where(matching.before[2] == NO_CLUSTER, base.wins, matching.before[2])
            self.members = Members(base.births, matching.before[0], found.ids, since_check)
            return
        of_group, stays = reported_of_groups(matching, keys), unmerged(matching, keys)
        now = _report_nodes.run(base, matching, found.group, of_group, stays, state.node)
        changed = list(gone_changes(self.communities, matching.ids))
        self.communities = described(now, self.communities, self.waiting, scalar(state, "n_seen"))
        if keys:
            move = Move(matching.before[0], now.reported, base.wins)
            reported = {key: self.waiting[key] for key in keys}
            changed += reported_changes(reported, self.shifts.shifted(), move, self.communities)
        self._log(changed, state)
        for key in sorted(keys):
            change = self.waiting.pop(key)
            for c in clusters_of(key, change):
                self._ask_for_patience(2 * change.wait, c)
                self.shifts.forget(c)
        self.members = Members(base.births, now.reported, now.candidate, now.since_check)

    def _log(self, changes: list[Change], state: State) -> None:
        if changes:
            self.log.add(*as_records(changes, scalar(state, "n_seen")))

    def _read_out(self, state: State) -> CommunityReadOut:
        """The present clusters."""
        quiet = {c for c, one in self.communities.items() if one.is_quiet}
        watched = quiet.union(self.shifts.shifted(), self.shifts.divided)

        def recent(base: Base) -> RecentWins:
            n_seen = scalar(state, "n_seen")
            reported = reported_of(self.members, base.births)
            is_live = state.node["last_won"][base.nodes] > n_seen - check_pause(n_seen)
            return RecentWins(is_live, self.shifts.wins_since(base), np.isin(reported, list(watched)))

        fewest, first_young = int(self.watch[FEWEST]), self.schedule.first_young
        return read_communities(state, self.members, first_young, fewest, recent if watched else None)

    # ---- Absences ----

    def _check_absences(self, state: State) -> None:
        """Report which clusters are quiet or back; before that, see where the samples of quiet ones are."""
        found = self._arrivals(state)
        after, kinds = check_absences(self.communities, found, scalar(state, "n_seen"))
        if QUIET in kinds.values():
            self._update(state)
            found = self._arrivals(state)
            after, kinds = check_absences(self.communities, found, scalar(state, "n_seen"))
        self.communities |= after
        self._log([(kind, c, c, after[c].size, after[c].centre) for c, kind in kinds.items()], state)
        self.members = Members(*found[:4])

    def _arrivals(self, state: State) -> Arrivals:
        return _count_arrivals.run(self.members, state.node, scalar(state, "n_nodes"))

    # ---- What is shown ----

    def drain(self, state: State) -> None:  # INOUT scalars.n_events, scalars.n_event_centres
        """Drop the buffered events of the state: they are about connected components."""
        empty_buffer(state)

    def clusters(self, state: State) -> Clusters:
        """The present clusters."""
        found = self._read_out(state)
        n_nodes, n_seen = scalar(state, "n_nodes"), scalar(state, "n_seen")
        ids, since = np.full(n_nodes, NO_CLUSTER), np.zeros(n_nodes, np.int64)
        nodes = found.base.nodes
        ids[nodes] = found.ids
        group_ids = found.matching.group_ids.tolist()
        since_of_group = [first_found(c, self.communities, self.waiting, n_seen) for c in group_ids]
        since[nodes] = np.array(since_of_group)[found.group]
        group = named_by_lowest(nodes, found.group, n_nodes)
        weights = vote_weights(found.base.links, found.group)
        return Clusters(HANDOVER, nodes, group, ids, since, weights)

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
        self.waiting, self.shifts = {}, Shifts()
        self.schedule.begin(n_seen, scalar(state, "n_born"))
        self._set_watch(n_seen)

    def rename(self, state: State, order: np.ndarray) -> np.ndarray:  # INOUT node.community
        """Number the clusters 0, 1, 2 … in the order in which their ids are listed, then those that ended.

        Returns the new id of every id.
        """
        new_id = new_ids(order, scalar(state, "next_community"))
        self.communities = {int(new_id[c]): community for c, community in self.communities.items()}
        self.shifts.rename(new_id)
        replace_ids(state.node["community"][: scalar(state, "n_nodes")], new_id)
        replace_ids(self.members.reported, new_id)
        self.log.rename(new_id)
        return new_id

    def export(self, n_features: int) -> Arrays:
        """What the state does not hold, as plain arrays."""
        members = {"community_member": np.column_stack(self.members)}
        parts = export_communities(self.communities, n_features), members, export_waiting(self.waiting)
        arrays = self.log.export(n_features) | self.shifts.export() | self.schedule.export()
        for part in parts:
            arrays |= part
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Take over what `export` wrote."""
        self.log.restore(arrays)
        self.communities = restore_communities(arrays)
        self.members = Members(*arrays["community_member"].T.copy())
        self.waiting = restore_waiting(arrays)
        self.shifts.restore(arrays)
        self.schedule.restore(arrays, self.shifts.fewest_wins)
