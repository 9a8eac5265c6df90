"""The two nearest nodes, exactly, for less than the price of looking at every node exactly.

A float32 copy of the nodes (the *shadow*), centred on an anchor and measured in units of the spread, is
searched first. Half of ‖x − y‖² − ‖x‖² is ‖y‖²/2 − x·y: one multiplication per number, in half the memory.
That form is good for nothing but a first look, so its rounding errors are bounded: the stored ‖y‖²/2 is
lowered by more than the node's share of them, and `rough_limit` allows for the sample's share. Every node
that could be among the true two nearest passes and is measured in float64, by direct differences in
feature order. The outcome has the bits of a plain search over all nodes.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import COARSE, jit, jit_allocating
from .lanes import LANES, copy_row
from .spread import ANCHOR, MEAN, present_scale

SPACING = 2.0**-23  # of float32: twice the largest relative rounding error
SAMPLE_LIMIT = 1e12  # samples farther from the anchor are compared with all nodes exactly
NODE_LIMIT = 1e15  # nodes farther from it stand in the shadow as FAR, which is nearer than they are
FAR = np.float32(4e29)
EMPTY_LANE = np.float32(np.inf)
NOT_ANCHORED = 2**62  # strays of a shadow that was never cast
NONE = -1
FEW = 8  # nodes measured in a search that need no second thought


class Scratch(NamedTuple):
    """Working memory of a search, made once per call of the kernel."""

    shade: np.ndarray  # the sample as the shadow sees it
    rough: np.ndarray  # lower bound of (‖x − y‖² − ‖x‖²)/2 for every node
    lowest: np.ndarray  # the least of them in every block


@jit_allocating
def new_scratch(state):
    """Room for the nodes there can be."""
    n_blocks, n_rows, _ = state.shadow.shape
    return Scratch(
        np.empty(n_rows - 1, np.float32),
        np.empty(n_blocks * LANES, np.float32),
        np.empty(n_blocks, np.float32),
    )


@jit
def distance(a, b):
    """Euclidean distance by direct differences: ‖a‖² − 2ab + ‖b‖² is wrong for near-duplicates."""
    total = 0.0
    for j in range(a.shape[0]):
        difference = a[j] - b[j]
        total += difference * difference
    return math.sqrt(total)


@jit
def rounding(n_features):
    """Twice the relative error of a float32 sum over the features."""
    return SPACING * (n_features + 4)


def _relocate(x, anchor, unit, out):
    """out = (x − anchor)·unit; returns its squared norm."""
    norm = 0.0
    for j in range(x.shape[0]):
        value = (x[j] - anchor[j]) * unit
        out[j] = value
        norm += value * value
    return norm


relocate = jit(_relocate, COARSE)  # INOUT out


@jit
def cast_shadow(state, k):  # INOUT shadow
    """Copy node k into the shadow."""
    d = state.prototype.shape[1]
    lane = state.shadow[k // LANES, :, k % LANES]
    norm = relocate(state.prototype[k], state.feature[ANCHOR], state.clock[0].unit, lane)
    lane[d] = norm * (0.5 - rounding(d))
    if not norm < NODE_LIMIT * NODE_LIMIT:
        for j in range(d):
            lane[j] = 0.0
        lane[d] = FAR


@jit
def drop_anchor(state):  # INOUT feature, shadow, clock.unit, clock.strays
    """Centre the shadow on the stream's mean and measure in units of its spread."""
    clock = state.clock[0]
    copy_row(state.feature[ANCHOR], state.feature[MEAN])
    # A power of two, so that nothing is rounded by it.
    clock.unit = 2.0 ** -math.floor(math.log2(present_scale(state)))
    clock.strays = 0
    for k in range(clock.n_nodes):
        cast_shadow(state, k)


def _look(shade, block, out):
    """Lower bounds for one block of nodes; returns the least of them."""
    d = shade.shape[0]
    for lane in range(LANES):
        out[lane] = block[d, lane]
    j = 0
    while j + 4 <= d:  # four features per pass keep the sums out of memory
        x0, x1, x2, x3 = shade[j], shade[j + 1], shade[j + 2], shade[j + 3]
        for lane in range(LANES):
            total = out[lane]
            total -= x0 * block[j, lane]
            total -= x1 * block[j + 1, lane]
            total -= x2 * block[j + 2, lane]
            total -= x3 * block[j + 3, lane]
            out[lane] = total
        j += 4
    while j < d:
        xj = shade[j]
        for lane in range(LANES):
            out[lane] -= xj * block[j, lane]
        j += 1
    least = out[0]
    for lane in range(LANES):
        if out[lane] < least:
            least = out[lane]
    return least


look = jit(_look, COARSE)  # INOUT out


@jit
def rough_search(state, scratch):  # INOUT scratch.rough, scratch.lowest
    """Lower bounds for all nodes; returns the two nodes with the least."""
    clock = state.clock[0]
    n_blocks = (clock.n_nodes + LANES - 1) // LANES
    best = second = EMPTY_LANE
    first = runner_up = 0
    b = clock.hot // LANES  # the last winner's block first: a tight bound spares the other blocks
    for _ in range(n_blocks):
        if b >= n_blocks:
            b = 0
        start = b * LANES
        rough = scratch.rough[start : start + LANES]
        scratch.lowest[b] = look(scratch.shade, state.shadow[b], rough)
        if scratch.lowest[b] < second:
            for lane in range(LANES):
                if rough[lane] < best:
                    best, second, first, runner_up = rough[lane], best, start + lane, first
                elif rough[lane] < second:
                    second, runner_up = rough[lane], start + lane
        b += 1
    return first, runner_up


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
        two = insert(two, k, distance(x, state.prototype[k]))
    return two


@jit
def nearest_two(state, x, scratch):  # INOUT scratch, clock.hot, clock.strays, (shadow)
    """(first, second, distance to each): nearest nodes to x, ties to the lowest index."""
    clock = state.clock[0]
    if clock.strays > 4 * clock.n_nodes:  # the stream has left the anchor
        drop_anchor(state)
    norm = relocate(x, state.feature[ANCHOR], clock.unit, scratch.shade)
    if not norm < SAMPLE_LIMIT * SAMPLE_LIMIT:
        clock.strays += clock.n_nodes
        return search_all(state, x)
    i, j = rough_search(state, scratch)
    two = insert((NONE, NONE, np.inf, np.inf), i, distance(x, state.prototype[i]))
    two = insert(two, j, distance(x, state.prototype[j]))
    limit = rough_limit(norm, x.shape[0], two[3] * clock.unit)
    n_measured = 0
    for b in range((clock.n_nodes + LANES - 1) // LANES):
        if scratch.lowest[b] <= limit:
            for k in range(b * LANES, min((b + 1) * LANES, clock.n_nodes)):
                if scratch.rough[k] <= limit and k != i and k != j:
                    two = insert(two, k, distance(x, state.prototype[k]))
                    n_measured += 1
    clock.hot = two[0]
    if n_measured > FEW:
        clock.strays += n_measured
    return two
