"""Greedy modularity (Louvain) on hand-overs.

All comparisons are between integers, hence exact: a value w − g·G/Σg stands here times Σg.
"""

from typing import NamedTuple

import numpy as np

from ...jit.arrays import accumulate, copied, counted_up, highest_index, sum_of, taken
from ...jit.compile import jit, jit_allocating
from ...jit.sorting import counting_sort

MOST_PASSES = 100
INDEX = np.uint32  # numba checks whether an index is negative, unless its type is unsigned


class Graph(NamedTuple):
    """Symmetric weights, row by row, and the sum of every row, its self-loop included."""

    start: np.ndarray  # row i: from start[i] to start[i + 1]
    other: np.ndarray
    amount: np.ndarray
    strength: np.ndarray  # g


@jit_allocating
def new_graph(links, n_nodes):
    """The rows of a symmetric matrix from pairs."""
    start = np.zeros(n_nodes + 1, np.int64)
    for e in range(links.shape[0]):
        start[links[e, 0] + 1] += 1
        start[links[e, 1] + 1] += 1
    accumulate(start)
    end = copied(start)
    other, counts = np.empty(start[-1], INDEX), np.empty(start[-1], np.int64)
    for e in range(links.shape[0]):
        i, j, count = links[e, 0], links[e, 1], links[e, 2]
        other[end[i]], counts[end[i]] = j, count
        other[end[j]], counts[end[j]] = i, count
        end[i] += 1
        end[j] += 1
    strength = np.zeros(n_nodes, np.int64)
    for i in range(n_nodes):
        for e in range(start[i], start[i + 1]):
            strength[i] += counts[e]
    return Graph(start, other, counts, strength)


@jit_allocating
def renumbered(graph, number):
    """The graph with other numbers of the nodes."""
    n = number.shape[0]
    start, strength = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    for i in range(n):
        start[number[i] + 1] = graph.start[i + 1] - graph.start[i]
        strength[number[i]] = graph.strength[i]
    accumulate(start)
    other, amount = np.empty_like(graph.other), np.empty_like(graph.amount)
    for i in range(n):
        away = start[number[i]] - graph.start[i]
        for e in range(graph.start[i], graph.start[i + 1]):
            other[e + away], amount[e + away] = number[graph.other[e]], graph.amount[e]
    return Graph(start, other, amount, strength)


@jit_allocating
def new_groups(n):
    """Every node in a group of its own."""
    group = np.empty(n, INDEX)
    for k in range(n):
        group[k] = k
    return group


@jit_allocating
def louvain(graph):
    """Group of every node: greedy modularity, level by level, and once more on the nodes themselves."""
    n = graph.strength.shape[0]
    member = new_groups(n)  # super-node of every node
    level = graph
    while True:
        group = new_groups(level.strength.shape[0])
        if not move_all(level, group):
            break
        n_groups = close_up(group)
        for k in range(n):
            member[k] = group[member[k]]
        level = aggregate(level, group, n_groups)
    move_all(graph, member)
    return taken(counted_up(n), member)


@jit_allocating
def move_all(graph, group):  # INOUT group
    """Pass over all nodes until none moves; returns whether any has moved."""
    n = group.shape[0]
    total = sum_of(graph.strength)
    mass = np.zeros(n, np.int64)  # G_c
    for i in range(n):
        mass[group[i]] += graph.strength[i]
    towards = np.zeros(n, np.int64)  # w(i → c), zero between two uses
    linked = np.empty(n, INDEX)
    has_moved, n_settled = False, 0  # nodes that would stay, as none has moved since they were asked
    for _ in range(MOST_PASSES):
        for i in range(n):
            n_settled += 1
            if move(graph, group, mass, towards, linked, total, i):
                has_moved, n_settled = True, 1  # where it is now, it would stay
            if n_settled == n:
                break
        if n_settled == n:
            break
    return has_moved


@jit
def move(graph, group, mass, towards, linked, total, i):  # INOUT group, mass, towards, linked
    """Node i joins the linked group it gains most by, lowest label on ties, if that beats staying."""
    n_linked = 0
    for e in range(graph.start[i], graph.start[i + 1]):
        c = group[graph.other[e]]
        linked[n_linked] = c
        n_linked += towards[c] == 0  # an if would be mispredicted half of the time
        towards[c] += graph.amount[e]
    old, g = group[i], graph.strength[i]
    mass[old] -= g
    best, most = old, towards[old] * total - g * mass[old]
    for m in range(n_linked):
        c = linked[m]
        gain = towards[c] * total - g * mass[c]
        if gain > most or (gain == most and best != old and c < best):
            best, most = c, gain
        towards[c] = 0
    mass[best] += g
    group[i] = best
    return best != old


@jit_allocating
def close_up(group):  # INOUT group
    """Number the groups from 0, in the order of their labels; returns how many there are."""
    number = np.zeros(highest_index(group) + 1, np.int64)
    for k in range(group.shape[0]):
        number[group[k]] = 1
    accumulate(number)
    for k in range(group.shape[0]):
        group[k] = number[group[k]] - 1
    return number[-1]


@jit_allocating
def aggregate(graph, group, n_groups):
    """Groups as nodes. What is handed over inside of one stays in its strength alone."""
    n_most = min(graph.other.shape[0], n_groups * n_groups) + 1  # one more to write what does not count
    start, n = np.zeros(n_groups + 1, np.int64), 0
    other, amount = np.empty(n_most, INDEX), np.empty(n_most, np.int64)
    first, order = counting_sort(group, n_groups)
    strength, towards = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    for a in range(n_groups):
        for m in range(first[a], first[a + 1]):
            i = order[m]
            strength[a] += graph.strength[i]
            for e in range(graph.start[i], graph.start[i + 1]):
                towards[group[graph.other[e]]] += graph.amount[e]
        towards[a] = 0
        for b in range(n_groups):
            other[n], amount[n] = b, towards[b]
            n += towards[b] > 0
            towards[b] = 0
        start[a + 1] = n
    return Graph(start, other[:n], amount[:n], strength)
