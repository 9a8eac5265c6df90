"""Present groups of nodes matched with clusters before, by the samples (wins) that they share.

These kernels do what takes a pass over nodes or links; what a change means is up to `everclust.model`.
"""

from typing import NamedTuple

import numpy as np

from ...jit.arrays import filled, highest_index
from ...jit.compile import jit, jit_allocating, kernel
from ...jit.sorting import place_in
from ..layout import NO_CLUSTER, NONE


class Members(NamedTuple):
    """Which cluster every node was in at the latest update of ids.

    Nodes are named by their births: indices of nodes change, births do not.
    """

    births: np.ndarray  # rising
    reported: np.ndarray  # id of the cluster that events have put the node in, or NO_CLUSTER
    candidate: np.ndarray  # id of the cluster that it was last found in without being reported, or NO_CLUSTER
    wins: np.ndarray  # at the latest check for absences, or when the node became a member


NO_MEMBERS = Members(*np.empty((4, 0), np.int64))


class Matched(NamedTuple):
    """Ids of groups of nodes, and how the groups overlap with the clusters before."""

    before: np.ndarray  # of every node: cluster reported, candidate, wins; all NO_CLUSTER for new members
    group_ids: np.ndarray
    next_id: int
    ids: np.ndarray  # of the clusters before
    shared: np.ndarray  # wins that each of these clusters has in common with each group
    main_child: np.ndarray  # group that keeps the id of each of these clusters, or NONE
    parent: np.ndarray  # id of the cluster with which every group shares the most, or NO_CLUSTER
    is_newborn: np.ndarray  # whether most samples of the group were won by nodes of no cluster before
    mass: np.ndarray  # wins of every group
    inner: np.ndarray  # hand-overs inside of every group, counted from both ends
    outer: np.ndarray  # and across its border


@kernel
def match_groups(members, births, wins, group, next_id, links):
    """The parent of a group is the cluster with which it shares the most wins. Of the children of a cluster,
    the one that shares the most with it inherits its id; the others get new ids, or in the same way those of
    candidates."""
    before = find_members(members, births)
    n_groups = highest_index(group) + 1
    group_ids = filled(n_groups, NO_CLUSTER)
    ids, shared = overlap_of(before[0], group, wins, n_groups)
    child = inherit(group_ids, ids, shared)
    mass = np.zeros(n_groups, np.int64)
    for k in range(group.shape[0]):
        mass[group[k]] += wins[k]
    parent, is_newborn = find_parents(ids, shared, mass)
    candidate = before[1].copy()
    for k in range(group.shape[0]):
        if group_ids[group[k]] != NO_CLUSTER:
            candidate[k] = NO_CLUSTER
    again, common = overlap_of(candidate, group, wins, n_groups)
    inherit(group_ids, again, common)
    for r in range(n_groups):
        if group_ids[r] == NO_CLUSTER:
            group_ids[r] = next_id
            next_id += 1
    inner, outer = count_inside(links, group, n_groups)
    return Matched(before, group_ids, next_id, ids, shared, child, parent, is_newborn, mass, inner, outer)


@jit_allocating
def find_members(members, births):
    """Reported cluster, candidate and wins of the nodes of these births; NO_CLUSTER for new ones."""
    before = np.empty((3, births.shape[0]), np.int64)
    m = 0
    for k in range(births.shape[0]):
        while m < members.births.shape[0] and members.births[m] < births[k]:
            m += 1
        is_known = m < members.births.shape[0] and members.births[m] == births[k]
        before[0, k] = members.reported[m] if is_known else NO_CLUSTER
        before[1, k] = members.candidate[m] if is_known else NO_CLUSTER
        before[2, k] = members.wins[m] if is_known else NO_CLUSTER
    return before


@jit_allocating
def overlap_of(old, group, wins, n_groups):
    """Ids before, and the wins that each of them shares with each group."""
    ids = distinct(old)
    shared = np.zeros((ids.shape[0], n_groups), np.int64)
    for k in range(old.shape[0]):
        if old[k] != NO_CLUSTER:
            shared[place_in(ids, old[k]), group[k]] += wins[k]
    return ids, shared


@jit_allocating
def distinct(ids):
    """The ids in rising order, each once, without NO_CLUSTER."""
    found, n = np.empty_like(ids), 0
    for k in range(ids.shape[0]):
        if ids[k] != NO_CLUSTER and place_in(found[:n], ids[k]) == NONE:
            m = n
            while m > 0 and found[m - 1] > ids[k]:
                found[m] = found[m - 1]
                m -= 1
            found[m] = ids[k]
            n += 1
    return found[:n].copy()


@jit_allocating
def inherit(group_ids, ids, shared):  # INOUT group_ids
    """Give the ids to groups; returns the group that has each of them, or NONE."""
    child = filled(ids.shape[0], NONE)
    for r in range(group_ids.shape[0]):
        parent = highest_row(shared, r)
        if parent != NONE and (child[parent] == NONE or shared[parent, r] > shared[parent, child[parent]]):
            child[parent] = r
    for i in range(ids.shape[0]):
        if child[i] != NONE:
            group_ids[child[i]] = ids[i]
    return child


@jit_allocating
def find_parents(ids, shared, mass):
    """Cluster with which each group shares the most, and whether the group is newborn nevertheless.

    A newcomer often has a node or two that lay at the edge of a neighbour: that is no split.
    """
    parent, is_newborn = filled(mass.shape[0], NO_CLUSTER), np.zeros(mass.shape[0], np.bool_)
    for r in range(mass.shape[0]):
        row, total = highest_row(shared, r), 0
        for i in range(ids.shape[0]):
            total += shared[i, r]
        if row != NONE:
            parent[r] = ids[row]
        is_newborn[r] = row == NONE or 2 * total < mass[r]
    return parent, is_newborn


@jit
def highest_row(table, column):
    """The first row with the highest number of a column, or NONE if none is above 0."""
    row, most = NONE, 0
    for i in range(table.shape[0]):
        if table[i, column] > most:
            row, most = i, table[i, column]
    return row


@jit_allocating
def count_inside(links, group, n_groups):
    """Hand-overs inside of every group, counted from both ends, and across its border."""
    inner, outer = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    for e in range(links.shape[0]):
        a, b, count = group[links[e, 0]], group[links[e, 1]], links[e, 2]
        if a == b:
            inner[a] += 2 * count
        else:
            outer[a] += count
            outer[b] += count
    return inner, outer


class Reported(NamedTuple):
    """What is reported of nodes, and of the clusters that they are reported to be in."""

    reported: np.ndarray  # id of the cluster of every node, or NO_CLUSTER
    candidate: np.ndarray
    since_check: np.ndarray
    ids: np.ndarray  # of the clusters
    sizes: np.ndarray  # their wins
    centres: np.ndarray
    joined: np.ndarray  # latest sample of nodes that were in no cluster before, or 0


@kernel
def report_nodes(base, matched, group, of_group, stays, node):
    """Cluster of every node: that of its group, unless it stays in the one it was in.

    `of_group`: the reported cluster of every group, or NO_CLUSTER; `stays`: ids of clusters that have merged,
    which was not reported.
    """
    before = matched.before.copy()
    reported, candidate, since_check = before[0], before[1], before[2]
    for k in range(group.shape[0]):
        now = of_group[group[k]]
        if now != NO_CLUSTER and place_in(stays, reported[k]) == NONE:
            reported[k] = now
        if since_check[k] == NO_CLUSTER:
            since_check[k] = base.wins[k]
    ids = distinct(reported)
    for k in range(group.shape[0]):
        present = matched.group_ids[group[k]]
        if place_in(ids, present) == NONE:
            candidate[k] = present
        elif place_in(ids, candidate[k]) != NONE:
            candidate[k] = NO_CLUSTER
    sizes, centres = measure_clusters(base, reported, ids)
    joined = np.zeros(ids.shape[0], np.int64)
    for k in range(group.shape[0]):
        if matched.before[0, k] == NO_CLUSTER and reported[k] != NO_CLUSTER:
            c = place_in(ids, reported[k])
            joined[c] = max(joined[c], node[base.nodes[k]].last_won)
    return Reported(reported, candidate, since_check, ids, sizes, centres, joined)


@jit_allocating
def measure_clusters(base, reported, ids):
    """Wins and centres of clusters."""
    sizes, centres = np.zeros(ids.shape[0], np.int64), np.zeros((ids.shape[0], base.position.shape[1]))
    for k in range(reported.shape[0]):
        if reported[k] != NO_CLUSTER:
            c = place_in(ids, reported[k])
            sizes[c] += base.wins[k]
            for j in range(centres.shape[1]):
                centres[c, j] += base.wins[k] * base.position[k, j]
    for c in range(ids.shape[0]):
        for j in range(centres.shape[1]):
            centres[c, j] /= sizes[c]
    return sizes, centres


class Arrivals(NamedTuple):
    """The members that are still there, with their present wins, and what has come to their clusters."""

    births: np.ndarray
    reported: np.ndarray
    candidate: np.ndarray
    wins: np.ndarray
    ids: np.ndarray  # of the clusters reported
    came: np.ndarray  # wins since the wins of the members were noted
    sizes: np.ndarray  # wins in all


@kernel
def count_arrivals(members, node, n_nodes):
    """Samples that have come to every reported cluster that has nodes."""
    there, came_to, n = np.empty((4, members.births.shape[0]), np.int64), np.empty_like(members.births), 0
    k = 0
    for m in range(members.births.shape[0]):
        while k < n_nodes and node[k].birth < members.births[m]:
            k += 1
        if k < n_nodes and node[k].birth == members.births[m]:
            there[0, n], there[1, n] = members.births[m], members.reported[m]
            there[2, n], there[3, n] = members.candidate[m], node[k].wins
            came_to[n] = node[k].wins - members.wins[m]
            n += 1
    ids = distinct(there[1, :n])
    came, sizes = np.zeros(ids.shape[0], np.int64), np.zeros(ids.shape[0], np.int64)
    for m in range(n):
        if there[1, m] != NO_CLUSTER:
            c = place_in(ids, there[1, m])
            came[c] += came_to[m]
            sizes[c] += there[3, m]
    return Arrivals(there[0, :n], there[1, :n], there[2, :n], there[3, :n], ids, came, sizes)
