"""The two nearest nodes, exactly, for less than the price of looking at every node exactly.

A float32 copy of the nodes (the *shadow*), centred on an anchor and divided by the spread, is searched
first: half the memory, twice the lanes. Rounding can move a shadow distance by no more than a bound we
know, so every node that could be among the true two nearest is found and measured again in float64, by
direct differences in feature order. The outcome has the bits of a plain search over all nodes.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import COARSE, jit, jit_allocating
from .lanes import LANES, _squared_distances, copy_row
from .spread import ANCHOR, MEAN, present_scale

FAR = np.float32(1e15)  # coordinate of a lane without a node
REACH_LIMIT = 1e12  # beyond: squares might leave float32
NEAR_LIMIT = 1e-20  # below: squares might vanish in float32
FLOAT32_SPACING = 2.0**-23
NOT_ANCHORED = 2**62  # strays of a shadow that was never cast
FEW = 8  # candidates that need no second thought


class Scratch(NamedTuple):
    """Working memory of a search, made once per call of the kernel."""

    shade: np.ndarray  # the sample as the shadow sees it
    rough: np.ndarray  # squared shadow distance to every node
    lowest: np.ndarray  # the smallest of them in every block


@jit_allocating
def new_scratch(state):
    """Room for the nodes there can be."""
    n_blocks, d, _ = state.shadow.shape
    return Scratch(
        np.empty(d, np.float32), np.empty(n_blocks * LANES, np.float32), np.empty(n_blocks, np.float32)
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
def cast_shadow(state, k):  # INOUT shadow, clock.reach
    """Copy node k into the shadow."""
    clock = state.clock[0]
    lane = state.shadow[k // LANES, :, k % LANES]
    norm = 0.0
    anchor, y = state.feature[ANCHOR], state.prototype[k]
    for j in range(anchor.shape[0]):
        value = (y[j] - anchor[j]) * clock.unit
        norm += value * value
        lane[j] = np.float32(value)
    clock.reach = max(clock.reach, math.sqrt(norm))


@jit
def clear_shadow(state, k):  # INOUT shadow
    """Empty lane k."""
    for j in range(state.shadow.shape[1]):
        state.shadow[k // LANES, j, k % LANES] = FAR


@jit
def drop_anchor(state):  # INOUT feature, shadow, clock.unit, clock.reach, clock.strays
    """Centre the shadow on the stream's mean and measure in units of its spread."""
    clock = state.clock[0]
    copy_row(state.feature[ANCHOR], state.feature[MEAN])
    # A power of two, so that nothing is rounded by it.
    clock.unit = 2.0 ** -math.floor(math.log2(present_scale(state)))
    clock.reach = 0.0
    clock.strays = 0
    for k in range(clock.n_nodes):
        cast_shadow(state, k)


@jit
def shade_sample(state, x, shade):  # INOUT shade
    """The sample in the shadow's coordinates; returns its norm there."""
    unit, anchor = state.clock[0].unit, state.feature[ANCHOR]
    norm = 0.0
    for j in range(x.shape[0]):
        value = (x[j] - anchor[j]) * unit
        norm += value * value
        shade[j] = np.float32(value)
    return math.sqrt(norm)


_rough_distances = jit(_squared_distances, COARSE)


def smallest_of(values):
    """The least value. Whatever the order it is taken in: flags let it run in vector registers."""
    least = values[0]
    for value in values:
        if value < least:
            least = value
    return least


smallest = jit(smallest_of, COARSE)


@jit
def rough_search(state, scratch):  # INOUT scratch.rough, scratch.lowest
    """Squared shadow distance to every node; returns the second smallest."""
    clock = state.clock[0]
    n_blocks = (clock.n_nodes + LANES - 1) // LANES
    best = second = np.float32(np.inf)
    b = clock.hot // LANES  # the last winner's block first: a tight bound spares the other blocks
    for _ in range(n_blocks):
        if b >= n_blocks:
            b = 0
        rough = scratch.rough[b * LANES : (b + 1) * LANES]
        _rough_distances(scratch.shade, state.shadow[b], LANES, rough)
        scratch.lowest[b] = smallest(rough)
        if scratch.lowest[b] < second:
            for value in rough:
                if value < best:
                    best, second = value, best
                elif value < second:
                    second = value
        b += 1
    return second


@jit
def rough_limit(state, norm, second):
    """Squared shadow distance up to which a node may be one of the true two nearest.

    With spacing u, coordinates are off by at most u/2 of their size and the sum by (d + 4)·u/2 of its
    own. Both are doubled here, which also covers the float64 roundings.
    """
    clock = state.clock[0]
    if not (norm + clock.reach < REACH_LIMIT and second > NEAR_LIMIT):
        return np.float32(np.inf)
    placing = FLOAT32_SPACING * (norm + clock.reach)
    summing = FLOAT32_SPACING * (state.shadow.shape[1] + 8)
    limit = (math.sqrt(second) * (1.0 + summing) + 2.0 * placing) * (1.0 + 2.0 * summing)
    return np.float32(limit * limit * (1.0 + FLOAT32_SPACING))


@jit
def nearest_two(state, x, scratch):  # INOUT scratch, clock.hot, clock.strays, (shadow)
    """(first, second, distance to each): nearest nodes to x, ties to the lowest index."""
    clock = state.clock[0]
    if clock.strays > 4 * clock.n_nodes:  # the stream has left the anchor
        drop_anchor(state)
    norm = shade_sample(state, x, scratch.shade)
    limit = rough_limit(state, norm, rough_search(state, scratch))
    first = second = -1
    to_first = to_second = np.inf
    n_measured = 0
    for b in range((clock.n_nodes + LANES - 1) // LANES):
        if scratch.lowest[b] > limit:
            continue
        for k in range(b * LANES, min((b + 1) * LANES, clock.n_nodes)):
            if scratch.rough[k] > limit:
                continue
            n_measured += 1
            away = distance(x, state.prototype[k])
            if away < to_first:
                first, second, to_first, to_second = k, first, away, to_first
            elif away < to_second:
                second, to_second = k, away
    clock.hot = first
    if n_measured > FEW:
        clock.strays += n_measured
    return first, second, to_first, to_second
