"""The finest groups: Louvain again inside every group, as long as a clear valley is found there.

Modularity is too coarse where there are many clusters.
"""

import math

import numpy as np

from ...jit.arrays import as_floats, counted_up, filled, highest_index, taken
from ...jit.compile import jit, jit_allocating
from ...jit.sorting import in_order
from ..layout import NONE
from .boundaries import ROUNDING, direction, flow, new_cut, sort_by_group
from .linked_nodes import FEWEST_LINKED, numbered
from .louvain import close_up, louvain, new_graph
from .undivided import unite_names


@jit_allocating
def finest(position, links, group):  # INOUT group
    """Louvain again inside every group, as long as a clear valley is found there."""
    n = position.shape[0]
    n_waiting = close_up(group)  # groups that may be split
    found, n_found = filled(n, NONE), 0
    index = np.empty(n, np.int64)
    while n_waiting > 0:
        inside = sort_by_group(links, group, n_waiting + 1)  # the last group are the nodes that are done
        n_parts = 0
        for c in range(n_waiting):
            nodes = inside.node[inside.node_start[c] : inside.node_start[c + 1]]
            part = split(in_order(position, nodes), links_inside(inside, c, index))
            n_new = highest_index(part) + 1
            for m in range(nodes.shape[0]):
                if n_new == 1:
                    found[nodes[m]] = n_found
                else:
                    group[nodes[m]] = n_parts + part[m]
            if n_new == 1:
                n_found += 1
            else:
                n_parts += n_new
        n_waiting = n_parts
        for k in range(n):
            if found[k] != NONE:
                group[k] = n_waiting
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
    if n <= FEWEST_LINKED or has_zero(graph.strength):
        return whole
    part = louvain(graph)
    n_parts = close_up(part)
    if n_parts < 2:
        return whole
    g = as_floats(graph.strength)
    cut = new_cut(position, links, g, part, n_parts)
    inside = sort_by_group(links, part, n_parts)
    united, x = counted_up(n_parts), np.empty(n)
    for a in range(n_parts):
        for b in range(a + 1, n_parts):
            are_linked = cut.crossing[a, b] > 0.0 and united[a] != united[b]
            if are_linked and not is_clear_valley(position, g, cut, inside, a, b, x):
                unite_names(united, a, b)
    close_up(united)
    return taken(united, part)


@jit_allocating
def is_clear_valley(position, g, cut, inside, a, b, x):  # INOUT x
    """Whether W + √Σw² < E of two groups. The lighter one mostly answers for both: E is the lesser of two."""
    most = cut.crossing[a, b] + math.sqrt(cut.squares[a, b])
    light, heavy = (a, b) if cut.mass[a] < cut.mass[b] else (b, a)
    u = direction(cut.centre[a], cut.centre[b])
    if most >= (1.0 - ROUNDING) * flow(position, g, inside, light, u, x):
        return False
    return most < (1.0 - ROUNDING) * flow(position, g, inside, heavy, u, x)


@jit
def has_zero(values):
    """Whether one of the numbers is 0."""
    n_zeros = 0
    for k in range(values.shape[0]):
        n_zeros += values[k] == 0
    return n_zeros > 0
