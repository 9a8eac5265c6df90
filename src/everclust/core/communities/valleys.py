"""Hand-over clusters with an eye for valleys: the read-out of `clusters="handover"`.

As in communities.py, Louvain, a path of mergers and the level where the nodes sit best (levels.py); but a
boundary is compared with what would cross it in one homogeneous cloud (boundaries.py). Groups are split
again where that shows a clear valley, and open boundaries are merged first. What Louvain finds depends on how
nodes are numbered, which means nothing, so that several numberings are tried.
"""

import math

import numpy as np

from ...jit.compile import jit, jit_allocating, kernel
from ..spread import WEIGHT
from ..state import State, clock_of
from ..topology import NO_CLUSTER
from .boundaries import ROUNDING, homogeneous, measure, new_cut, sort_by_group, strengths
from .communities import (
    FEWEST_LINKED,
    by_modularity,
    close_up,
    label_linked,
    label_others,
    louvain,
    mean_seat,
    new_graph,
    new_seating,
    seat_together,
)
from .levels import (
    consider,
    is_clearly_better,
    likeness,
    look_again,
    new_facing,
    new_level,
    share_known,
)

MOST_NUMBERINGS = 3
MOST_NODES = 1000  # in all numberings together: a read-out takes no longer than one of so many nodes
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def base_labels(state: State, base: np.ndarray, links: np.ndarray, valleys: bool = True) -> np.ndarray:
    """Cluster of every node in the base, numbered in the order of their lowest nodes."""
    if not valleys:
        return by_modularity(state, base, links)
    label, before = np.zeros(len(base), np.int64), compact(state.node["community"][base])
    known = share_known(int(clock_of(state).n_seen))
    find_clusters(state.prototype[base], state.feature[WEIGHT], links, before, known, label)
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

    `before`: their clusters when it was last decided about them, or NO_CLUSTER; `known`: the share of the
    samples that had come then.
    """
    strength = strengths(links, prototype.shape[0])
    linked = np.flatnonzero(strength)
    if linked.shape[0] < FEWEST_LINKED:
        return
    place = np.full(prototype.shape[0], -1)
    place[linked] = np.arange(linked.shape[0])
    position = prototype[linked] * np.sqrt(weight)
    group = np.zeros(prototype.shape[0], np.int64)
    links = numbered(links, place)
    group[linked] = cluster_linked(position, links, strength[linked], before[linked], known)
    label_linked(group, linked, label)
    label_others(strength, prototype, weight, linked, label)


@jit_allocating
def cluster_linked(position, links, g, before, known):
    """Cluster of every node, all of them linked: where they sit best; or as before, if they sit as well there
    but for chance."""
    n = position.shape[0]
    best, alike = new_level(n), new_level(n)
    for turn in range(max(1, min(MOST_NUMBERINGS, MOST_NODES // n))):
        group, n_groups = finest(position, links, numbering(n, turn))
        if n_groups > 1:
            cut = measure(position, links, g, group, n_groups)
            merge_down(position, g, cut, before, group, best, alike)
    stays = alike.worth[0] > 0.0 and not is_clearly_better(g, best.seat, alike.seat, known)
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
    n_waiting = close_up(group, np.arange(n))  # groups that are still to be looked at
    found, n_found = np.full(n, -1), 0
    place = np.empty(n, np.int64)
    while n_waiting > 0:
        inside = sort_by_group(links, group, n_waiting + 1)  # the last group are the nodes that are done
        n_parts = 0
        for c in range(n_waiting):
            nodes = inside.node[inside.node_start[c] : inside.node_start[c + 1]]
            part = split(position[nodes], links_inside(inside, c, place))
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
def links_inside(inside, c, place):  # INOUT place
    """Links inside of group c, its nodes numbered from 0."""
    first = inside.node_start[c]
    for m in range(first, inside.node_start[c + 1]):
        place[inside.node[m]] = m - first
    return numbered(inside.link[inside.link_start[c] : inside.link_start[c + 1]], place)


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
                    call_alike(united, a, b)
    close_up(united, np.arange(n_parts))
    return united[part]


@jit
def call_alike(name, a, b):  # INOUT name
    """All that are named like a or b are named like the lower one."""
    low, high = min(name[a], name[b]), max(name[a], name[b])
    for k in range(name.shape[0]):
        if name[k] == high:
            name[k] = low


@jit_allocating
def merge_down(position, g, cut, before, group, best, alike):  # INOUT best, alike
    """Merge down to two groups and look at every level: do nodes sit well, and is it like before?"""
    n = cut.mass.shape[0]
    W, E, mass = cut.crossing.copy(), cut.expected.copy(), cut.mass.copy()
    groups = np.arange(n)
    seating = new_seating(g, group, n, position)
    facing = new_facing(seating, groups)
    while True:
        consider(best, seating, mean_seat(seating.g, seating.seat))
        consider(alike, seating, likeness(seating, before, groups))
        if groups.shape[0] == 2:
            return
        a, b = next_pair(W, E, mass, groups)
        unite(W, a, b)
        unite(E, a, b)
        mass[a], mass[b] = mass[a] + mass[b], 0.0
        groups = groups[groups != b]
        seat_together(seating, a, b)
        look_again(facing, seating, groups, a, b)


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
