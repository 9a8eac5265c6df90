"""Lower bounds for the distances of many rows to all candidates: the filter of filter and refine.

A coarse float32 copy of the candidates, centred and measured in a unit in which their coordinates are below
1, gives bounds at one multiplication per number, in tiles of four rows and 32 candidates whose sums stay in
registers. Most rows need nothing else; only candidates that the bounds cannot rule out are measured exactly,
with the bits of `readout.assign`.

Let x and y be a row and a candidate in these coordinates and s = (least σ/σ)², at most 1. The bound is

    L = s·((½ − E)·(‖x‖² + ‖y‖²) − x·y) − TINY,   E = 2⁻²³·(d + 8).

Half of the true s·d² is s·(‖x‖²/2 + ‖y‖²/2 − x·y). float32 rounds each number by 2⁻²⁴ of it, which moves x
and y and so changes s·d²/2 by no more than 2·2⁻²⁴·s·(‖x‖² + ‖y‖²), and a sum of d + 2 terms, whose absolute
values add up to s·(‖x‖² + ‖y‖²), by (d + 4)·2⁻²⁴ of that: together less than half of E·s·(‖x‖² + ‖y‖²). The
other half is far more than the rounding of the exact distances in float64, (d + 6)·2⁻⁵² of s·d². So L is
below s·d²/2, and never by more than `slack`. TINY is more than all that underflows.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit.blocks import LANES, aligned, copy_blocks, new_blocks
from ..jit.compile import FUSED, jit, jit_allocating, kernel
from ..jit.simd import WIDTH, load, lower, lowest, splat, store
from .layout import SPACING
from .readout import ReadOut, measure_vector

TINY = 1e-25
ROW_LIMIT = 1e16  # rows with a larger ‖x‖² are measured exactly
UNIT_LIMIT = 400  # of the exponent: in finer units, squares that underflow in float64 could be seen
N_ROWS = 16  # bounded at once
TILE_ROWS, TILE_LANES = 4, 32
EVERYTHING = np.float32(np.inf)
V0, V1 = 0, 16  # where the two vectors of a tile begin
#: Sums may be vectorised; a row far away may be infinite or NaN, which `ROW_LIMIT` excludes.
ANY_ORDER = {"contract", "reassoc", "nsz"}


class Coarse(NamedTuple):
    """A coarse copy of the candidates."""

    blocks: np.ndarray  # blocks[b, j, l]: s·y_j of candidate b·64 + l; then s·(½ − E), then s·‖y‖²·(½ − E)
    centre: np.ndarray
    scale: np.ndarray  # unit·√ω of every feature
    error: np.ndarray  # 2·E, and the largest ‖y‖²
    n_lanes: int  # with a candidate, rounded up to whole tiles


class Bounds(NamedTuple):
    """Working memory: bounds for so many rows."""

    sample: np.ndarray  # the rows in the coordinates of the coarse copy, and −‖x‖²
    norm: np.ndarray  # ‖x‖²
    bound: np.ndarray  # L of every candidate, infinite where there is none


def coarse_copy(read_out: ReadOut) -> Coarse:
    """Copy the candidates of a read-out."""
    n, d = len(read_out.node), read_out.blocks.shape[1]
    is_candidate = (np.arange(len(read_out.scale)) < n).reshape(-1, LANES)
    y = copy_blocks(read_out.blocks)
    y[-1, :, is_candidate[-1].sum() :] = 0.0
    centre = y.sum(axis=(0, 2)) / n
    root = np.sqrt(read_out.weight) if len(read_out.weight) else np.ones(d)
    y -= centre[:, None]
    y *= root[:, None]
    y[-1, :, is_candidate[-1].sum() :] = 0.0
    unit = 2.0 ** min(-math.frexp(max(y.max(), -y.min()))[1], UNIT_LIMIT)  # a power of two rounds nothing
    y *= unit
    norm = np.einsum("bjl,bjl->bl", y, y)
    s = ((read_out.scale[:n].min() / read_out.scale) ** 2).reshape(-1, LANES)
    half = 0.5 - SPACING * (d + 8)
    blocks = new_blocks(len(y), d + 2, np.float32)
    blocks[:, :d] = y * s[:, None]
    blocks[:, d] = s * half
    blocks[:, d + 1] = np.where(is_candidate, norm * s * half - TINY, np.inf)
    error = np.array([2 * SPACING * (d + 8), norm.max()])
    return Coarse(blocks, centre, root * unit, error, -(-n // TILE_LANES) * TILE_LANES)


@jit_allocating
def new_bounds(coarse):
    """Room for the bounds of a few rows."""
    n_blocks, n_rows, _ = coarse.blocks.shape
    sample = aligned(N_ROWS * (n_rows - 1), np.float32).reshape((N_ROWS, n_rows - 1))
    sample[:] = 0.0
    bound = aligned(N_ROWS * n_blocks * LANES, np.float32).reshape((N_ROWS, n_blocks * LANES))
    return Bounds(sample, np.empty(N_ROWS), bound)


@jit
def slack(coarse, norm):
    """By how much a bound can be too low, for a row with this ‖x‖²."""
    return coarse.error[0] * (norm + coarse.error[1]) + 2.0 * TINY


@jit
def round_up(limit):
    """A float32 that is not less."""
    return np.float32(limit + SPACING * abs(limit))


def _transform(coarse, x, out):
    """out = (x − centre)·scale; returns its norm²."""
    centre, scale, norm = coarse.centre, coarse.scale, 0.0
    for j in range(x.shape[0]):
        position = (x[j] - centre[j]) * scale[j]
        out[j] = position
        norm += position * position
    return norm


transform = jit(_transform, ANY_ORDER)  # INOUT out


@jit
def put_row(coarse, x, bounds, r):  # INOUT bounds.sample, bounds.norm
    """Make x row r; one that is too far away, whose bounds mean nothing, becomes 0."""
    sample, d = bounds.sample[r], x.shape[0]
    norm = transform(coarse, x, sample)
    bounds.norm[r] = norm
    if norm < ROW_LIMIT:
        sample[d] = -norm
    else:
        for j in range(d + 1):
            sample[j] = 0.0


def _bound_tile(bounds, r, block, lane, start):
    """Bounds of four rows from r on and 32 candidates, from `lane` of the block on, into `start`."""
    n = block.shape[0] - 1
    x0, x1, x2, x3 = bounds.sample[r], bounds.sample[r + 1], bounds.sample[r + 2], bounds.sample[r + 3]
    a0, b0 = load(block[n], lane + V0), load(block[n], lane + V1)
    a1 = a2 = a3 = a0
    b1 = b2 = b3 = b0
    for j in range(n):
        a, b = load(block[j], lane + V0), load(block[j], lane + V1)
        x = splat(x0[j])
        a0, b0 = a0 - x * a, b0 - x * b
        x = splat(x1[j])
        a1, b1 = a1 - x * a, b1 - x * b
        x = splat(x2[j])
        a2, b2 = a2 - x * a, b2 - x * b
        x = splat(x3[j])
        a3, b3 = a3 - x * a, b3 - x * b
    store(bounds.bound[r], start + V0, a0)
    store(bounds.bound[r], start + V1, b0)
    store(bounds.bound[r + 1], start + V0, a1)
    store(bounds.bound[r + 1], start + V1, b1)
    store(bounds.bound[r + 2], start + V0, a2)
    store(bounds.bound[r + 2], start + V1, b2)
    store(bounds.bound[r + 3], start + V0, a3)
    store(bounds.bound[r + 3], start + V1, b3)


bound_tile = jit(_bound_tile, FUSED)  # INOUT bounds.bound


@jit
def bound_rows(coarse, X, start, bounds):  # INOUT bounds
    """Bounds for the next rows of X; returns their number."""
    n = min(N_ROWS, X.shape[0] - start)
    for r in range(n):
        put_row(coarse, X[start + r], bounds, r)
    for k in range(0, coarse.n_lanes, TILE_LANES):
        block = coarse.blocks[k // LANES]
        for r in range(0, n, TILE_ROWS):
            bound_tile(bounds, r, block, k % LANES, k)
    return n


@jit
def least_bound(bound, n_lanes):
    """The least bound of a row."""
    a, b = load(bound, V0), load(bound, V1)
    for k in range(TILE_LANES, n_lanes, TILE_LANES):
        a, b = lower(a, load(bound, k + V0)), lower(b, load(bound, k + V1))
    return lowest(lower(a, b))


@jit
def nearest_limit(coarse, bounds, r):
    """The largest bound that the nearest candidate of row r can have."""
    norm = bounds.norm[r]
    if not norm < ROW_LIMIT:
        return EVERYTHING
    return round_up(least_bound(bounds.bound[r], coarse.n_lanes) + slack(coarse, norm))


@jit
def count_within(bound, n_lanes, limit):
    """(number of candidates within the limit, sum of their places, which is the place of a single one)."""
    n, total = 0, 0
    for k in range(n_lanes):
        within = bound[k] <= limit
        n += within
        total += within * k
    return n, total


@jit
def has_near(bound, start, limit):
    """Whether one of the candidates of a vector has a bound within the limit."""
    near = False
    for k in range(start, start + WIDTH):
        near |= bound[k] <= limit
    return near


@jit
def measure_nearest(read_out, x, bound, limit, squared):  # INOUT squared
    """(place, d/σ) of the nearest of the candidates whose bound is within the limit, exactly."""
    best, nearest = 0, np.inf
    for start in range(0, read_out.node.shape[0], WIDTH):
        if has_near(bound, start, limit):
            measure_vector(read_out, x, start, squared)
            for lane in range(WIDTH):
                ratio = math.sqrt(squared[lane]) / read_out.scale[start + lane]
                if ratio < nearest:
                    best, nearest = start + lane, ratio
    return best, nearest


@kernel
def assign_coarsely(read_out, coarse, X, winner, nearness):  # INOUT winner, nearness
    """`assign`, which measures only what the bounds leave open. An empty `nearness` is left as it is."""
    bounds, squared, n_lanes = new_bounds(coarse), aligned(WIDTH, np.float64), coarse.n_lanes
    is_measured = nearness.shape[0] > 0
    for start in range(0, X.shape[0], N_ROWS):
        for r in range(bound_rows(coarse, X, start, bounds)):
            i, bound = start + r, bounds.bound[r]
            limit = nearest_limit(coarse, bounds, r)
            n, k = count_within(bound, n_lanes, limit)
            if n != 1 or is_measured:
                k, nearest = measure_nearest(read_out, X[i], bound, limit, squared)
                if is_measured:
                    nearness[i] = nearest
            winner[i] = read_out.node[k]
