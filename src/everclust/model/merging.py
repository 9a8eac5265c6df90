"""Merging of learners: their states, the ids of their clusters, and their events.

What the base knew keeps its id. Of two clusters that become one, the larger keeps its id, and the event log
of the merged model says so. Ids that parts have given since the base are shifted, so that all are different.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.correspondence import index_by_birth
from ..core.handovers import births_of
from ..core.layout import NO_CLUSTER, NONE
from ..core.learn import learn
from ..core.merge import merge_states
from ..core.readout import components
from ..core.recount import PairCounts, recounted
from ..core.serialise import Arrays
from ..core.state import State, scalar
from ..core.variants import Variant
from .clusters import COMPONENTS, HANDOVER, read_communities, read_components
from .event_log import as_records
from .learner import Learner
from .matching import Community, Matching, changes, match_ids

SAMPLE, CLUSTER, PART, CENTRE = 0, 2, 3, 5  # columns of an event
Mapping = dict[int, int]  # from ids of clusters before to those after


class Origin(NamedTuple):
    """Clusters of a model that was merged, under the ids that they have in the merged model's event log."""

    ids: np.ndarray  # of every node, or NO_CLUSTER
    wins: np.ndarray  # of every node, that are not counted elsewhere
    places: np.ndarray  # of every node in the merged model, or NONE
    clusters: dict[int, Community]
    events: Arrays


class Renaming(NamedTuple):
    """How ids and sample numbers of a part read in the merged model: the base's stay as they are."""

    next_before: int  # the base's next id
    shift: int  # of the ids from there on
    n_before: int  # samples of the base
    length: int  # samples since
    stretched: int  # samples that the merged model has since

    def ids(self, ids: np.ndarray) -> np.ndarray:
        """The ids in the merged model."""
        return np.where(ids < self.next_before, ids, ids + self.shift)

    def samples(self, samples: np.ndarray) -> np.ndarray:
        """Sample numbers in the merged stream, as if all parts had been learnt side by side."""
        age = (self.n_before + self.length - samples) * (self.stretched / max(self.length, 1))
        later = self.n_before + self.stretched - np.floor(age).astype(np.int64)
        return np.where(samples <= self.n_before, samples, np.maximum(later, self.n_before + 1))


def merge_learners(
    learners: Sequence[Learner], base: Learner | None, variant: Variant
) -> tuple[Learner, list[Mapping]]:
    """One learner of many, and for each of them a mapping from its ids to those of the merged one."""
    parts = [updated(learner) for learner in learners]
    before = None if base is None else updated(base)
    state, places, order = merge_states(
        [part.state for part in parts], None if before is None else before.state, variant.capped
    )
    if len(order) == 1:
        merged, labels = learners[order[0]].copy(), labels_of(parts[order[0]])
        merged.variant = variant
    else:
        merged = Learner(state, variant, parts[0].clusters)
        labels = _identify(
            merged, *_origins([parts[i] for i in order], [places[i] for i in order], before, state)
        )
    _evict(merged)
    return merged, [_mapping(part, place, labels) for part, place in zip(parts, places, strict=True)]


def recount_learner(learner: Learner, counts: PairCounts) -> Learner:
    """The learner with other counts of pairs; its clusters are matched with those before."""
    before = updated(learner)
    after = Learner(recounted(before.state, counts), before.variant, before.clusters)
    nodes = np.arange(scalar(before.state, "n_nodes"))
    origin = Origin(
        _permanent_ids(before), before.state.node["wins"][nodes], nodes, described(before), _events(before)
    )
    _identify(after, [origin], _next_id(before))
    return after


def updated(learner: Learner) -> Learner:
    """A copy whose present clusters have permanent ids."""
    twin = learner.copy()
    twin.update_ids()
    return twin


def labels_of(learner: Learner) -> np.ndarray:
    """Id of every node's cluster in an updated learner, as its snapshot shows it."""
    return _permanent_ids(learner) if learner.clusters == HANDOVER else read_components(learner.state).ids


def _permanent_ids(learner: Learner) -> np.ndarray:
    """Id of every node's cluster; connected components have none while no node is active."""
    state = learner.state
    if learner.clusters == HANDOVER:
        return state.node["community"][: scalar(state, "n_nodes")].copy()
    ids = read_components(state).ids
    return ids if scalar(state, "n_active") else np.full(len(ids), NO_CLUSTER)


def _next_id(learner: Learner) -> int:
    return scalar(learner.state, "next_cluster" if learner.clusters == COMPONENTS else "next_community")


def described(learner: Learner) -> dict[int, Community]:
    """The clusters of an updated learner by id."""
    if learner.clusters == HANDOVER:
        return dict(learner.ids.communities)  # type: ignore[union-attr]
    ids, since = _permanent_ids(learner), read_components(learner.state).since
    return _communities(learner.state, ids, dict(zip(ids.tolist(), since.tolist(), strict=True)))


def _communities(state: State, ids: np.ndarray, since: dict[int, int]) -> dict[int, Community]:
    wins, position = state.node["wins"][: len(ids)], state.prototype[: len(ids)]
    found = {}
    for c in np.unique(ids[ids != NO_CLUSTER]).tolist():
        weight = wins * (ids == c)
        centre = weight @ position / weight.sum()
        found[c] = Community(int(weight.sum()), centre, since.get(c, scalar(state, "n_seen")))
    return found


def _events(learner: Learner) -> Arrays:
    return learner.ids.export(learner.state.prototype.shape[1])


# Ids of several models


def _origins(
    parts: list[Learner], places: list[np.ndarray], base: Learner | None, state: State
) -> tuple[list[Origin], int]:
    """The parts in the order of their ranks, as the merged state sees them, and the next id.

    The first part that still has a node of the base says which cluster the base's samples are in.
    """
    next_before = 0 if base is None else _next_id(base)
    n_before = 0 if base is None else scalar(base.state, "n_seen")
    n_later = scalar(state, "n_seen") - n_before
    claimed: set[int] = set()
    origins, next_id = [], next_before
    for part, place in zip(parts, places, strict=True):
        length = scalar(part.state, "n_seen") - n_before
        renaming = Renaming(next_before, next_id - next_before, n_before, length, n_later)
        wins = _unclaimed_wins(part, base, claimed)
        origins.append(Origin(renaming.ids(_permanent_ids(part)), wins, place, *_renamed(part, renaming)))
        next_id += _next_id(part) - next_before
    if base is not None:
        nothing = np.empty(0, np.int64)
        origins.append(Origin(nothing, nothing, nothing, {}, _events(base)))
    return origins, next_id


def _unclaimed_wins(part: Learner, base: Learner | None, claimed: set[int]) -> np.ndarray:  # INOUT claimed
    """Wins of every node, less those of the base that a part before has claimed."""
    births = births_of(part.state)
    wins = part.state.node["wins"][: len(births)].copy()
    if base is not None:
        index = index_by_birth(births_of(base.state), births)
        again = (index != NONE) & np.isin(births, list(claimed))
        wins -= np.where(again, base.state.node["wins"][index], 0)
        claimed.update(births[index != NONE].tolist())
    return wins


def _renamed(part: Learner, renaming: Renaming) -> tuple[dict[int, Community], Arrays]:
    """Clusters and events of a part since the base."""
    clusters = described(part)
    ids, since = np.array(list(clusters), np.int64), np.array([c.since for c in clusters.values()], np.int64)
    rows = zip(renaming.ids(ids).tolist(), clusters.values(), renaming.samples(since).tolist(), strict=True)
    events = _events(part)
    records = events["event"][events["event"][:, SAMPLE] > renaming.n_before]
    records[:, CLUSTER], records[:, PART] = renaming.ids(records[:, CLUSTER]), renaming.ids(records[:, PART])
    records[:, SAMPLE] = renaming.samples(records[:, SAMPLE])
    return {c: cluster._replace(since=when) for c, cluster, when in rows}, events | {"event": records}


def _identify(learner: Learner, origins: list[Origin], next_id: int) -> np.ndarray:  # INOUT learner
    """Give the clusters of a new learner ids, and log what became of those before; returns ids of nodes."""
    state = learner.state
    nodes, group = _groups(learner)
    labels = np.full(scalar(state, "n_nodes"), NO_CLUSTER)
    before: dict[int, Community] = {}
    for origin in origins:
        before = origin.clusters | before  # the first one decides
    learner.ids.log.restore(_combined([origin.events for origin in origins]))
    if len(nodes):
        matching = _matched(origins, nodes, group, next_id, len(labels))
        labels[nodes] = matching.group_ids[group]
        after = _communities(state, labels, {c: community.since for c, community in before.items()})
        changed = list(changes(matching, before, after))
        if changed:
            learner.ids.log.add(*as_records(changed, scalar(state, "n_seen")))
        _assign(learner, labels, after, matching.next_id)
        return labels
    state.scalars["next_cluster"] = next_id
    return labels_of(learner)


def _groups(learner: Learner) -> tuple[np.ndarray, np.ndarray]:
    """(nodes that are in a cluster, number of its cluster)."""
    if learner.clusters == HANDOVER:
        found = read_communities(learner.state)
        return found.nodes, found.group
    active = np.flatnonzero(learner.state.node["active"][: scalar(learner.state, "n_nodes")])
    return active, np.unique(components(learner.state)[active], return_inverse=True)[1]


def _matched(
    origins: list[Origin], nodes: np.ndarray, group: np.ndarray, next_id: int, n_nodes: int
) -> Matching:
    """Match the groups with the clusters of all origins, by the wins that they share."""
    group_of = np.full(n_nodes, NONE)
    group_of[nodes] = group
    old, now, shared = [np.full(len(nodes), NO_CLUSTER)], [group], [np.zeros(len(nodes), np.int64)]
    for origin in origins:
        at = np.where(origin.places == NONE, NONE, group_of[origin.places])
        counts = (at != NONE) & (origin.ids != NO_CLUSTER) & (origin.wins > 0)
        old.append(origin.ids[counts])
        now.append(at[counts])
        shared.append(origin.wins[counts])
    return match_ids(np.concatenate(old), np.concatenate(now), np.concatenate(shared), next_id)


def _assign(
    learner: Learner, labels: np.ndarray, clusters: dict[int, Community], next_id: int
) -> None:  # INOUT learner
    """Write permanent ids into the state."""
    state = learner.state
    if learner.clusters == HANDOVER:
        state.node["community"][: len(labels)] = labels
        state.scalars["next_community"] = next_id
        learner.ids.communities = clusters  # type: ignore[union-attr]
        return
    named = np.flatnonzero(labels != NO_CLUSTER)
    owner = state.slot["cluster_root"][state.node["slot"][named]]
    state.slot["cluster"][owner] = labels[named]
    state.slot["since"][owner] = [clusters[c].since for c in labels[named].tolist()]
    state.scalars["next_cluster"] = next_id


def _combined(logs: list[Arrays]) -> Arrays:
    """Events of several logs in the order of their samples."""
    n_centres = np.cumsum([0, *(len(log["event_centre"]) for log in logs)])
    records = [log["event"].copy() for log in logs]
    for record, first in zip(records, n_centres, strict=False):
        record[:, CENTRE] += first
    events = np.concatenate(records)
    order = np.argsort(events[:, SAMPLE], kind="stable")
    return {"event": events[order], "event_centre": np.concatenate([log["event_centre"] for log in logs])}


def _mapping(part: Learner, places: np.ndarray, labels: np.ndarray) -> Mapping:
    """For every cluster of a part the one that has most of its samples; NO_CLUSTER when none of its nodes
    is left."""
    ids, wins = labels_of(part), part.state.node["wins"]
    now = np.where(places == NONE, NO_CLUSTER, labels[places]) if len(places) else places
    mapping = {}
    for c in np.unique(ids[ids != NO_CLUSTER]).tolist():
        nodes = np.flatnonzero((ids == c) & (now != NO_CLUSTER))
        found, place = np.unique(now[nodes], return_inverse=True)
        shared = np.bincount(place, wins[nodes], minlength=1)
        mapping[c] = int(found[shared.argmax()]) if len(found) else NO_CLUSTER
    return mapping


def _evict(learner: Learner) -> None:  # INOUT learner
    """Evict nodes beyond the bound of a model that has one."""
    state = learner.state
    if scalar(state, "n_nodes") > learner.variant.max_nodes:
        learn(state, np.empty((0, state.prototype.shape[1])), learner.variant, learner._adopt)
        learner.update_ids()
