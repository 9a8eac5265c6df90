"""Permanent ids of clusters, updated at the very sample at which the topology changes.

Owner of the ids. A cluster is a component of active nodes. Each of its slots has a *cluster root*: the
root of the component at the last update, where the id and its age are stored. An update compares cluster
roots with present roots. It iterates in node order, not slot order: slot order is not saved.
Events are appended to a buffer in the state, which `everclust.model.ids.component_ids` reads.
"""

from typing import NamedTuple

import numpy as np

from ..jit.compile import jit, jit_allocating
from ..jit.reference import declare_lists, refer
from .affected import list_affected, list_changed_members, sort_by_node
from .layout import ALL_CHANGED, NO_CLUSTER, NONE, NONE_CHANGED
from .topology import root

GONE, SPLIT, MERGED, BORN = 0, 1, 2, 3  # in the order of events within one sample

N_SCRATCH_ROWS = 10  # of working memory: affected slots, marks, and the eight fields of Parts


class Parts(NamedTuple):
    """Slots with the same cluster root and the same present root are a part, named by the slot of its oldest
    node. All arrays are indexed by slots."""

    old_root: np.ndarray  # cluster root of every part; NONE for slots that name no part
    first_of_old: np.ndarray  # the first part of every cluster root, or NONE
    next_of_old: np.ndarray  # and the next one of every part
    first_of_new: np.ndarray  # the same for present roots
    next_of_new: np.ndarray
    mass: np.ndarray  # wins of every part
    cluster: np.ndarray  # the id that it keeps or is given
    since: np.ndarray


declare_lists(Parts, *Parts._fields)


@jit_allocating
def update_ids(state):  # INOUT slot, event, event_centre, scalars
    """Give the clusters their ids after this sample, and log what has happened to them."""
    _update_ids(state, np.empty((N_SCRATCH_ROWS, state.scalars[0].n_slots), np.int64))


@jit
def _update_ids(state, table):  # INOUT table, slot, event, event_centre, scalars
    """`update_ids` with working memory: every row has a number for each slot."""
    scalars = state.scalars[0]
    if scalars.n_changed == ALL_CHANGED:
        n = list_affected(state, table[0], table[1])
    else:
        n = list_changed_members(state, table[0], table[1])
    slots = table[0, :n]
    sort_by_node(state, slots)
    compare_roots(state, slots, table[2:])
    log_births(state, slots)
    scalars.n_changed = NONE_CHANGED


@jit
def compare_roots(state, slots, table):  # INOUT table, slot, event, event_centre, scalars
    """Compare cluster roots, from before this sample, with present roots."""
    parts = refer(Parts(table[0], table[1], table[2], table[3], table[4], table[5], table[6], table[7]))
    for s in slots:
        old, new = state.slot[s].cluster_root, root(state, s)
        for i in range(table.shape[0]):
            table[i, s] = NONE
            table[i, new] = NONE
            if old != NONE:
                table[i, old] = NONE
    find_parts(state, slots, parts)
    log_ends(state, slots, parts)
    for p in slots:
        old = parts.old_root[p]
        if old != NONE and parts.first_of_old[old] == p:
            divide_id(state, parts, old)
    for r in slots:
        inherit_id(state, parts, r)
    set_cluster_roots(state, slots, parts)
    log_splits(state, slots, parts)
    log_mergers(state, slots, parts)


@jit
def find_parts(state, slots, parts):  # INOUT parts
    """The parts of active slots that have a cluster root, in chains with the oldest first."""
    for s in slots:
        slot = state.slot[s]
        if slot.cluster_root == NONE or not state.node[slot.node].active:
            continue
        r = root(state, s)
        p = parts.first_of_new[r]
        while p != NONE and parts.old_root[p] != slot.cluster_root:
            p = parts.next_of_new[p]
        if p == NONE:
            p = s
            parts.old_root[p] = slot.cluster_root
            parts.mass[p] = 0
            append(p, parts.first_of_new, r, parts.next_of_new)
            append(p, parts.first_of_old, slot.cluster_root, parts.next_of_old)
        parts.mass[p] += state.node[slot.node].wins


@jit
def append(p, first, r, following):  # INOUT first, following
    """Put part p at the end of the chain of root r."""
    if first[r] == NONE:
        first[r] = p
        return
    last = first[r]
    while following[last] != NONE:
        last = following[last]
    following[last] = p


@jit
def log_ends(state, slots, parts):  # INOUT slot.cluster, event, event_centre
    """A record for every cluster without an active node."""
    for s in slots:
        old = state.slot[s].cluster_root
        if old == NONE or parts.first_of_old[old] != NONE:
            continue
        owner = state.slot[old]
        if owner.cluster != NO_CLUSTER:
            centre, mass = log_centre(state, slots, old)
            log_event(state, GONE, owner.cluster, owner.cluster, mass, centre)
            owner.cluster = NO_CLUSTER


@jit
def divide_id(state, parts, old):  # INOUT parts.cluster, parts.since, slot.cluster
    """The largest part of a cluster keeps its id, the oldest on ties; the others are given new ones."""
    owner, p = state.slot[old], parts.first_of_old[old]
    keeper = largest(p, parts.next_of_old, parts)
    while p != NONE:
        parts.cluster[p], parts.since[p] = owner.cluster, owner.since
        if p != keeper:
            parts.cluster[p], parts.since[p] = new_cluster(state), state.scalars[0].n_seen + 1
        p = parts.next_of_old[p]
    owner.cluster = NO_CLUSTER


@jit
def inherit_id(state, parts, r):  # INOUT slot.cluster, slot.since
    """The largest of the parts that have come together gives the cluster its id, the oldest on ties."""
    giver = largest(parts.first_of_new[r], parts.next_of_new, parts)
    if giver != NONE:
        owner = state.slot[r]
        owner.cluster, owner.since = parts.cluster[giver], parts.since[giver]


@jit
def largest(p, following, parts):
    """The part of a chain with the most wins."""
    best = p
    while p != NONE:
        if parts.mass[p] > parts.mass[best]:
            best = p
        p = following[p]
    return best


@jit
def set_cluster_roots(state, slots, parts):  # INOUT slot.cluster_root
    """Cluster roots are the present roots of components with an id; inactive nodes have none."""
    for s in slots:
        slot = state.slot[s]
        r = root(state, s)
        has_id = state.node[slot.node].active and parts.first_of_new[r] != NONE
        slot.cluster_root = r if has_id else NONE


@jit
def log_splits(state, slots, parts):  # INOUT event, event_centre
    """A record for every part of a cluster that was split."""
    for p in slots:
        old = parts.old_root[p]
        if old == NONE or parts.first_of_old[old] != p or parts.next_of_old[p] == NONE:
            continue
        keeper = largest(p, parts.next_of_old, parts)
        centre, _ = log_centre(state, slots, state.slot[keeper].cluster_root)
        while p != NONE:
            log_event(state, SPLIT, parts.cluster[keeper], parts.cluster[p], parts.mass[p], centre)
            p = parts.next_of_old[p]


@jit
def log_mergers(state, slots, parts):  # INOUT event, event_centre
    """A record for every part that was merged with others."""
    for p in slots:
        r = state.slot[p].cluster_root
        if parts.old_root[p] == NONE or parts.first_of_new[r] != p or parts.next_of_new[p] == NONE:
            continue
        centre, _ = log_centre(state, slots, r)
        while p != NONE:
            log_event(state, MERGED, state.slot[r].cluster, parts.cluster[p], parts.mass[p], centre)
            p = parts.next_of_new[p]


@jit
def log_births(state, slots):  # INOUT slot, event, event_centre, scalars
    """Components of active nodes without a cluster root are new clusters."""
    scalars = state.scalars[0]
    next_id = scalars.next_cluster
    for s in slots:
        slot = state.slot[s]
        if slot.cluster_root == NONE and state.node[slot.node].active:
            slot.cluster_root = root(state, s)
            owner = state.slot[slot.cluster_root]
            if owner.cluster == NO_CLUSTER:
                owner.cluster, owner.since = new_cluster(state), scalars.n_seen + 1
    if next_id == scalars.next_cluster:
        return
    for s in slots:  # new ids rise in this order
        r = state.slot[s].cluster_root
        if r != NONE and state.slot[r].cluster == next_id:
            centre, mass = log_centre(state, slots, r)
            log_event(state, BORN, next_id, next_id, mass, centre)
            next_id += 1


@jit
def new_cluster(state):  # INOUT scalars.next_cluster
    """An id that no cluster ever had."""
    scalars = state.scalars[0]
    scalars.next_cluster += 1
    return scalars.next_cluster - 1


@jit
def log_event(state, kind, cluster, part, size, centre):  # INOUT event, scalars.n_events
    """One more record; records of the same event have the same centre."""
    scalars = state.scalars[0]
    event = state.event[scalars.n_events]
    event.sample = scalars.n_seen + 1
    event.kind = kind
    event.cluster = cluster
    event.part = part
    event.size = size
    event.centre = centre
    scalars.n_events += 1


@jit
def log_centre(state, slots, r):  # INOUT event_centre, scalars.n_event_centres
    """(row of the mean of the nodes with cluster root r, weighted with their wins, and these)."""
    scalars = state.scalars[0]
    row = scalars.n_event_centres
    centre = state.event_centre[row]
    for j in range(centre.shape[0]):
        centre[j] = 0.0
    mass = 0
    for s in slots:
        slot = state.slot[s]
        if slot.cluster_root == r:
            wins, y = state.node[slot.node].wins, state.prototype[slot.node]
            mass += wins
            share = wins / mass
            for j in range(centre.shape[0]):
                centre[j] += (y[j] - centre[j]) * share
    scalars.n_event_centres += 1
    return row, mass
