"""The first read-out of hand-over clusters: modularity alone, at the level of the best silhouette.

The product reads clusters out with density valleys (everclust/core/communities); this one is kept for the
comparison.
"""

import math
from typing import NamedTuple

import numpy as np

from everclust.core.communities.linked_nodes import FEWEST_LINKED, by_first_node, label_others
from everclust.core.communities.louvain import close_up, louvain, new_graph
from everclust.core.communities.silhouette import merge_groups, new_silhouette, update_value, weighted_mean
from everclust.core.state import State
from everclust.jit.arrays import taken
from everclust.jit.compile import jit, jit_allocating, kernel

NO_PAIR = -(2**62)


def by_modularity(state: State, base: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Community of every node in the base, numbered in the order of their lowest linked nodes."""
    label = np.zeros(len(base), np.int64)
    find_communities(state.prototype[base], state.weight, links, label)
    return label


def find_communities(prototype, weight, links, label):  # INOUT label
    """Label every node, given (i, j, count) of the pairs with hand-overs."""
    strength = np.bincount(links[:, :2].ravel(), np.repeat(links[:, 2], 2), len(prototype))
    linked = np.flatnonzero(strength)
    if len(linked) >= FEWEST_LINKED:
        label[linked] = _find_groups(prototype, weight, links, linked)
        _label_others(strength, prototype, weight, linked, label)


@kernel
def _label_others(strength, prototype, weight, linked, label):  # INOUT label
    label_others(strength, prototype, weight, linked, label)


@kernel
def _find_groups(prototype, weight, links, linked):
    graph = new_graph(links, prototype.shape[0])
    group = louvain(graph)
    for k in range(group.shape[0]):
        if graph.strength[k] == 0:  # it weighs nothing, but needs a group
            group[k] = group[linked[0]]
    n_groups = close_up(group)
    if n_groups > 1:
        choose_level(graph, group, n_groups, linked, prototype, weight)
    return by_first_node(taken(group, linked))


class Path(NamedTuple):
    """Groups on their way from many to two. A merged group keeps the lower place, the other one is gone."""

    gain: np.ndarray  # (W_ab·Σ − G_a·G_b) of every pair
    alive: np.ndarray
    partner: np.ndarray  # best b > a of every place a, or -1


@jit_allocating
def new_path(graph, group, n_groups):
    """All pairs of groups, linked or not."""
    mass = np.zeros(n_groups, np.int64)
    for i in range(group.shape[0]):
        mass[group[i]] += graph.strength[i]
    total = mass.sum()
    gain = np.zeros((n_groups, n_groups), np.int64)
    for i in range(group.shape[0]):
        for e in range(graph.start[i], graph.start[i + 1]):
            gain[group[i], group[graph.other[e]]] += graph.amount[e] * total
    for a in range(n_groups):
        for b in range(n_groups):
            gain[a, b] -= mass[a] * mass[b]
    path = Path(gain, np.ones(n_groups, np.bool_), np.full(n_groups, -1))
    for a in range(n_groups):
        find_partner(path, a)
    return path


@jit
def find_partner(path, a):  # INOUT path.partner
    """The best b > a, the lowest on ties."""
    path.partner[a] = -1
    most = NO_PAIR
    for b in range(a + 1, path.alive.shape[0]):
        if path.alive[b] and path.gain[a, b] > most:
            most = path.gain[a, b]
            path.partner[a] = b


@jit
def best_pair(path):
    """The pair whose merger costs the least modularity, the lowest on ties."""
    best, most = -1, NO_PAIR
    for a in range(path.alive.shape[0]):
        b = path.partner[a]
        if path.alive[a] and b >= 0 and path.gain[a, b] > most:
            best, most = a, path.gain[a, b]
    return best, path.partner[best]


@jit
def merge(path, a, b):  # INOUT path
    """Group b joins group a < b. Gains add up: those of a union are the sums of its parts'."""
    path.alive[b] = False
    for c in range(path.alive.shape[0]):
        path.gain[a, c] += path.gain[b, c]
        path.gain[c, a] = path.gain[a, c]
    find_partner(path, a)
    for c in range(b):
        if path.alive[c] and c != a:
            p = path.partner[c]
            if p in (a, b):
                find_partner(path, c)
            elif c < a and (
                path.gain[c, a] > path.gain[c, p] or (path.gain[c, a] == path.gain[c, p] and a < p)
            ):
                path.partner[c] = a


@jit
def silhouette(nodes, alive):  # INOUT nodes.nearest, nodes.value
    """Simplified silhouette: Σ g_i·(b_i − a_i)/max(a_i, b_i) / Σ g_i."""
    for i in range(nodes.g.shape[0]):
        nearest = np.inf
        for a in range(alive.shape[0]):
            if alive[a] and a != nodes.group[i]:
                nearest = min(nearest, nodes.squared[i, a])
        update_value(nodes, i, nearest)
    return weighted_mean(nodes.g, nodes.value)


@jit_allocating
def choose_level(graph, group, n_groups, linked, prototype, weight):  # INOUT group
    """Merge down to two groups and go back to the level with the best silhouette, the finest on ties."""
    path = new_path(graph, group, n_groups)
    position = prototype[linked] * np.sqrt(weight)
    nodes = new_silhouette(graph.strength[linked], group[linked], n_groups, position)
    best = -math.inf
    n_left = n_groups
    while True:
        a, b = best_pair(path)
        still_gains = n_left > 2 and path.gain[a, b] > 0
        if not still_gains:
            score = silhouette(nodes, path.alive)
            if score > best:
                best = score
                for i in range(linked.shape[0]):
                    group[linked[i]] = nodes.group[i]
        if n_left == 2:
            return
        merge(path, a, b)
        merge_groups(nodes, a, b)
        n_left -= 1
