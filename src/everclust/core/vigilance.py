"""Re-estimation of the interval Λ and the vigilance threshold V from the newest samples."""

import math
from typing import NamedTuple

import numpy as np

from .jit import COARSE, ORDERLESS, jit, jit_allocating
from .lanes import LANES, copy_row, squared_distances, whole_strides
from .metric import weighted_squared_distances
from .quantiles import hazen
from .spread import WEIGHT, widest_scale

DETERMINANT_FLOOR = 1e-6
KEEP = -1


@jit_allocating
def recalibrate(state, reading):  # INOUT clock: interval, cluster_ratio, vigilance
    """Λ' from how many of the newest samples are still distinct, V' from how close these are."""
    clock = state.clock[0]
    n_probed = min(2 * clock.interval if reading.grows else clock.interval, clock.window_size)
    similar = new_similarities(state, n_probed)
    n_stable, n_rows = longest_stable(state, similar, n_probed, reading.capped)
    n_components = clock.n_nodes - clock.n_joins  # over all nodes, active or not
    interval, ratio = next_interval(clock, n_stable, n_components / clock.n_nodes, reading)
    if interval == KEEP:
        return
    for i in range(n_rows, interval):
        add_row(state, similar, i, reading.capped)
    clock.interval, clock.cluster_ratio = interval, ratio
    clock.vigilance = threshold(similar, interval, 1.0 - ratio)


@jit
def next_interval(clock, n_stable, ratio, reading):
    """(Λ', smoothed cluster ratio ρ'), or (KEEP, ·) when nothing is to change.

    The closed form of the shrink branch, the double smoothing of the grow branch and KEEP are departures
    from the printed text: see docs/algorithm.md, section 7.
    """
    interval, smoothed, n_window = clock.interval, clock.cluster_ratio, clock.window_size
    shrinks = reading.shrinks and n_stable < min(interval, n_window)
    if shrinks and n_stable < 2:
        return KEEP, smoothed
    if shrinks or not reading.grows:
        length = n_stable if shrinks else interval
        weight = (1.0 - 1.0 / interval) ** (length - 1)
        return length, weight * smoothed + (1.0 - weight) * ratio
    if n_window <= interval:
        return KEEP, smoothed
    end = min(2 * interval, n_window)
    length = longest_probe(interval, end, n_stable)
    smoothed = smooth(smoothed, ratio, interval)
    if length < end:
        smoothed = smooth(smoothed, ratio, length)
    return length, smoothed


@jit
def smooth(smoothed, ratio, interval):
    """ρ ← c/Λ + (1 − 1/Λ)·ρ."""
    return ratio / interval + (1.0 - 1.0 / interval) * smoothed


@jit
def longest_probe(interval, end, n_stable):
    """The last stable one of the lengths Λ+1, Λ+2, Λ+4, Λ+8 …, capped at end; Λ if the first fails."""
    longest, step = interval, 1
    while longest < end:
        probe = min(interval + step, end)
        if probe > n_stable:
            break
        longest = probe
        step *= 2
    return longest


class Similarities(NamedTuple):
    """S(i, j) of the newest samples, row by row, and what is needed to add a row."""

    rows: np.ndarray  # lower triangle; row i: similarity of the i-th newest to all newer ones
    points: np.ndarray  # these samples, in lanes
    factor: np.ndarray  # Cholesky factor of S
    closest: np.ndarray  # u_i, the largest similarity of each sample
    alpha: float  # 1 / max_k σ_k


@jit_allocating
def new_similarities(state, n):
    """Room for n rows. Rows are whole blocks long, so that loops may run over their ends."""
    d = state.window.shape[1]
    n_blocks = (n + LANES - 1) // LANES
    return Similarities(
        np.empty((n, n_blocks * LANES)),
        np.zeros((n_blocks, d, LANES)),
        np.empty((n, n_blocks * LANES)),
        np.empty(n),
        1.0 / widest_scale(state),
    )


@jit
def add_row(state, similar, i, capped):  # INOUT similar
    """S(i, j) = 1 / (1 + α·‖x_i − x_j‖) for all j < i."""
    x = state.window[(state.clock[0].window_head - 1 - i) % state.window.shape[0]]
    row = similar.rows[i]
    for b in range((i + LANES - 1) // LANES):
        start = b * LANES
        n = min(LANES, whole_strides(i - start))
        out = row[start : start + LANES]
        if capped:
            weighted_squared_distances(x, similar.points[b], n, state.feature[WEIGHT], out)
        else:
            squared_distances(x, similar.points[b], n, out)
    for j in range(whole_strides(i)):
        row[j] = 1.0 / (1.0 + similar.alpha * math.sqrt(row[j]))
    copy_row(similar.points[i // LANES, :, i % LANES], x)


def _two_dots(row, a, b, n):
    to_a = to_b = 0.0
    for k in range(n):
        to_a += row[k] * a[k]
        to_b += row[k] * b[k]
    return to_a, to_b


# These sums only tell whether a determinant is above a bound, so they need not be taken in order.
two_dots = jit(_two_dots, COARSE)


@jit
def eliminate(factor, i, similarity):  # INOUT factor
    """Row i of the Cholesky factor, two columns at a time; returns its pivot, the squared diagonal."""
    row = factor[i]
    for j in range(row.shape[0]):
        row[j] = 0.0
    pivot = 1.0
    for j in range(0, i, 2):
        a, b = factor[j], factor[min(j + 1, i)]
        to_a, to_b = two_dots(row, a, b, whole_strides(j))
        row[j] = (similarity[j] - to_a) * a[j]
        pivot -= row[j] * row[j]
        if j + 1 < i:
            row[j + 1] = (similarity[j + 1] - to_b - row[j] * b[j]) * b[j + 1]
            pivot -= row[j + 1] * row[j + 1]
    return pivot


@jit
def longest_stable(state, similar, n_probed, capped):  # INOUT similar
    """(longest stable length, rows computed), growing one Cholesky factor from the newest sample back.

    S has a unit diagonal, so no pivot exceeds 1 and the determinant never grows with the length: the
    first failure is the last word. The factor's diagonal holds the reciprocals.
    """
    root_determinant = 1.0
    for i in range(n_probed):
        add_row(state, similar, i, capped)
        pivot = eliminate(similar.factor, i, similar.rows[i])
        if not pivot > 0.0:
            return i, i + 1
        similar.factor[i, i] = 1.0 / math.sqrt(pivot)
        root_determinant *= math.sqrt(pivot)
        if not root_determinant * root_determinant >= DETERMINANT_FLOOR:
            return i, i + 1
    return n_probed, n_probed


def _raise(floor, values):
    """floor = max(floor, values), number by number; returns the largest value."""
    largest = 0.0
    for j in range(values.shape[0]):
        if values[j] > floor[j]:
            floor[j] = values[j]
        if values[j] > largest:
            largest = values[j]
    return largest


raise_to = jit(_raise, ORDERLESS)  # INOUT floor


@jit
def threshold(similar, n, level):  # INOUT similar.closest
    """Quantile of u_i = max_{j≠i} S(i, j) over the n newest samples."""
    for i in range(n):
        similar.closest[i] = raise_to(similar.closest[:i], similar.rows[i, :i])
    return hazen(similar.closest[:n], level)
