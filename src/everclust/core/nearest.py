"""The two nearest nodes, exactly, for less than the price of looking at every node exactly.

A float32 copy of the nodes (the *shadow*), centred on an anchor and measured in units of the spread, is
searched first. Half of ‖x − y‖² − ‖x‖² is ‖y‖²/2 − x·y: one multiplication per number, in half the memory.
That form is good for nothing but a first look, so its rounding errors are bounded: the stored ‖y‖²/2 is
lowered by more than the node's share of them, and `rough_limit` allows for the sample's share. Every node
that could be among the true two nearest passes and is measured in float64, by direct differences in
feature order. The outcome has the bits of a plain search over all nodes.

`shadow[b, j, l]` is feature j of node b·64 + l, the last row its lowered ‖y‖²/2.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit.blocks import LANES, copy_row, least
from ..jit.compile import COARSE, FUSED, jit, jit_allocating, jit_inlined
from ..jit.simd import load, lower, lowest, splat, store
from .metric import distance, two_distances
from .spread import ANCHOR, PLACE, UNIT, WEIGHT, present_scale
from .window import average

SPACING = 2.0**-23  # of float32: twice the largest relative rounding error
SAMPLE_LIMIT = 1e12  # samples farther from the anchor are compared with all nodes exactly
NODE_LIMIT = 1e15  # nodes farther from it stand in the shadow as FAR, which is nearer than they are
FAR = np.float32(4e29)
NO_NODE = np.float32(np.inf)  # bound of a lane without a node
NOUGHT = np.float32(0.0)
NOT_ANCHORED = 2**62  # strays of a shadow that was never cast
A, B, C, D = 0, 16, 32, 48  # where the four vectors of a block begin
FOUR = 4  # sums
NONE = -1
FEW = 8  # nodes measured in a search that need no second thought


class Scratch(NamedTuple):
    """Working memory of a search, made once per call of the kernel."""

    shade: np.ndarray  # the sample as the shadow sees it
    bound: np.ndarray  # lower bound of (‖x − y‖² − ‖x‖²)/2 for every node that is not measured yet
    least: np.ndarray  # the least of them in every block


@jit_allocating
def new_scratch(state):
    """Room for the nodes there can be."""
    n_blocks, n_rows, _ = state.shadow.shape
    return Scratch(
        np.empty(n_rows - 1, np.float32),
        np.empty((n_blocks, LANES), np.float32),
        np.empty(n_blocks, np.float32),
    )


@jit
def rounding(n_features):
    """Twice the relative error of a float32 sum over the features."""
    return SPACING * (n_features + 4)


@jit
def relocate(state, x):  # INOUT feature
    """PLACE = (x − ANCHOR)·UNIT: where x is for the shadow."""
    anchor, unit, place = state.feature[ANCHOR], state.feature[UNIT], state.feature[PLACE]
    for j in range(x.shape[0]):
        place[j] = (x[j] - anchor[j]) * unit[j]


def _squared_norm(x):
    norm = 0.0
    for j in range(x.shape[0]):
        norm += x[j] * x[j]
    return norm


squared_norm = jit(_squared_norm, COARSE)


@jit
def cast_shadow(state, k):  # INOUT shadow, feature
    """Copy node k into the shadow."""
    d = state.prototype.shape[1]
    column, place = state.shadow[k // LANES, :, k % LANES], state.feature[PLACE]
    relocate(state, state.prototype[k])
    norm = squared_norm(place)
    copy_row(column, place)
    column[d] = norm * (0.5 - rounding(d))
    if not norm < NODE_LIMIT * NODE_LIMIT:
        for j in range(d):
            column[j] = 0.0
        column[d] = FAR


@jit
def forget_shadow(state, k):  # INOUT shadow
    """There is no node k any more."""
    state.shadow[k // LANES, -1, k % LANES] = NO_NODE


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


def _look(shade, block, bound):
    """Lower bounds for one block of nodes; returns the least."""
    half_norm = block[shade.shape[0]]
    a, b, c, d = load(half_norm, A), load(half_norm, B), load(half_norm, C), load(half_norm, D)
    for j in range(shade.shape[0]):
        x, y = splat(shade[j]), block[j]
        a = a - x * load(y, A)
        b = b - x * load(y, B)
        c = c - x * load(y, C)
        d = d - x * load(y, D)
    store(bound, A, a)
    store(bound, B, b)
    store(bound, C, c)
    store(bound, D, d)
    return lowest(lower(lower(a, b), lower(c, d)))


def _look_narrowly(shade, block, start, bound):
    """Lower bounds for one vector of nodes; returns the least. Four sums are under way at once."""
    n = shade.shape[0]
    a, b = load(block[n], start), splat(NOUGHT)
    c = d = b
    n_whole = n - n % FOUR
    for j in range(0, n_whole, FOUR):
        a = a - splat(shade[j]) * load(block[j], start)
        b = b - splat(shade[j + 1]) * load(block[j + 1], start)
        c = c - splat(shade[j + 2]) * load(block[j + 2], start)
        d = d - splat(shade[j + 3]) * load(block[j + 3], start)
    for j in range(n_whole, n):
        a = a - splat(shade[j]) * load(block[j], start)
    a = (a + b) + (c + d)
    store(bound, start, a)
    return lowest(a)


look = jit(_look, FUSED)  # INOUT bound
look_narrowly = jit(_look_narrowly, FUSED)  # INOUT bound


@jit
def look_at_few(shade, block, n_nodes, bound):  # INOUT bound
    """The same as `look` where no more than half of the lanes have a node."""
    nearest = look_narrowly(shade, block, A, bound)
    store(bound, B, splat(NO_NODE))
    store(bound, C, splat(NO_NODE))
    store(bound, D, splat(NO_NODE))
    return min(nearest, look_narrowly(shade, block, B, bound)) if n_nodes > B else nearest


@jit
def rough_search(state, scratch):  # INOUT scratch.bound, scratch.least
    """Lower bounds for all nodes; returns the number of blocks."""
    n_nodes = state.clock[0].n_nodes
    n_blocks = (n_nodes + LANES - 1) // LANES
    for b in range(n_blocks):
        block, bound, n_left = state.shadow[b], scratch.bound[b], n_nodes - b * LANES
        if n_left > C:
            scratch.least[b] = look(scratch.shade, block, bound)
        else:
            scratch.least[b] = look_at_few(scratch.shade, block, n_left, bound)
    return n_blocks


@jit
def take_nearest(scratch, n_blocks, limit):  # INOUT scratch.bound, scratch.least
    """The node with the least bound, which is taken out; or NONE when no bound is within the limit."""
    b = 0
    for i in range(1, n_blocks):
        if scratch.least[i] < scratch.least[b]:
            b = i
    if not (scratch.least[b] <= limit and scratch.least[b] < NO_NODE):
        return NONE
    bound = scratch.bound[b]
    lane = 0
    while bound[lane] != scratch.least[b]:
        lane += 1
    bound[lane] = NO_NODE
    scratch.least[b] = least(bound)
    return b * LANES + lane


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


@jit_inlined
def nearest_two(state, x, scratch):  # INOUT scratch, clock.strays, (shadow)
    """(first, second, distance to each): nearest nodes to x, ties to the lowest index."""
    clock = state.clock[0]
    if clock.strays > 4 * clock.n_nodes:  # the stream has left the anchor
        drop_anchor(state)
    relocate(state, x)
    norm = squared_norm(state.feature[PLACE])
    copy_row(scratch.shade, state.feature[PLACE])
    if not norm < SAMPLE_LIMIT * SAMPLE_LIMIT:
        clock.strays += clock.n_nodes
        return search_all(state, x)
    n_blocks = rough_search(state, scratch)
    i, k = take_nearest(scratch, n_blocks, NO_NODE), take_nearest(scratch, n_blocks, NO_NODE)
    weight = state.feature[WEIGHT]
    to_i, to_k = two_distances(x, state.prototype[i], state.prototype[k], weight)
    two = insert((i, NONE, to_i, np.inf), k, to_k)
    limit, n_measured = rough_limit(norm, x.shape[0], two[3] * clock.unit * clock.stretch), 2
    k = take_nearest(scratch, n_blocks, limit)
    while k != NONE:
        two = insert(two, k, distance(x, state.prototype[k], weight))
        n_measured += 1
        k = take_nearest(scratch, n_blocks, limit)
    if n_measured > FEW:
        clock.strays += n_measured
    return two
