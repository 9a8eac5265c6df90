"""Newcomers: young nodes that hand over to each other and hardly to others, a sign of a new cluster.

A new node inside a known cluster hands over to the nodes around it, which are old. The nodes of a new cluster
are all young, and their hand-overs stay among them. Where such a cluster has a small share of the stream, the
read-out takes some thousand samples to find it; the sign is clear after some tens, and costs little.
"""

from typing import Any

import numpy as np

from ...jit.arrays import counted_up
from ...jit.compile import Direct, jit, jit_allocating, kernel
from ..handovers import births_of, bucket_of, index_of, new_buckets
from ..layout import NEVER, NO_CLUSTER, NONE
from ..state import State, scalar

FEWEST_NODES = 2
FEWEST_WINS = 16
CHECK_INTERVAL = 128  # samples between two checks of the youngest nodes, at least
MANY_NODES = 500
INWARD = 8  # hand-overs inside per hand-over to old nodes


def find_newcomers(state: State, first_birth: int, fewest: int = FEWEST_WINS) -> np.ndarray:
    """Group of every node of this birth or later, or NONE for those that are no newcomers.

    A group must have won at least `fewest` samples.
    """
    births = births_of(state)
    first = int(births.searchsorted(first_birth))
    if len(births) - first < FEWEST_NODES:
        return np.full(len(births) - first, NONE)
    return _direct.run(state.handover, births, state.node[: len(births)], first, fewest)


def newcomers_among(
    state: State, nodes: np.ndarray, first_birth: int, fewest: int = FEWEST_WINS
) -> np.ndarray | None:
    """Group of newcomers that each of these nodes is in, or NONE; None if there are no newcomers."""
    if first_birth == NEVER:
        return None
    young = find_newcomers(state, first_birth, fewest)
    if young.max(initial=NONE) == NONE:
        return None
    group = np.full(scalar(state, "n_nodes"), NONE)
    group[len(group) - len(young) :] = young
    return group[nodes]


def is_due(n_seen: int, n_nodes: int) -> bool:
    """Whether the youngest nodes are checked after this sample; a check of many nodes takes longer."""
    longer = 1 if n_nodes < MANY_NODES else 2 if n_nodes < 2 * MANY_NODES else 4
    return n_seen % CHECK_INTERVAL == 0 and n_seen % (longer * CHECK_INTERVAL) == 0


is_due_in_kernel = jit(is_due)


@jit_allocating
def has_newcomers(state, first_birth, fewest):
    """Whether some of the nodes of this birth or later are newcomers."""
    n_nodes = state.scalars[0].n_nodes
    first, wins = n_nodes, 0
    while first > 0 and state.node[first - 1].birth >= first_birth:
        first -= 1
        wins += state.node[first].wins
    n_young = n_nodes - first
    if n_young < FEWEST_NODES or wins < fewest:
        return False
    if n_young * n_young < state.handover.shape[0] and not _may_have_newcomers(state, first, fewest):
        return False
    births = np.empty(n_nodes, np.int64)
    for k in range(n_nodes):
        births[k] = state.node[k].birth
    group = _group_newcomers(state.handover, births, state.node, first, fewest)
    return highest_of(group) != NONE


@jit_allocating
def _may_have_newcomers(state, first, fewest):
    """Whether there are newcomers but for what nodes from `first` on hand over to those before them.

    There mostly are none, and to look up a few pairs takes less time than to read the whole table.
    """
    n = state.scalars[0].n_nodes - first
    inner, outer = np.zeros(n, np.int64), np.zeros(n, np.int64)
    links, n_links = np.empty((n * n, 2), np.int64), 0
    for b in range(n):
        for a in range(b):
            births = state.node[first + a].birth, state.node[first + b].birth
            count = state.handover[bucket_of(state, births[0], births[1])].count
            if count > 0:
                inner[a] += count
                inner[b] += count
                links[n_links, 0], links[n_links, 1] = a, b
                n_links += 1
    return highest_of(connect_newcomers(inner, outer, links[:n_links], state.node, first, fewest)) != NONE


@jit
def highest_of(group):
    """The highest of some groups, or NONE."""
    highest = NONE
    for k in range(group.shape[0]):
        highest = max(highest, group[k])
    return highest


@kernel
def group_newcomers(table, births, node, first, fewest):
    """Group of every node from `first` on, or NONE: those connected by hand-overs that stay among them."""
    return _group_newcomers(table, births, node, first, fewest)


@jit_allocating
def _group_newcomers(table, births, node, first, fewest):
    """The same, for kernels."""
    inner, outer, links = count_handovers(table, births, first)
    return connect_newcomers(inner, outer, links, node, first, fewest)


@jit_allocating
def connect_newcomers(inner, outer, links, node, first, fewest):
    """The same, given the hand-overs of the nodes from `first` on, and the pairs among them."""
    n = inner.shape[0]
    is_new = np.empty(n, np.bool_)
    for k in range(n):
        is_new[k] = inner[k] > outer[k]
    group = connect(links, is_new)
    totals = np.zeros((n, 4), np.int64)  # nodes, wins, hand-overs inside and outside
    for k in range(n):
        if is_new[k]:
            total = totals[group[k]]
            total[0] += 1
            total[1] += node[first + k].wins
            total[2] += inner[k]
            total[3] += outer[k]
    for k in range(n):
        total = totals[group[k]]
        is_large = total[0] >= FEWEST_NODES and total[1] >= fewest
        if not (is_new[k] and is_large and total[2] >= INWARD * (total[3] + 1)):
            group[k] = NONE
    return group


@jit_allocating
def count_handovers(table, births, first):
    """Hand-overs of the nodes from `first` on, among themselves and with nodes before them, and the pairs
    among themselves."""
    n = births.shape[0] - first
    inner, outer = np.zeros(n, np.int64), np.zeros(n, np.int64)
    rows, buckets = rows_from(table, births[first]), new_buckets(births)
    links, n_links = np.empty((rows.shape[0], 2), np.int64), 0
    for row in rows:
        a, b = index_of(births, buckets, table[row].a), index_of(births, buckets, table[row].b) - first
        if a == NONE or b < 0:
            continue
        if a >= first:
            inner[a - first] += table[row].count
            inner[b] += table[row].count
            links[n_links, 0], links[n_links, 1] = a - first, b
            n_links += 1
        else:
            outer[b] += table[row].count
    return inner, outer, links[:n_links]


@jit_allocating
def rows_from(table, birth):
    """Rows in use whose later node is of this birth or a later one."""
    rows, n = np.empty(table.shape[0], np.int64), 0
    for row in range(table.shape[0]):
        rows[n] = row
        n += (table[row].b >= birth) & (table[row].count > 0)  # an if would be mispredicted
    return rows[:n]


@jit_allocating
def connect(links, is_new):
    """Connected component of every new node, named by its lowest."""
    name = counted_up(is_new.shape[0])
    for e in range(links.shape[0]):
        if is_new[links[e, 0]] and is_new[links[e, 1]]:
            a, b = lowest_known(name, links[e, 0]), lowest_known(name, links[e, 1])
            name[max(a, b)] = min(a, b)
    for k in range(name.shape[0]):
        name[k] = name[name[k]]  # lower nodes have their names already
    return name


@jit
def lowest_known(name, k):
    """The lowest node that names lead to."""
    while name[k] != k:
        k = name[k]
    return k


_direct = Direct(group_newcomers)


def set_apart(group: np.ndarray, wins: np.ndarray, newcomers: np.ndarray) -> np.ndarray:
    """The groups of a read-out, without the newcomers inside of them.

    A group that newcomers hold most of is theirs already.

    Parameters
    ----------
    group, wins : ndarray of shape (n_nodes,)
        Group of every node, from 0, and the samples that it won.
    newcomers : ndarray of shape (n_nodes,)
        Group of newcomers that it is in, or NONE.
    """
    group, mass = group.copy(), np.bincount(group, wins)
    for c in np.unique(newcomers[newcomers != NONE]).tolist():
        nodes = np.flatnonzero(newcomers == c)
        shared = np.bincount(group[nodes], wins[nodes], len(mass))
        if (2 * shared < mass)[group[nodes]].all():
            group[nodes] = group.max() + 1
    return np.unique(group, return_inverse=True)[1]


def are_settled(
    newcomers: np.ndarray, reported: np.ndarray, is_young: np.ndarray, wins: np.ndarray
) -> np.ndarray:
    """Which newcomers are in a reported cluster to stay.

    The first nodes of a new cluster may be put into an old one, before it is clear that they are newcomers.
    They leave it when they are as many samples as a part of it must be to be reported. A cluster is not
    old if its nodes are mostly young, too.
    """
    is_part = (newcomers != NONE) & (reported != NO_CLUSTER)
    if not is_part.any():
        return is_part
    cluster = reported - NO_CLUSTER  # from 0 on
    is_old = 2 * np.bincount(cluster, is_young) <= np.bincount(cluster)
    may_leave = is_part & is_old[cluster]
    if may_leave.any():
        n_names = newcomers.max() + 1
        parts, place = np.unique(cluster[may_leave] * n_names + newcomers[may_leave], return_inverse=True)
        won = np.bincount(place, wins[may_leave]).astype(np.int64)
        n_rest = np.bincount(cluster, wins).astype(np.int64)[parts // n_names] - won
        is_part[may_leave] = ~is_large_part(won, n_rest)[place]
    return is_part


def is_large_part(n_won: Any, n_rest: Any) -> Any:
    """Whether a part of a cluster is larger than the sampling error of the size of the rest."""
    return n_won**2 >= n_rest
