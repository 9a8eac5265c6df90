"""Hand-over clusters: another read-out of the same nodes, from how often they hand samples over.

Modularity says where hand-overs fall below chance (Louvain); its known vice, that it cuts a homogeneous
cloud as well, is undone by walking back along its own merges to the level where the nodes sit best.
All comparisons of hand-overs are between integers, hence exact: a value w − g·G/Σg stands here times Σg.
"""

import math
from typing import NamedTuple

import numpy as np

from ...jit.compile import COARSE, jit, jit_allocating, kernel
from ...jit.sorting import counting_sort
from ..handovers import births_of, find_pairs
from ..metric import distance
from ..spread import WEIGHT
from ..state import State, clock_of

MOST_PASSES = 100
FEWEST_LINKED = 3
LARGEST_TOTAL = 2**31  # of hand-overs, both directions: its square fits 64 bits
NO_PAIR = -(2**62)
INDEX = np.uint32  # numba looks whether an index is negative, unless none can be


class Graph(NamedTuple):
    """Symmetric weights, row by row, and the sum of every row, its self-loop included."""

    start: np.ndarray  # row i: from start[i] to start[i + 1]
    other: np.ndarray
    amount: np.ndarray
    strength: np.ndarray  # g


def base_nodes(state: State) -> np.ndarray:
    """B: nodes used more than once, or all nodes when there is none."""
    usage = state.node["usage"][: clock_of(state).n_nodes]
    return np.flatnonzero(usage > 1) if (usage > 1).any() else np.arange(len(usage))


def named_by_lowest(base: np.ndarray, label: np.ndarray, n_nodes: int) -> np.ndarray:
    """Community of every node, named by its lowest node. Nodes that are not in the base are alone."""
    group = np.arange(n_nodes)
    group[base] = base[np.unique(label, return_index=True)[1][label]]
    return group


def links_of(state: State, base: np.ndarray) -> np.ndarray:
    """(i, j, count) of the pairs of base nodes with hand-overs."""
    links = find_pairs(state.handover, births_of(state)[base])
    links[:, 2] = _bounded(links[:, 2])
    return links


def by_modularity(state: State, base: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Community of every node in the base, numbered in the order of their lowest linked nodes."""
    label = np.zeros(len(base), np.int64)
    find_communities(state.prototype[base], state.feature[WEIGHT], links, label)
    return label


def _bounded(count: np.ndarray) -> np.ndarray:
    """Counts halved until products of their sums fit 64 bits; after two thousand million samples only."""
    while 2 * count.sum() > LARGEST_TOTAL:
        count = (count + 1) // 2
    return count


@kernel
def find_communities(prototype, weight, links, label):  # INOUT label
    """Label every node, given (i, j, count) of the pairs with hand-overs."""
    graph = new_graph(links, prototype.shape[0])
    linked = np.flatnonzero(graph.strength)
    if linked.shape[0] < FEWEST_LINKED:
        return
    group = louvain(graph)
    n_groups = close_up(group, linked)
    if n_groups > 1:
        group[graph.strength == 0] = 0  # they weigh nothing, but need a place
        choose_level(graph, group, n_groups, linked, prototype, weight)
    label_linked(group, linked, label)
    label_others(graph.strength, prototype, weight, linked, label)


@jit_allocating
def new_graph(links, n_nodes):
    """The rows of a symmetric matrix from pairs."""
    start = np.zeros(n_nodes + 1, np.int64)
    for e in range(links.shape[0]):
        start[links[e, 0] + 1] += 1
        start[links[e, 1] + 1] += 1
    start = np.cumsum(start)
    fill = start[:-1].copy()
    other, counts = np.empty(start[-1], INDEX), np.empty(start[-1], np.int64)
    for e in range(links.shape[0]):
        i, j, count = links[e, 0], links[e, 1], links[e, 2]
        other[fill[i]], counts[fill[i]] = j, count
        other[fill[j]], counts[fill[j]] = i, count
        fill[i] += 1
        fill[j] += 1
    strength = np.zeros(n_nodes, np.int64)
    for i in range(n_nodes):
        for e in range(start[i], start[i + 1]):
            strength[i] += counts[e]
    return Graph(start, other, counts, strength)


@jit_allocating
def louvain(graph):
    """Group of every node: greedy modularity, level by level, and once more on the nodes themselves."""
    n = graph.strength.shape[0]
    member = np.arange(n).astype(INDEX)  # of which super-node
    level = graph
    while True:
        group = np.arange(level.strength.shape[0]).astype(INDEX)
        if not move_all(level, group):
            break
        n_groups = close_up(group, np.arange(group.shape[0]))
        for k in range(n):
            member[k] = group[member[k]]
        level = aggregate(level, group, n_groups)
    move_all(graph, member)
    return member.astype(np.int64)


@jit_allocating
def move_all(graph, group):  # INOUT group
    """Passes over all nodes until none moves; has any?"""
    n = group.shape[0]
    total = graph.strength.sum()
    mass = np.zeros(n, np.int64)  # G_c
    for i in range(n):
        mass[group[i]] += graph.strength[i]
    towards = np.zeros(n, np.int64)  # w(i → c), zero between two uses
    linked = np.empty(n, INDEX)
    has_moved = False
    for _ in range(MOST_PASSES):
        n_moves = 0
        for i in range(n):
            n_moves += move(graph, group, mass, towards, linked, total, i)
        if n_moves == 0:
            break
        has_moved = True
    return has_moved


@jit
def move(graph, group, mass, towards, linked, total, i):  # INOUT group, mass, towards, linked
    """Node i joins the linked group it gains most by, lowest label on ties, if that beats staying."""
    n_linked = 0
    for e in range(graph.start[i], graph.start[i + 1]):
        c = group[graph.other[e]]
        linked[n_linked] = c
        n_linked += towards[c] == 0  # an if would be guessed wrong half of the time
        towards[c] += graph.amount[e]
    home, g = group[i], graph.strength[i]
    mass[home] -= g
    best, most = home, towards[home] * total - g * mass[home]
    for c in linked[:n_linked]:
        gain = towards[c] * total - g * mass[c]
        if gain > most or (gain == most and best != home and c < best):
            best, most = c, gain
        towards[c] = 0
    mass[best] += g
    group[i] = best
    return best != home


@jit_allocating
def close_up(group, nodes):  # INOUT group
    """Number the groups of these nodes from 0, in the order of their labels; returns how many there are."""
    is_there = np.zeros(group.max() + 1, np.int64)
    for k in nodes:
        is_there[group[k]] = 1
    number = np.cumsum(is_there) - 1
    for k in nodes:
        group[k] = number[group[k]]
    return number[-1] + 1


@jit_allocating
def aggregate(graph, group, n_groups):
    """Groups as nodes. What is handed over inside of one stays in its strength alone."""
    between = np.empty((graph.other.shape[0], 3), np.int64)
    n = 0
    # Members of a group one after the other, so that each row is added up in one go.
    start, order = counting_sort(group, n_groups)
    towards = np.zeros(n_groups, np.int64)
    for a in range(n_groups):
        for i in order[start[a] : start[a + 1]]:
            for e in range(graph.start[i], graph.start[i + 1]):
                towards[group[graph.other[e]]] += graph.amount[e]
        for b in range(a + 1, n_groups):
            if towards[b] > 0:
                between[n, 0], between[n, 1], between[n, 2] = a, b, towards[b]
                n += 1
        towards[:] = 0
    strength = np.zeros(n_groups, np.int64)
    for i in range(group.shape[0]):
        strength[group[i]] += graph.strength[i]
    rows = new_graph(between[:n], n_groups)
    return Graph(rows.start, rows.other, rows.amount, strength)


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


class Seating(NamedTuple):
    """How the linked nodes sit among the centres of their groups."""

    g: np.ndarray
    group: np.ndarray
    size: np.ndarray  # nodes of every group
    mass: np.ndarray  # Σ g of every group
    centre: np.ndarray
    away: np.ndarray  # squared distance of every node to every centre
    nearest: np.ndarray  # squared distance of every node to the nearest centre of another group
    seat: np.ndarray  # (b − a)/max(a, b) of every node


@jit_allocating
def new_seating(g, group, n_groups, position):
    """Centres are g-weighted means."""
    n = position.shape[0]
    seating = Seating(
        g.astype(np.float64),
        group.copy(),
        np.zeros(n_groups, np.int64),
        np.zeros(n_groups),
        np.zeros((n_groups, position.shape[1])),
        np.empty((n, n_groups)),
        np.empty(n),
        np.empty(n),
    )
    for i in range(n):
        a = group[i]
        seating.size[a] += 1
        seating.mass[a] += g[i]
    for i in range(n):
        a = group[i]
        share = g[i] / seating.mass[a]
        for j in range(position.shape[1]):
            seating.centre[a, j] += share * position[i, j]
    for i in range(n):
        for a in range(n_groups):
            seating.away[i, a] = quick_square(position[i], seating.centre[a])
    return seating


def _quick_square(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


quick_square = jit(_quick_square, COARSE)  # for means over many nodes, which no single bit decides


@jit
def seat_together(seating, a, b):  # INOUT seating
    """Group b joins group a. Distances to the new centre follow from those to the old ones (Stewart)."""
    mass = seating.mass[a] + seating.mass[b]
    p, q = seating.mass[a] / mass, seating.mass[b] / mass
    apart = p * q * quick_square(seating.centre[a], seating.centre[b])
    for j in range(seating.centre.shape[1]):
        seating.centre[a, j] = p * seating.centre[a, j] + q * seating.centre[b, j]
    seating.mass[a] = mass
    seating.size[a] += seating.size[b]
    for i in range(seating.group.shape[0]):
        if seating.group[i] == b:
            seating.group[i] = a
        seating.away[i, a] = max(p * seating.away[i, a] + q * seating.away[i, b] - apart, 0.0)


@jit
def silhouette(seating, alive):  # INOUT seating.nearest, seating.seat
    """Simplified silhouette: Σ g_i·(b_i − a_i)/max(a_i, b_i) / Σ g_i."""
    for i in range(seating.g.shape[0]):
        nearest = np.inf
        for a in range(alive.shape[0]):
            if alive[a] and a != seating.group[i]:
                nearest = min(nearest, seating.away[i, a])
        seat(seating, i, nearest)
    return mean_seat(seating.g, seating.seat)


@jit
def seat(seating, i, nearest):  # INOUT seating.nearest, seating.seat
    """How well a node sits, given its squared distance to the nearest centre of another group."""
    home = seating.group[i]
    own = seating.away[i, home] if seating.size[home] > 1 else 0.0
    seating.nearest[i] = nearest
    if own < nearest:
        seating.seat[i] = 1.0 - math.sqrt(own / nearest)
    else:
        seating.seat[i] = math.sqrt(nearest / own) - 1.0 if own > nearest else 0.0


def _mean_seat(g, seat):
    total, weights = 0.0, 0.0
    for i in range(g.shape[0]):
        total += g[i] * seat[i]
        weights += g[i]
    return total / weights


mean_seat = jit(_mean_seat, COARSE)


@jit_allocating
def choose_level(graph, group, n_groups, linked, prototype, weight):  # INOUT group
    """Merge down to two groups and go back to the level where the nodes sit best, the finest on ties."""
    path = new_path(graph, group, n_groups)
    position = prototype[linked] * np.sqrt(weight)
    seating = new_seating(graph.strength[linked], group[linked], n_groups, position)
    best = -math.inf
    n_left = n_groups
    while True:
        a, b = best_pair(path)
        still_gains = n_left > 2 and path.gain[a, b] > 0
        if not still_gains:
            score = silhouette(seating, path.alive)
            if score > best:
                best = score
                for i in range(linked.shape[0]):
                    group[linked[i]] = seating.group[i]
        if n_left == 2:
            return
        merge(path, a, b)
        seat_together(seating, a, b)
        n_left -= 1


@jit_allocating
def label_linked(group, linked, label):  # INOUT label
    """Number the groups in the order of their first nodes."""
    number = np.full(group.max() + 1, -1)
    n = 0
    for k in linked:
        if number[group[k]] < 0:
            number[group[k]] = n
            n += 1
        label[k] = number[group[k]]


@jit
def label_others(strength, prototype, weight, linked, label):  # INOUT label
    """Nodes without hand-overs go with the nearest node that has some, the lowest on ties."""
    for k in range(label.shape[0]):
        if strength[k] == 0:
            nearest = np.inf
            for i in linked:
                away = distance(prototype[k], prototype[i], weight)
                if away < nearest:
                    nearest = away
                    label[k] = label[i]
