"""Levels that follow from the previous answer, where neither hand-overs nor silhouettes show clear clusters.

Samples in time order are near each other, so that a stream may need thousands of nodes with few hand-overs
each. If there are no clear clusters either, many cuts are about equally good, and Louvain finds others at
every read-out. The previous answer is about as good as any of them, so it is a level, too: the nodes that it
knew stay in their clusters. New nodes that hand over eight times as much among themselves as to others are
groups of their own, as newcomers are; the other new nodes join the group that they hand over most to.

Clusters that were reported at once, as newcomers and the parts of a cluster that divides, may be in the
middle of others, and the silhouette of the whole answer suffers. So its groups are merged down as on any
other path.

An early answer knows little, and would stay for too long. So none is a level before 5,000 hand-overs.
"""

import numpy as np

from ...jit.arrays import copied, highest_index, sum_of
from ...jit.compile import jit, jit_allocating
from ..layout import NO_CLUSTER
from .answer import best_level
from .boundaries import measure_boundaries
from .levels import joined_levels
from .linked_nodes import numbered_ids
from .newcomers import INWARD, connect
from .path import merge_down
from .undivided import count_known, has_few_handovers

FEWEST_HANDOVERS = 5000.0
HIGHEST_SCORE = 0.2  # mean silhouette of the best level; classes that come one by one have more


@jit_allocating
def with_previous(nodes, levels):
    """The levels, and after them those that follow from the previous answer, if it may stay."""
    if not may_stay(nodes, levels.score):
        return levels
    group = previous_groups(nodes)
    n_groups = count_known(group)
    if n_groups < 2:
        return levels
    cut = measure_boundaries(nodes.position, nodes.links, nodes.g, group, n_groups)
    return joined_levels(levels, merge_down(nodes, cut, group))


@jit_allocating
def may_stay(nodes, score):
    """Whether a previous answer is there, and late enough, and nothing shows clear clusters."""
    is_late = sum_of(nodes.g) >= 2.0 * FEWEST_HANDOVERS and count_known(nodes.before) > 0
    return is_late and has_few_handovers(nodes) and score[best_level(score)] <= HIGHEST_SCORE


@jit_allocating
def previous_groups(nodes):
    """Group of every node, numbered in the order in which they come."""
    group = known_groups(nodes.before, nodes.links)
    while join_most(nodes.links, group):
        pass
    return group


@jit_allocating
def known_groups(before, links):
    """Clusters of the nodes that the previous answer knew, groups of new nodes, and NO_CLUSTER for others."""
    is_apart = are_apart(before, links)
    name, n_before = connect(links, is_apart), highest_index(before) + 1
    inside, outside = count_sides(links, is_apart, name)
    group = copied(before)
    for k in range(group.shape[0]):
        if is_apart[k] and inside[name[k]] >= INWARD * outside[name[k]]:
            group[k] = n_before + name[k]
    return numbered_ids(group)


@jit_allocating
def are_apart(before, links):
    """Which nodes are new and hand over more to new nodes than to others."""
    lead = np.zeros(before.shape[0], np.int64)
    for e in range(links.shape[0]):
        i, j, count = links[e, 0], links[e, 1], links[e, 2]
        lead[i] += count if before[j] == NO_CLUSTER else -count
        lead[j] += count if before[i] == NO_CLUSTER else -count
    is_apart = np.empty(before.shape[0], np.bool_)
    for k in range(before.shape[0]):
        is_apart[k] = before[k] == NO_CLUSTER and lead[k] > 0
    return is_apart


@jit_allocating
def count_sides(links, is_apart, name):
    """Hand-overs of the nodes of every group of new nodes among each other, and to others."""
    sides = np.zeros((2, name.shape[0]), np.int64)
    for e in range(links.shape[0]):
        i, j = links[e, 0], links[e, 1]
        side = 0 if is_apart[i] and is_apart[j] else 1
        for k in (i, j):
            if is_apart[k]:
                sides[side, name[k]] += links[e, 2]
    return sides[0], sides[1]


@jit_allocating
def join_most(links, group):  # INOUT group
    """Every node without a group joins the one that it hands over most to, the first on ties.

    Returns whether some did: nodes that hand over to them only have yet to join.
    """
    shared = np.zeros((group.shape[0], highest_index(group) + 1), np.int64)
    for e in range(links.shape[0]):
        i, j, count = links[e, 0], links[e, 1], links[e, 2]
        for k, other in ((i, j), (j, i)):
            if group[k] == NO_CLUSTER and group[other] != NO_CLUSTER:
                shared[k, group[other]] += count
    has_joined = False
    for k in range(group.shape[0]):
        if group[k] == NO_CLUSTER:
            group[k] = first_of_most(shared[k])
            has_joined = has_joined or group[k] != NO_CLUSTER
    return has_joined


@jit
def first_of_most(shared):
    """The first of the groups with the most hand-overs, or NO_CLUSTER if there are none."""
    best, most = NO_CLUSTER, 0
    for c in range(shared.shape[0]):
        if shared[c] > most:
            best, most = c, shared[c]
    return best
