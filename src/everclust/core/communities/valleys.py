"""Hand-over clusters by density valleys: the read-out of `clusters="handover"`.

Louvain gives the finest groups, a path of mergers coarser ones, and the silhouette chooses the level
(levels.py). Boundaries are compared with what would cross them in one homogeneous cloud (boundaries.py):
groups are split again where that shows a clear valley, and open boundaries are merged first. What Louvain
finds depends on the numbering of nodes, which is arbitrary, so several numberings are tried.
"""

import math

import numpy as np

from ...jit.compile import jit, jit_allocating, kernel
from ..layout import NO_CLUSTER
from ..state import State, scalar
from .boundaries import ROUNDING, homogeneous, measure_boundaries, new_cut, sort_by_group, strengths
from .levels import (
    consider,
    is_clearly_better,
    new_facing,
    new_level,
    overlap,
    share_known,
    update_facing,
)
from .linked_nodes import FEWEST_LINKED, label_linked, label_others
from .louvain import close_up, louvain, new_graph
from .silhouette import merge_groups, new_silhouette, weighted_mean

MOST_NUMBERINGS = 3
MOST_NODES = 1000  # in all numberings together: a read-out takes no longer than one of so many nodes
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def base_labels(state: State, base: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Cluster of every node in the base, numbered in the order of their lowest nodes."""
    label, before = np.zeros(len(base), np.int64), compact(state.node["community"][base])
    known = share_known(scalar(state, "n_seen"))
    find_clusters(state.prototype[base], state.weight, links, before, known, label)
    return label


def compact(ids: np.ndarray) -> np.ndarray:
    """Ids as numbers from 0 on; NO_CLUSTER stays."""
    named = ids != NO_CLUSTER
    number = np.full(len(ids), NO_CLUSTER)
    number[named] = np.unique(ids[named], return_inverse=True)[1]
    return number


@kernel
def find_clusters(prototype, weight, links, before, known, label):  # INOUT label
    """Label every node, given (i, j, count) of the pairs with hand-overs.

    `before`: their clusters at the last update of ids, or NO_CLUSTER; `known`: the share of the samples
    that had come by then.
    """
    strength = strengths(links, prototype.shape[0])
    linked = np.flatnonzero(strength)
    if linked.shape[0] < FEWEST_LINKED:
        return
    index = np.full(prototype.shape[0], -1)
    index[linked] = np.arange(linked.shape[0])
    position = prototype[linked] * np.sqrt(weight)
    group = np.zeros(prototype.shape[0], np.int64)
    links = numbered(links, index)
    group[linked] = cluster_linked(position, links, strength[linked], before[linked], known)
    label_linked(group, linked, label)
    label_others(strength, prototype, weight, linked, label)


@jit_allocating
def cluster_linked(position, links, g, before, known):
    """Cluster of every node, all of them linked: the best level, or the one closest to the last answer."""
    n = position.shape[0]
    best, alike = new_level(n), new_level(n)
    for turn in range(max(1, min(MOST_NUMBERINGS, MOST_NODES // n))):
        group, n_groups = finest(position, links, numbering(n, turn))
        if n_groups > 1:
            cut = measure_boundaries(position, links, g, group, n_groups)
            merge_down(position, g, cut, before, group, best, alike)
    stays = alike.score[0] > 0.0 and not is_clearly_better(g, best.value, alike.value, known)
    return alike.group if stays else best.group


@jit_allocating
def numbering(n, turn):
    """Numbers of nodes: as they are at first, then mixed by multiples of the golden ratio."""
    number = np.arange(n)
    if turn > 0:
        number[np.argsort(np.arange(n) * (turn * GOLDEN) % 1.0)] = np.arange(n)
    return number


@jit_allocating
def numbered(links, number):
    """The links of nodes with other numbers."""
    other = links.copy()
    for e in range(links.shape[0]):
        other[e, 0], other[e, 1] = number[links[e, 0]], number[links[e, 1]]
    return other


@jit_allocating
def finest(position, links, number):
    """Louvain, and Louvain again inside every group, as long as a clear valley is found there."""
    n = position.shape[0]
    group = louvain(new_graph(numbered(links, number), n))[number]
    n_waiting = close_up(group, np.arange(n))  # groups that may be split
    found, n_found = np.full(n, -1), 0
    index = np.empty(n, np.int64)
    while n_waiting > 0:
        inside = sort_by_group(links, group, n_waiting + 1)  # the last group are the nodes that are done
        n_parts = 0
        for c in range(n_waiting):
            nodes = inside.node[inside.node_start[c] : inside.node_start[c + 1]]
            part = split(position[nodes], links_inside(inside, c, index))
            n_new = part.max() + 1
            if n_new == 1:
                found[nodes] = n_found
                n_found += 1
            else:
                group[nodes] = n_parts + part
                n_parts += n_new
        n_waiting = n_parts
        group[found >= 0] = n_waiting
    return found, n_found


@jit_allocating
def links_inside(inside, c, index):  # INOUT index
    """Links inside of group c, its nodes numbered from 0."""
    first = inside.node_start[c]
    for m in range(first, inside.node_start[c + 1]):
        index[inside.node[m]] = m - first
    return numbered(inside.link[inside.link_start[c] : inside.link_start[c + 1]], index)


@jit_allocating
def split(position, links):
    """Part of every node of a group: pieces that a clear valley parts, W + √Σw² < E."""
    n = position.shape[0]
    whole = np.zeros(n, np.int64)
    graph = new_graph(links, n)
    if n <= FEWEST_LINKED or graph.strength.min() == 0:
        return whole
    part = louvain(graph)
    n_parts = close_up(part, np.arange(n))
    if n_parts < 2:
        return whole
    g = graph.strength.astype(np.float64)
    cut = new_cut(position, links, g, part, n_parts)
    inside = sort_by_group(links, part, n_parts)
    united, x = np.arange(n_parts), np.empty(n)
    for a in range(n_parts):
        for b in range(a + 1, n_parts):
            if cut.crossing[a, b] > 0.0 and united[a] != united[b]:
                expected = homogeneous(position, g, cut, inside, a, b, x)
                if cut.crossing[a, b] + math.sqrt(cut.squares[a, b]) >= (1.0 - ROUNDING) * expected:
                    unite_names(united, a, b)
    close_up(united, np.arange(n_parts))
    return united[part]


@jit
def unite_names(name, a, b):  # INOUT name
    """Give all groups named like a or b the lower name."""
    low, high = min(name[a], name[b]), max(name[a], name[b])
    for k in range(name.shape[0]):
        if name[k] == high:
            name[k] = low


@jit_allocating
def merge_down(position, g, cut, before, group, best, alike):  # INOUT best, alike
    """Merge down to two groups, and score every level by silhouette and by overlap with the last answer."""
    n = cut.mass.shape[0]
    W, E, mass = cut.crossing.copy(), cut.expected.copy(), cut.mass.copy()
    groups = np.arange(n)
    silhouette = new_silhouette(g, group, n, position)
    facing = new_facing(silhouette, groups)
    while True:
        consider(best, silhouette, weighted_mean(silhouette.g, silhouette.value))
        consider(alike, silhouette, overlap(silhouette, before, groups))
        if groups.shape[0] == 2:
            return
        a, b = next_pair(W, E, mass, groups)
        unite(W, a, b)
        unite(E, a, b)
        mass[a], mass[b] = mass[a] + mass[b], 0.0
        groups = groups[groups != b]
        merge_groups(silhouette, a, b)
        update_facing(facing, silhouette, groups, a, b)


@jit
def next_pair(W, E, mass, groups):
    """The open boundary that most exceeds its expectation; without one, the least loss of modularity."""
    total = mass.sum()
    best = (0, 0)
    most, any_open = -math.inf, False
    for m, a in enumerate(groups):
        for b in groups[m + 1 :]:
            open_here = W[a, b] > (1.0 + ROUNDING) * E[a, b]
            if any_open and not open_here:
                continue
            gain = W[a, b] - E[a, b] if open_here else W[a, b] * total - mass[a] * mass[b]
            if gain > most or (open_here and not any_open):
                best, most = (a, b), gain
            any_open = any_open or open_here
    return best


@jit
def unite(matrix, a, b):  # INOUT matrix
    """Sums of unions are the sums over their parts."""
    for c in range(matrix.shape[0]):
        matrix[a, c] += matrix[b, c]
        matrix[c, a] = matrix[a, c]
    matrix[a, a] = 0.0
