"""The two nearest nodes, exactly, by filter and refine.

Filter: a coarse float32 copy of the nodes, centred and measured in units of the spread, gives a lower bound
for every node. Half of ‖x − y‖² − ‖x‖² is ‖y‖²/2 − x·y: one multiplication per number, in half the memory.
Its rounding errors are bounded: the stored ‖y‖²/2 is lowered by more than the node's share of them, and
`coarse_limit` allows for the sample's share.

Refine: every node that could be among the true two nearest, usually two, is measured in float64 by direct
differences in feature order. The result has the bits of a plain search over all nodes.

`coarse[b, j, l]` is feature j of node b·64 + l, the last row its lowered ‖y‖²/2.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit.blocks import LANES, least
from ..jit.compile import COARSE, FUSED, jit, jit_allocating, jit_inlined
from ..jit.simd import load, lower, lowest, splat, store
from .layout import NONE, SPACING
from .metric import distance, two_distances
from .spread import present_scale
from .window import average

SAMPLE_LIMIT = 1e12  # samples farther from the centre are compared with all nodes exactly
NODE_LIMIT = 1e15  # nodes farther from it have the bound FARTHEST, which is nearer than they are
FARTHEST = np.float32(4e29)
NO_NODE = np.float32(np.inf)  # bound of a lane without a node
ZERO = np.float32(0.0)
V0, V1, V2, V3 = 0, 16, 32, 48  # where the four vectors of a block begin
UNROLL = 4  # sums under way at once
FEW_MEASURED = 8  # nodes: more of them in one search count as misses of the coarse copy


class Scratch(NamedTuple):
    """Working memory of a search, made once per call of the kernel."""

    sample: np.ndarray  # in the coordinates of the coarse copy
    bound: np.ndarray  # lower bound of (‖x − y‖² − ‖x‖²)/2 for every node that is not measured yet
    least: np.ndarray  # the least of them in every block


@jit_allocating
def new_scratch(state):
    """Room for the nodes there can be."""
    n_blocks, n_rows, _ = state.coarse.shape
    return Scratch(
        np.empty(n_rows - 1, np.float32),
        np.empty((n_blocks, LANES), np.float32),
        np.empty(n_blocks, np.float32),
    )


@jit
def rounding_error(n_features):
    """Twice the relative error of a float32 sum over the features."""
    return SPACING * (n_features + 4)


def _transform(state, x, out):
    """out = (x − coarse_centre)·coarse_scale: x in the coordinates of the coarse copy; returns its norm²."""
    centre, scale, norm = state.coarse_centre, state.coarse_scale, 0.0
    for j in range(x.shape[0]):
        position = (x[j] - centre[j]) * scale[j]
        out[j] = position
        norm += position * position
    return norm


transform = jit(_transform, COARSE)  # INOUT out


@jit
def update_coarse(state, k):  # INOUT coarse
    """Copy node k into the coarse copy."""
    d = state.prototype.shape[1]
    column = state.coarse[k // LANES, :, k % LANES]
    norm = transform(state, state.prototype[k], column)
    column[d] = norm * (0.5 - rounding_error(d))
    if not norm < NODE_LIMIT * NODE_LIMIT:
        for j in range(d):
            column[j] = 0.0
        column[d] = FARTHEST


@jit
def clear_coarse(state, k):  # INOUT coarse
    """Remove node k from the coarse copy."""
    state.coarse[k // LANES, -1, k % LANES] = NO_NODE


@jit
def recentre(state):  # INOUT coarse and all that belongs to it
    """Centre the coarse copy on the latest samples, where rounding is finest, in units of the spread."""
    scalars = state.scalars[0]
    average(state, state.coarse_centre)
    # A power of two, so that nothing is rounded by it.
    scalars.coarse_unit = 2.0 ** -math.floor(math.log2(present_scale(state)))
    scale, weight = state.coarse_scale, state.weight
    for j in range(scale.shape[0]):
        scale[j] = scalars.coarse_unit * math.sqrt(weight[j])
    scalars.coarse_stretch = 1.0
    scalars.n_coarse_misses = 0
    for k in range(scalars.n_nodes):
        update_coarse(state, k)


def _coarse_bounds(sample, block, bound):
    """Lower bounds for one block of nodes; returns the least."""
    half_norm = block[sample.shape[0]]
    a, b, c, d = load(half_norm, V0), load(half_norm, V1), load(half_norm, V2), load(half_norm, V3)
    for j in range(sample.shape[0]):
        x, y = splat(sample[j]), block[j]
        a = a - x * load(y, V0)
        b = b - x * load(y, V1)
        c = c - x * load(y, V2)
        d = d - x * load(y, V3)
    store(bound, V0, a)
    store(bound, V1, b)
    store(bound, V2, c)
    store(bound, V3, d)
    return lowest(lower(lower(a, b), lower(c, d)))


def _coarse_bounds_of_vector(sample, block, start, bound):
    """Lower bounds for one vector of nodes; returns the least. Four sums are under way at once."""
    n = sample.shape[0]
    a, b = load(block[n], start), splat(ZERO)
    c = d = b
    n_whole = n - n % UNROLL
    for j in range(0, n_whole, UNROLL):
        a = a - splat(sample[j]) * load(block[j], start)
        b = b - splat(sample[j + 1]) * load(block[j + 1], start)
        c = c - splat(sample[j + 2]) * load(block[j + 2], start)
        d = d - splat(sample[j + 3]) * load(block[j + 3], start)
    for j in range(n_whole, n):
        a = a - splat(sample[j]) * load(block[j], start)
    a = (a + b) + (c + d)
    store(bound, start, a)
    return lowest(a)


coarse_bounds = jit(_coarse_bounds, FUSED)  # INOUT bound
coarse_bounds_of_vector = jit(_coarse_bounds_of_vector, FUSED)  # INOUT bound


@jit
def coarse_bounds_of_few(sample, block, n_nodes, bound):  # INOUT bound
    """The same as `coarse_bounds` where no more than half of the lanes have a node."""
    nearest = coarse_bounds_of_vector(sample, block, V0, bound)
    store(bound, V1, splat(NO_NODE))
    store(bound, V2, splat(NO_NODE))
    store(bound, V3, splat(NO_NODE))
    return min(nearest, coarse_bounds_of_vector(sample, block, V1, bound)) if n_nodes > V1 else nearest


@jit
def coarse_search(state, scratch):  # INOUT scratch.bound, scratch.least
    """Lower bounds for all nodes; returns the number of blocks."""
    n_nodes = state.scalars[0].n_nodes
    n_blocks = (n_nodes + LANES - 1) // LANES
    for b in range(n_blocks):
        block, bound, n_left = state.coarse[b], scratch.bound[b], n_nodes - b * LANES
        if n_left > V2:
            scratch.least[b] = coarse_bounds(scratch.sample, block, bound)
        else:
            scratch.least[b] = coarse_bounds_of_few(scratch.sample, block, n_left, bound)
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
def coarse_limit(norm, n_features, to_second):
    """The largest lower bound that a node within a distance can have in the coarse copy.

    Coordinates were rounded too, which moves a node that near by no more than the second term.
    """
    reach = to_second * (1.0 + 1e-9) + SPACING * (2.0 * math.sqrt(norm) + to_second)
    limit = 0.5 * (reach * reach - norm) + rounding_error(n_features) * norm + 1e-30
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
def search_exactly(state, x):
    """`nearest_two` without the filter: measure every node."""
    two = (NONE, NONE, np.inf, np.inf)
    for k in range(state.scalars[0].n_nodes):
        two = insert(two, k, distance(x, state.prototype[k], state.weight))
    return two


@jit_inlined
def nearest_two(state, x, scratch):  # INOUT scratch, scalars.n_coarse_misses, (coarse)
    """(first, second, distance to each): nearest nodes to x, ties to the lowest index."""
    scalars = state.scalars[0]
    if scalars.n_coarse_misses > 4 * scalars.n_nodes:  # the stream has left the centre
        recentre(state)
    norm = transform(state, x, scratch.sample)
    if not norm < SAMPLE_LIMIT * SAMPLE_LIMIT:
        scalars.n_coarse_misses += scalars.n_nodes
        return search_exactly(state, x)
    n_blocks = coarse_search(state, scratch)
    i, k = take_nearest(scratch, n_blocks, NO_NODE), take_nearest(scratch, n_blocks, NO_NODE)
    weight = state.weight
    to_i, to_k = two_distances(x, state.prototype[i], state.prototype[k], weight)
    two = insert((i, NONE, to_i, np.inf), k, to_k)
    to_second = two[3] * scalars.coarse_unit * scalars.coarse_stretch
    limit, n_measured = coarse_limit(norm, x.shape[0], to_second), 2
    k = take_nearest(scratch, n_blocks, limit)
    while k != NONE:
        two = insert(two, k, distance(x, state.prototype[k], weight))
        n_measured += 1
        k = take_nearest(scratch, n_blocks, limit)
    if n_measured > FEW_MEASURED:
        scalars.n_coarse_misses += n_measured
    return two
