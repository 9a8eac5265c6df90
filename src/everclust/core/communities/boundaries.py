"""What crosses the boundary between two groups of nodes, and what would if both were one cloud.

In a homogeneous cloud, as many hand-overs cross a boundary as cross any other plane through it at the same
angle. Where more cross, the boundary is *open*: there is no valley between the groups.
"""

import math
from typing import NamedTuple

import numpy as np

from ...jit.compile import COARSE, jit, jit_allocating
from ...jit.sorting import counting_sort, in_order

EXTENT = math.sqrt(12.0)  # of a uniform distribution, in standard deviations
ROUNDING = 1e-9  # counts are small integers, so ties are common and must not depend on rounding


class Cut(NamedTuple):
    """For every pair of groups, zero where they do not hand over to each other."""

    crossing: np.ndarray  # W: hand-overs
    squares: np.ndarray  # Σ w² over the links that cross
    heaviest: np.ndarray  # w of the heaviest of these links
    expected: np.ndarray  # geometric mean of what would cross in all, and at the nodes of the boundary
    mass: np.ndarray  # Σ g of every group
    centre: np.ndarray  # g-weighted


class Inside(NamedTuple):
    """Nodes and links of every group, one group after the other."""

    node_start: np.ndarray
    node: np.ndarray
    link_start: np.ndarray
    link: np.ndarray  # those that cross come last


@jit_allocating
def measure_boundaries(position, links, g, group, n_groups):
    """All boundaries between groups that hand over to each other."""
    cut = new_cut(position, links, g, group, n_groups)
    inside = sort_by_group(links, group, n_groups)
    at_boundary = count_boundary(links, group, n_groups)
    x, scratch = np.empty(group.shape[0]), np.empty((2, group.shape[0]))
    for a in range(n_groups):
        for b in range(a + 1, n_groups):
            if cut.crossing[a, b] > 0.0:
                plane = homogeneous(position, g, cut, inside, a, b, x)
                per_node = min(flow_per_node(inside, a, x, scratch), flow_per_node(inside, b, x, scratch))
                n_nodes = (at_boundary[a, b] + at_boundary[b, a]) / 2.0
                cut.expected[a, b] = cut.expected[b, a] = math.sqrt(plane * per_node * n_nodes)
    return cut


@jit_allocating
def homogeneous(position, g, cut, inside, a, b, x):  # INOUT x
    """E: what would cross if both groups were one cloud; x are the coordinates from one to the other."""
    u = direction(cut.centre[a], cut.centre[b])
    return min(flow(position, g, inside, a, u, x), flow(position, g, inside, b, u, x))


@jit_allocating
def new_cut(position, links, g, group, n_groups):
    """What crosses, and where the groups are."""
    pairs = np.zeros((4, n_groups, n_groups))
    mass, centre = np.zeros(n_groups), np.zeros((n_groups, position.shape[1]))
    for k in range(group.shape[0]):
        mass[group[k]] += g[k]
    for k in range(group.shape[0]):
        share = g[k] / mass[group[k]]
        for j in range(position.shape[1]):
            centre[group[k], j] += share * position[k, j]
    for e in range(links.shape[0]):
        i, j, count = links[e, 0], links[e, 1], links[e, 2]
        a, b = group[i], group[j]
        if a != b:
            for row, value in enumerate((float(count), float(count) * count)):
                pairs[row, a, b] += value
                pairs[row, b, a] = pairs[row, a, b]
            pairs[2, a, b] = pairs[2, b, a] = max(pairs[2, a, b], float(count))
    return Cut(pairs[0], pairs[1], pairs[2], pairs[3], mass, centre)


@jit_allocating
def sort_by_group(links, group, n_groups):
    """Which nodes, and which links, are inside of each group."""
    of_link = np.empty(links.shape[0], np.int64)
    for e in range(links.shape[0]):
        a, b = group[links[e, 0]], group[links[e, 1]]
        of_link[e] = a if a == b else n_groups
    node_start, node = counting_sort(group, n_groups)
    link_start, link = counting_sort(of_link, n_groups + 1)
    return Inside(node_start, node, link_start, in_order(links, link))


@jit_allocating
def count_boundary(links, group, n_groups):
    """[a, b]: nodes of group a that hand over to group b."""
    n = np.zeros((n_groups, n_groups))
    seen = np.zeros((group.shape[0], n_groups), np.bool_)
    for e in range(links.shape[0]):
        i, j = links[e, 0], links[e, 1]
        for k, other in ((i, group[j]), (j, group[i])):
            if group[k] != other and not seen[k, other]:
                seen[k, other] = True
                n[group[k], other] += 1
    return n


@jit_allocating
def direction(a, b):
    """Unit vector from a to b, or zero."""
    u = np.empty(a.shape[0])
    for j in range(u.shape[0]):
        u[j] = b[j] - a[j]
    length = math.sqrt(dot(u, u))
    for j in range(u.shape[0]):
        u[j] = u[j] / length if length > 0.0 else 0.0
    return u


@jit
def flow(position, g, inside, c, u, x):  # INOUT x
    """Hand-overs across a plane at right angles to u, the mean over all planes through the group."""
    variance = project(position, g, inside.node[inside.node_start[c] : inside.node_start[c + 1]], u, x)
    total = squares = weight = 0.0
    for e in range(inside.link_start[c], inside.link_start[c + 1]):
        i, j, count = inside.link[e, 0], inside.link[e, 1], inside.link[e, 2]
        span = abs(x[i] - x[j])
        total += count * span
        squares += count * span * span
        weight += count
    if weight == 0.0:
        return 0.0
    variance += squares / weight / 12.0  # a sample lies anywhere between two nodes
    return total / (EXTENT * math.sqrt(variance)) if variance > 0.0 else 0.0


@jit
def flow_per_node(inside, c, x, scratch):  # INOUT scratch
    """The same for every node that has a link across the plane, given the coordinates."""
    low, high = scratch[0], scratch[1]
    nodes = inside.node[inside.node_start[c] : inside.node_start[c + 1]]
    for k in nodes:
        low[k] = high[k] = x[k]
    total = reach = 0.0
    for e in range(inside.link_start[c], inside.link_start[c + 1]):
        i, j, count = inside.link[e, 0], inside.link[e, 1], inside.link[e, 2]
        total += count * abs(x[i] - x[j])
        low[i], high[i] = min(low[i], x[j]), max(high[i], x[j])
        low[j], high[j] = min(low[j], x[i]), max(high[j], x[i])
    for k in nodes:
        reach += high[k] - low[k]
    return 2.0 * total / reach if reach > 0.0 else 0.0


def _dot(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


dot = jit(_dot, COARSE)  # coordinates along a line, for their spread


@jit
def project(position, g, nodes, u, x):  # INOUT x
    """Coordinates of nodes along u; returns their g-weighted variance."""
    for k in nodes:
        x[k] = dot(position[k], u)
    return variance_along(g, nodes, x)[1]


@jit
def variance_along(g, nodes, x):
    """g-weighted mean and variance of the nodes' coordinates."""
    weight = total = squares = 0.0
    for k in nodes:
        weight += g[k]
        total += g[k] * x[k]
    mean = total / weight
    for k in nodes:
        squares += g[k] * (x[k] - mean) * (x[k] - mean)
    return mean, squares / weight
