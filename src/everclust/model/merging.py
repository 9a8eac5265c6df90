"""Merging of learners: their states, the ids of their clusters, and their events.

What the base knew keeps its id. Of two clusters that become one, the larger keeps its id, and the event log
of the merged model says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.cluster_ids import GONE, MERGED
from ..core.communities.matching import Matched
from ..core.handovers import births_of, index_by_birth
from ..core.layout import NO_CLUSTER, NONE
from ..core.learn import learn
from ..core.merging.merge import merge_states
from ..core.merging.recount import PairCounts, recounted
from ..core.readout import components
from ..core.serialise import Arrays
from ..core.state import scalar
from ..core.variants import Variant
from .clusters import HANDOVER, read_components
from .ids.communities import Community, changes, match_ids
from .ids.event_log import as_records
from .ids.read_communities import read_communities
from .ids.shifts import JOINED
from .learner import Learner
from .origins import (
    CENTRE,
    CLUSTER,
    KIND,
    PART,
    SAMPLE,
    Origin,
    describe,
    described,
    events_of,
    next_id_of,
    origins_of,
    permanent_ids,
)

Mapping = dict[int, int]  # from ids of clusters before to those after


class MergedLearner(NamedTuple):
    """A merged learner, and how to find the clusters of the parts in it."""

    learner: Learner
    parts: list[Learner]  # with permanent ids
    places: list[np.ndarray]  # of their nodes in the merged learner, or NONE
    labels: np.ndarray  # of the merged learner's nodes


def merge_learners(
    learners: Sequence[Learner],
    base: Learner | None,
    variant: Variant,
    apply: Callable[..., Iterable[Learner]] = map,
) -> MergedLearner:
    """One learner of many; `apply` updates their ids, on threads if it is the `map` of a pool."""
    coming = apply(updated, learners)
    before = None if base is None else updated(base)
    parts = list(coming)
    state, places, order = merge_states(
        [part.state for part in parts], None if before is None else before.state, variant.capped
    )
    if len(order) == 1:
        merged, labels = learners[order[0]].copy(), labels_of(parts[order[0]])
        merged.variant = variant
    else:
        merged = Learner(state, variant, parts[0].clusters)
        origins, next_id = origins_of([parts[i] for i in order], [places[i] for i in order], before, state)
        labels = _identify(merged, origins, next_id)
    return MergedLearner(merged, parts, places, _evict(merged, labels))


def mappings_of(merged: MergedLearner) -> list[Mapping]:
    """For every cluster of every part, the merged cluster that has most of its samples; NO_CLUSTER when none
    of its nodes is left."""
    return [
        _mapping(part, place, merged.labels) for part, place in zip(merged.parts, merged.places, strict=True)
    ]


def _mapping(part: Learner, places: np.ndarray, labels: np.ndarray) -> Mapping:
    ids, wins = labels_of(part), part.state.node["wins"]
    now = np.where(places == NONE, NO_CLUSTER, labels[places]) if len(places) else places
    mapping = {}
    for c in np.unique(ids[ids != NO_CLUSTER]).tolist():
        nodes = np.flatnonzero((ids == c) & (now != NO_CLUSTER))
        found, place = np.unique(now[nodes], return_inverse=True)
        shared = np.bincount(place, wins[nodes], minlength=1)
        mapping[c] = int(found[shared.argmax()]) if len(found) else NO_CLUSTER
    return mapping


def recount_learner(learner: Learner, counts: PairCounts) -> Learner:
    """The learner with other counts of pairs; its clusters are matched with those before."""
    before = updated(learner)
    after = Learner(recounted(before.state, counts), before.variant, before.clusters)
    nodes = np.arange(scalar(before.state, "n_nodes"))
    origin = Origin(
        permanent_ids(before), before.state.node["wins"][nodes], nodes, described(before), events_of(before)
    )
    _identify(after, [origin], next_id_of(before))
    return after


def updated(learner: Learner) -> Learner:
    """A copy whose present clusters have permanent ids."""
    twin = learner.copy()
    twin.update_ids()
    return twin


def labels_of(learner: Learner) -> np.ndarray:
    """Id of every node's cluster in an updated learner, as its snapshot shows it."""
    return permanent_ids(learner) if learner.clusters == HANDOVER else read_components(learner.state).ids


def _identify(learner: Learner, origins: list[Origin], next_id: int) -> np.ndarray:  # INOUT learner
    """Give the clusters of a new learner ids, and log what became of those before; returns ids of nodes."""
    state = learner.state
    nodes, group = _groups(learner)
    labels = np.full(scalar(state, "n_nodes"), NO_CLUSTER)
    before: dict[int, Community] = {}
    for origin in origins:
        before = origin.clusters | before  # the first one decides
    events = [origin.events for origin in origins]
    if len(nodes):
        matching = _matched(origins, nodes, group, next_id, len(labels))
        labels[nodes] = matching.group_ids[group]
        after = describe(state, labels, {c: community.since for c, community in before.items()})
        learner.ids.log.restore(_combined(events, after))
        changed = list(changes(matching, before, after))
        if changed:
            learner.ids.log.add(*as_records(changed, scalar(state, "n_seen")))
        _assign(learner, labels, after, matching.next_id)
        return labels
    learner.ids.log.restore(_combined(events, {}))
    state.scalars["next_cluster"] = next_id
    return labels_of(learner)


def _groups(learner: Learner) -> tuple[np.ndarray, np.ndarray]:
    """(nodes that are in a cluster, number of its cluster)."""
    if learner.clusters == HANDOVER:
        found = read_communities(learner.state)
        return found.base.nodes, found.group
    active = np.flatnonzero(learner.state.node["active"][: scalar(learner.state, "n_nodes")])
    return active, np.unique(components(learner.state)[active], return_inverse=True)[1]


def _matched(
    origins: list[Origin], nodes: np.ndarray, group: np.ndarray, next_id: int, n_nodes: int
) -> Matched:
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
        state.scalars["next_community"] = next_id
        learner.ids.adopt(state, labels, clusters)  # type: ignore[union-attr]
        return
    named = np.flatnonzero(labels != NO_CLUSTER)
    owner = state.slot["cluster_root"][state.node["slot"][named]]
    state.slot["cluster"][owner] = labels[named]
    state.slot["since"][owner] = [clusters[c].since for c in labels[named].tolist()]
    state.scalars["next_cluster"] = next_id


def _combined(logs: list[Arrays], present: Iterable[int]) -> Arrays:
    """Events of several logs in the order of their samples, and the centres that they refer to.

    A cluster that is present has not ended, whatever a part says that has none of it any more.
    """
    n_centres = np.cumsum([0, *(len(log["event_centre"]) for log in logs)])
    records = [log["event"].copy() for log in logs]
    for record, first in zip(records, n_centres, strict=False):
        record[:, CENTRE] += first
    events = _without_ends(np.concatenate(records), list(present))
    events = events[np.argsort(events[:, SAMPLE], kind="stable")]
    centres = np.concatenate([log["event_centre"] for log in logs])
    used, first, place = np.unique(events[:, CENTRE], return_index=True, return_inverse=True)
    order = np.argsort(first)  # parts hold the centres of the base's events too
    events[:, CENTRE] = np.argsort(order)[place]
    return {"event": events, "event_centre": centres[used[order]]}


def _without_ends(records: np.ndarray, present: list[int]) -> np.ndarray:
    """The records but those by which one of these clusters is gone, or part of another; and but mergers of
    which this leaves one part."""
    is_merger = np.isin(records[:, KIND], (MERGED, JOINED))
    is_end = (records[:, KIND] == GONE) | (is_merger & (records[:, PART] != records[:, CLUSTER]))
    stays = ~(is_end & np.isin(records[:, PART], present))
    n_parts = np.bincount(records[stays, CENTRE], minlength=records[:, CENTRE].max(initial=-1) + 1)
    return records[stays & ~(is_merger & (n_parts[records[:, CENTRE]] == 1))]


def _evict(learner: Learner, labels: np.ndarray) -> np.ndarray:  # INOUT learner
    """Evict nodes beyond the bound of a model that has one; returns the labels of all nodes afterwards."""
    state = learner.state
    if scalar(state, "n_nodes") <= learner.variant.max_nodes:
        return labels
    births = births_of(state)
    learn(state, np.empty((0, state.prototype.shape[1])), learner.variant, learner._adopt)
    learner.update_ids()
    index = index_by_birth(births_of(learner.state), births)
    return np.where(index == NONE, NO_CLUSTER, labels_of(learner)[index])
