"""The two nearest nodes, exactly, for less than the price of looking at every node exactly.

A float32 copy of the nodes (the *shadow*), centred on an anchor and measured in units of the spread, is
searched first. Half of ‖x − y‖² − ‖x‖² is ‖y‖²/2 − x·y: one multiplication per number, in half the memory.
That form is good for nothing but a first look, so its rounding errors are bounded: the stored ‖y‖²/2 is
lowered by more than the node's share of them, and `rough_limit` allows for the sample's share. Every node
that could be among the true two nearest passes and is measured in float64, by direct differences in
feature order. The outcome has the bits of a plain search over all nodes.

`shadow[j, k]` is feature j of node k, the last row its lowered ‖y‖²/2.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import COARSE, jit, jit_allocating
from .metric import distance
from .spread import ANCHOR, UNIT, WEIGHT, present_scale
from .window import average

SPACING = 2.0**-23  # of float32: twice the largest relative rounding error
SAMPLE_LIMIT = 1e12  # samples farther from the anchor are compared with all nodes exactly
NODE_LIMIT = 1e15  # nodes farther from it stand in the shadow as FAR, which is nearer than they are
FAR = np.float32(4e29)
NO_NODE = np.float32(np.inf)  # bound of a column without a node
SHADOW_PADDING = 16  # columns beyond a power of two, lest a column's numbers share one cache set
NOT_ANCHORED = 2**62  # strays of a shadow that was never cast
BUNCH = 64  # nodes whose least bound is kept; arrays have room for whole bunches
NONE = -1
FEW = 8  # nodes measured in a search that need no second thought


class Scratch(NamedTuple):
    """Working memory of a search, made once per call of the kernel."""

    shade: np.ndarray  # the sample as the shadow sees it
    bound: np.ndarray  # lower bound of (‖x − y‖² − ‖x‖²)/2 for every node that is not measured yet
    least: np.ndarray  # the least of them in every bunch of nodes


@jit_allocating
def new_scratch(state):
    """Room for the nodes there can be."""
    n_rows, n_columns = state.shadow.shape
    return Scratch(
        np.empty(n_rows - 1, np.float32),
        np.empty(n_columns, np.float32),
        np.empty(n_columns // BUNCH + 1, np.float32),
    )


@jit
def rounding(n_features):
    """Twice the relative error of a float32 sum over the features."""
    return SPACING * (n_features + 4)


def _relocate(x, anchor, unit, out):
    """out = (x − anchor)·unit, number by number; returns its squared norm."""
    norm = 0.0
    for j in range(x.shape[0]):
        value = (x[j] - anchor[j]) * unit[j]
        out[j] = value
        norm += value * value
    return norm


relocate = jit(_relocate, COARSE)  # INOUT out


@jit
def cast_shadow(state, k):  # INOUT shadow
    """Copy node k into the shadow."""
    d = state.prototype.shape[1]
    column = state.shadow[:, k]
    norm = relocate(state.prototype[k], state.feature[ANCHOR], state.feature[UNIT], column)
    column[d] = norm * (0.5 - rounding(d))
    if not norm < NODE_LIMIT * NODE_LIMIT:
        for j in range(d):
            column[j] = 0.0
        column[d] = FAR


@jit
def drop_anchor(state):  # INOUT feature, shadow, clock.unit, clock.stretch, clock.strays
    """Centre the shadow on the latest samples, where rounding is finest; measure in units of the spread."""
    clock = state.clock[0]
    average(state, state.feature[ANCHOR])
    # A power of two, so that nothing is rounded by it.
    clock.unit = 2.0 ** -math.floor(math.log2(present_scale(state)))
    unit, weight = state.feature[UNIT], state.feature[WEIGHT]
    for j in range(unit.shape[0]):
        unit[j] = clock.unit * math.sqrt(weight[j])
    clock.stretch = 1.0
    clock.strays = 0
    for k in range(clock.n_nodes):
        cast_shadow(state, k)


def _look(shade, shadow, bound):
    """Lower bounds for as many nodes as there is room for."""
    d, n = shade.shape[0], bound.shape[0]
    half_norm = shadow[d]
    for k in range(n):
        bound[k] = half_norm[k]
    j = 0
    while j + 4 <= d:  # four features per pass spare three of four ways to memory
        x0, x1, x2, x3 = shade[j], shade[j + 1], shade[j + 2], shade[j + 3]
        y0, y1, y2, y3 = shadow[j], shadow[j + 1], shadow[j + 2], shadow[j + 3]
        for k in range(n):
            bound[k] = bound[k] - x0 * y0[k] - x1 * y1[k] - x2 * y2[k] - x3 * y3[k]
        j += 4
    while j < d:
        xj, yj = shade[j], shadow[j]
        for k in range(n):
            bound[k] -= xj * yj[k]
        j += 1


def _least_of(values):
    # Four at a time: no comparison waits for the one just before it.
    a, b, c, d = values[0], values[1], values[2], values[3]
    for k in range(4, BUNCH, 4):
        a = min(a, values[k])
        b = min(b, values[k + 1])
        c = min(c, values[k + 2])
        d = min(d, values[k + 3])
    return min(min(a, b), min(c, d))


look = jit(_look, COARSE)  # INOUT bound
least_of = jit(_least_of, COARSE)


@jit
def rough_search(state, scratch):  # INOUT scratch.bound, scratch.least
    """Lower bounds for all nodes; returns the number of bunches."""
    n_bunches = (state.clock[0].n_nodes + BUNCH - 1) // BUNCH  # columns without a node do no harm
    look(scratch.shade, state.shadow, scratch.bound[: n_bunches * BUNCH])
    for b in range(n_bunches):
        scratch.least[b] = least_of(scratch.bound[b * BUNCH : (b + 1) * BUNCH])
    return n_bunches


@jit
def take_nearest(scratch, n_bunches, limit):  # INOUT scratch.bound, scratch.least
    """The node with the least bound, which is taken out; or NONE when no bound is within the limit."""
    b = 0
    for i in range(1, n_bunches):
        if scratch.least[i] < scratch.least[b]:
            b = i
    if not (scratch.least[b] <= limit and scratch.least[b] < NO_NODE):
        return NONE
    bunch = scratch.bound[b * BUNCH : (b + 1) * BUNCH]
    k = 0
    while bunch[k] != scratch.least[b]:
        k += 1
    bunch[k] = NO_NODE
    scratch.least[b] = least_of(bunch)
    return b * BUNCH + k


@jit
def rough_limit(norm, n_features, to_second):
    """The largest lower bound that a node within a distance can have in the shadow.

    Coordinates were rounded too, which moves a node that near by no more than the second term.
    """
    reach = to_second * (1.0 + 1e-9) + SPACING * (2.0 * math.sqrt(norm) + to_second)
    limit = 0.5 * (reach * reach - norm) + rounding(n_features) * norm + 1e-30
    return np.float32(limit + SPACING * abs(limit))


@jit
def insert(two, k, away):
    """Make node k one of the nearest two if it is; ties go to the lowest index."""
    first, second, to_first, to_second = two
    if away < to_first or (away == to_first and k < first):
        return k, first, away, to_first
    if away < to_second or (away == to_second and k < second):
        return first, k, to_first, away
    return two


@jit
def search_all(state, x):
    """The same as `nearest_two`, the plain way."""
    two = (NONE, NONE, np.inf, np.inf)
    for k in range(state.clock[0].n_nodes):
        two = insert(two, k, distance(x, state.prototype[k], state.feature[WEIGHT]))
    return two


@jit
def nearest_two(state, x, scratch):  # INOUT scratch, clock.strays, (shadow)
    """(first, second, distance to each): nearest nodes to x, ties to the lowest index."""
    clock = state.clock[0]
    if clock.strays > 4 * clock.n_nodes:  # the stream has left the anchor
        drop_anchor(state)
    norm = relocate(x, state.feature[ANCHOR], state.feature[UNIT], scratch.shade)
    if not norm < SAMPLE_LIMIT * SAMPLE_LIMIT:
        clock.strays += clock.n_nodes
        return search_all(state, x)
    n_bunches = rough_search(state, scratch)
    two = (NONE, NONE, np.inf, np.inf)
    limit, n_measured = NO_NODE, 0
    k = take_nearest(scratch, n_bunches, limit)
    while k != NONE:
        two = insert(two, k, distance(x, state.prototype[k], state.feature[WEIGHT]))
        n_measured += 1
        if n_measured == 2:
            limit = rough_limit(norm, x.shape[0], two[3] * clock.unit * clock.stretch)
        k = take_nearest(scratch, n_bunches, limit)
    if n_measured > FEW:
        clock.strays += n_measured
    return two
