"""The two nodes nearest by CIM, exactly, without an exponential for every node and feature.

All nodes are looked at roughly first: in float32, many abreast, with exp(−u) as the 16th power of a short
Taylor series of exp(−u/16). That is wrong by less than TERM for one feature, and the float32 sum of d of
them by less than d·ROUNDING relatively. Only nodes that could be among the true two nearest are measured
with the formula itself. The outcome has the bits of a plain search over all nodes.
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.nearest import NONE, insert
from ...jit.blocks import LANES
from ...jit.compile import COARSE, jit, jit_allocating, kernel
from .cim import cim

TERM = 2e-6
ROUNDING = 2.0**-23
SIXTEENTH = math.sqrt(1.0 / 32.0)  # (|x − w|·SIXTEENTH/σ)² = u/16 with u = (x − w)²/(2σ²)
LARGEST_UNIT = 1e290
_ZERO, _ONE = np.float32(0), np.float32(1)
_T2, _T3, _T4, _T5 = np.float32(1 / 2), np.float32(-1 / 6), np.float32(1 / 24), np.float32(-1 / 120)


class Scratch(NamedTuple):
    """Working memory of a search, made once per call of a kernel."""

    away: np.ndarray  # one feature of one block of nodes
    similarity: np.ndarray  # Σ_j exp(−(x_j − w_j)²/(2σ²)) of every node, roughly


@jit_allocating
def new_scratch(nodes):
    """Room for the nodes there can be."""
    return Scratch(np.empty(LANES, np.float32), np.empty(nodes.weight.shape[0], np.float32))


def _coarse_similarities(x, block, unit, away, similarity):
    """Rough similarities of x and one block of nodes."""
    for lane in range(LANES):
        similarity[lane] = _ZERO
    for j in range(x.shape[0]):
        xj, w = x[j], block[j]
        for lane in range(LANES):
            away[lane] = (xj - w[lane]) * unit
        for lane in range(LANES):  # a loop of its own, for it is all float32: twice as many abreast
            v = min(away[lane] * away[lane], _ONE)  # exp(−16) is as good as 0
            power = _ONE + v * (-_ONE + v * (_T2 + v * (_T3 + v * (_T4 + v * _T5))))
            power *= power
            power *= power
            power *= power
            similarity[lane] += power * power


coarse_similarities = jit(_coarse_similarities, COARSE)  # INOUT away, similarity


@jit
def coarse_similarities_to_all(nodes, n, x, scale, scratch):  # INOUT scratch
    """Rough similarities of x and the first n nodes."""
    unit = min(SIXTEENTH / scale, LARGEST_UNIT)
    for b in range((n + LANES - 1) // LANES):
        similarity = scratch.similarity[b * LANES : (b + 1) * LANES]
        coarse_similarities(x, nodes.lanes[b], unit, scratch.away, similarity)


@jit
def second_largest(values):
    """The second largest of at least two values."""
    first = second = -np.inf
    for value in values:
        if value > first:
            first, second = value, first
        elif value > second:
            second = value
    return second


@jit
def least_similarity(similarity, d):
    """The rough similarity from which on a node may be one of the two nearest."""
    # Both this node and the second best may be wrong, in opposite directions.
    return second_largest(similarity) - 2.0 * d * (TERM + d * ROUNDING)


@jit
def nearest_two(nodes, n, x, scale, scratch):  # INOUT scratch
    """(first, second, CIM to each): nearest of the first n nodes to x, ties to the lowest index."""
    two = (NONE, NONE, np.inf, np.inf)
    coarse_similarities_to_all(nodes, n, x, scale, scratch)
    similarity = scratch.similarity[:n]
    least = least_similarity(similarity, x.shape[0])
    for k in range(n):
        if similarity[k] >= least:
            two = insert(two, k, cim(x, nodes.weight[k], scale))
    return two


@jit
def mean_gap(nodes, n, scale, scratch):  # INOUT scratch
    """Mean over the nodes of the least CIM to another node; NaN when there is no other."""
    if n < 2:
        return np.nan
    total = 0.0
    for k in range(n):
        # The node itself is at 0: one of the two nearest, and if not the second, then at the same CIM.
        total += nearest_two(nodes, n, nodes.weight[k], scale, scratch)[3]
    return total / n


@kernel
def assign(nodes, n, X, scale, winner):  # INOUT winner
    """Nearest of the first n nodes to every row, ties to the lowest index."""
    scratch = new_scratch(nodes)
    for i in range(X.shape[0]):
        winner[i] = nearest_two(nodes, n, X[i], scale, scratch)[0]
