"""The correntropy-induced metric (CIM), its bandwidth, and the nodes of CAE and CAEA."""

import math
from typing import NamedTuple

import numpy as np

from ...jit.blocks import LANES, copy_row
from ...jit.compile import jit
from ...jit.quantiles import hazen
from ..graph import graph as graphs
from ..graph.prototypes import new_blocks, put

FLAT = 1e-6  # replaces the standard deviation of a constant feature
SMALLEST = 1e-300  # smallest bandwidth whose reciprocal is finite
NEIGHBOUR = 10  # a neighbour of the winner moves this many times less than the winner would


@jit
def cim(x, w, scale):
    """√(1 − (1/d) Σ_j exp(−(x_j − w_j)²/(2σ²))), in [0, 1]."""
    total, d = 0.0, x.shape[0]
    for j in range(d):
        away = (x[j] - w[j]) / scale
        total += math.exp(-0.5 * (away * away))
    return math.sqrt(max(0.0, 1.0 - total / d))


@jit
def silverman(n, d):
    """(4/(2 + d))^{1/(4+d)} · n^{−1/(4+d)}: bandwidth per standard deviation, for n points."""
    power = 1.0 / (4.0 + d)
    return (4.0 / (2.0 + d)) ** power * float(n) ** -power


@jit
def deviation(square_sum, n):
    """Sample standard deviation, or FLAT if it is 0."""
    spread = math.sqrt(square_sum / (n - 1.0)) if n > 1 else 0.0
    return spread if spread > 0.0 else FLAT


@jit
def bandwidth(points, rows, mean, spread):  # INOUT mean, spread
    """σ(Z) of the given rows: Silverman's factor times the median standard deviation of the features."""
    n, d = rows.shape[0], points.shape[1]
    for j in range(d):
        mean[j] = spread[j] = 0.0
    for row in rows:
        for j in range(d):
            mean[j] += points[row, j]
    for j in range(d):
        mean[j] /= n
    for row in rows:
        for j in range(d):
            away = points[row, j] - mean[j]
            spread[j] += away * away
    for j in range(d):
        spread[j] = deviation(spread[j], n)
    return max(silverman(n, d) * hazen(spread, 0.5), SMALLEST)


@jit
def bandwidth_across(x):
    """σ of a single row as in MATLAB, whose `std` of a row vector is taken across the features."""
    total, d = 0.0, x.shape[0]
    for value in x:
        total += value
    mean, square_sum = total / d, 0.0
    for value in x:
        square_sum += (value - mean) * (value - mean)
    return max(silverman(1, d) * deviation(square_sum, d), SMALLEST)


class Nodes(NamedTuple):
    """Nodes in order of creation, as many as the graph has. Arrays have spare room."""

    weight: np.ndarray  # w_k
    lanes: np.ndarray  # the same in blocks of 64, for the search (see prototypes.py)
    usage: np.ndarray  # M_k
    scale: np.ndarray  # σ_k


def new_nodes(n_features: int, room: int = LANES) -> Nodes:
    """No nodes, with room for this many, a multiple of 64."""
    return Nodes(
        weight=np.zeros((room, n_features)),
        lanes=new_blocks(n_features, room),
        usage=np.zeros(room, np.int64),
        scale=np.zeros(room),
    )


def grow_nodes(nodes: Nodes, room: int) -> Nodes:
    """Copy the nodes with more room."""
    bigger = new_nodes(nodes.weight.shape[1], room)
    for old, new in zip(nodes, bigger, strict=True):
        new[: len(old)] = old
    return bigger


@jit
def add(nodes, graph, x, scale):  # INOUT nodes, graph
    """Add a node at x without edges."""
    k = graphs.add_node(graph)
    copy_row(nodes.weight[k], x)
    nodes.usage[k] = 1
    nodes.scale[k] = scale
    put(nodes.lanes, k, x)
    return k


@jit
def pull(nodes, k, x, divisor):  # INOUT nodes.weight, nodes.lanes
    """w_k += (x − w_k)/divisor."""
    w = nodes.weight[k]
    for j in range(x.shape[0]):
        w[j] += (x[j] - w[j]) / divisor
    put(nodes.lanes, k, w)


@jit
def pull_neighbours(nodes, graph, k, x):  # INOUT nodes.weight, nodes.lanes
    """w_n += (x − w_n)/(10 M_n) for every neighbour n of node k."""
    h = graph.first[k]
    while h != graphs.NONE:
        neighbour = graph.end[h]
        pull(nodes, neighbour, x, float(NEIGHBOUR * nodes.usage[neighbour]))
        h = graph.after[h]


@jit
def mean_scale(nodes, n):
    """σ̄, the mean of σ_k; NaN if there is no node."""
    total = 0.0
    for k in range(n):
        total += nodes.scale[k]
    return total / n if n > 0 else np.nan


@jit
def drop_isolated(nodes, graph, keep):  # INOUT nodes, graph, keep
    """Delete every node without an edge; returns σ̄ of the others."""
    n, n_kept = graph.size[0].n_nodes, 0
    for k in range(n):
        keep[k] = graph.degree[k] > 0
    for k in range(n):
        if keep[k]:
            if n_kept < k:
                move(nodes, k, n_kept)
            n_kept += 1
    graphs.drop_nodes(graph, keep)
    return mean_scale(nodes, n_kept)


@jit
def move(nodes, k, to):  # INOUT nodes
    """Copy node k to index `to`."""
    copy_row(nodes.weight[to], nodes.weight[k])
    nodes.usage[to] = nodes.usage[k]
    nodes.scale[to] = nodes.scale[k]
    put(nodes.lanes, to, nodes.weight[to])
