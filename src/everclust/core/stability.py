"""Similarities of the newest samples, and how many of these are still distinct.

Samples are taken eight abreast, newest first: lane l of block b is sample 8·b + l. A block is compared with
all samples up to its own last one, and so becomes eight rows of the similarity matrix S at once.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit.blocks import aligned, copy_row
from ..jit.compile import COARSE, FUSED, jit, jit_allocating
from ..jit.simd import WIDTH, higher, highest, load, splat, square_root, store

DETERMINANT_FLOOR = 1e-6
UNROLL = 4  # points, or columns, per pass: each has a sum of its own under way


class Similarities(NamedTuple):
    """S as far as it is known, and what is needed to go on."""

    rows: np.ndarray  # row b·n + j: S of the samples of block b and sample j of n; the diagonal is 0
    factor: np.ndarray  # Cholesky factor of S in the same places
    fresh: np.ndarray  # the samples of the latest block, feature by feature
    inverse: np.ndarray  # of the factor's diagonal
    closest: np.ndarray  # u_i, the largest similarity of each sample
    pivot: np.ndarray  # of the latest block: the diagonal squared, when its column's turn comes
    alpha: float  # 1 / max_k σ_k


@jit_allocating
def new_similarities(state, n, widest):
    """Working memory for n rows, in one piece: allocating a large one can take as long as filling it."""
    d, n_blocks = state.window.shape[1], (n + WIDTH - 1) // WIDTH
    size = n_blocks * WIDTH
    area = n_blocks * size
    room = aligned(2 * size + WIDTH + (2 * area + d) * WIDTH)
    abreast = room[2 * size + WIDTH :].reshape(-1, WIDTH)
    return Similarities(
        abreast[:area],
        abreast[area : 2 * area],
        abreast[2 * area :],
        room[:size],
        room[size : 2 * size],
        room[2 * size : 2 * size + WIDTH],
        1.0 / widest,
    )


@jit
def first_row(similar, b):
    """Where block b begins."""
    return b * similar.closest.shape[0]


@jit
def window_row(state, i):
    """Row of the window that holds the i-th newest sample."""
    return (state.scalars[0].window_head - 1 - i) & (state.window.shape[0] - 1)  # a power of two


@jit
def add_block(state, similar, b, capped):  # INOUT similar.rows, similar.fresh
    """S(i, j) = 1 / (1 + α·‖x_i − x_j‖) for the samples of block b."""
    start = b * WIDTH
    for lane in range(WIDTH):
        copy_row(similar.fresh[:, lane], state.window[window_row(state, start + lane)])
    rows = similar.rows[first_row(similar, b) :]
    for j in range(0, start + WIDTH, UNROLL):
        p, q, r, s = (
            window_row(state, j),
            window_row(state, j + 1),
            window_row(state, j + 2),
            window_row(state, j + 3),
        )
        four = state.window[p], state.window[q], state.window[r], state.window[s]
        if capped:
            compare_four_weighted(similar, four, state.weight, rows[j : j + UNROLL])
        else:
            compare_four(similar, four, rows[j : j + UNROLL])
    for lane in range(WIDTH):
        rows[start + lane, lane] = 0.0


@jit
def block_similarity(squared_distance, alpha):
    """S from squared distances. Strict, unlike its callers: thresholds are compared with such numbers."""
    one = splat(1.0)
    return one / (one + splat(alpha) * square_root(squared_distance))


def _compare_four(similar, four, rows):
    """S of the block's samples and four others; squared differences are added up in feature order."""
    p, q, r, s = four
    a = b = c = d = splat(0.0)
    for j in range(p.shape[0]):
        x = load(similar.fresh[j], 0)
        difference = x - splat(p[j])
        a = a + difference * difference
        difference = x - splat(q[j])
        b = b + difference * difference
        difference = x - splat(r[j])
        c = c + difference * difference
        difference = x - splat(s[j])
        d = d + difference * difference
    store(rows[0], 0, block_similarity(a, similar.alpha))
    store(rows[1], 0, block_similarity(b, similar.alpha))
    store(rows[2], 0, block_similarity(c, similar.alpha))
    store(rows[3], 0, block_similarity(d, similar.alpha))


def _compare_four_weighted(similar, four, weight, rows):
    """The same in the capped metric."""
    for i in range(UNROLL):
        y, total = four[i], splat(0.0)
        for j in range(y.shape[0]):
            difference = load(similar.fresh[j], 0) - splat(y[j])
            total = total + difference * difference * splat(weight[j])
        store(rows[i], 0, block_similarity(total, similar.alpha))


compare_four = jit(_compare_four, FUSED)  # INOUT rows
compare_four_weighted = jit(_compare_four_weighted, FUSED)  # INOUT rows


def _subtract_earlier(similar, b, j):
    """Four columns of block b of the factor, less what the columns before these explain."""
    target, rows = similar.factor[first_row(similar, b) :], similar.rows[first_row(similar, b) :]
    source, lane = similar.factor[first_row(similar, j // WIDTH) :], j % WIDTH
    p, q, r, s = load(rows[j], 0), load(rows[j + 1], 0), load(rows[j + 2], 0), load(rows[j + 3], 0)
    for k in range(j):
        known, row = load(target[k], 0), source[k]
        p = p - splat(row[lane]) * known
        q = q - splat(row[lane + 1]) * known
        r = r - splat(row[lane + 2]) * known
        s = s - splat(row[lane + 3]) * known
    store(target[j], 0, p)
    store(target[j + 1], 0, q)
    store(target[j + 2], 0, r)
    store(target[j + 3], 0, s)


def _finish_column(similar, b, j, n_known):
    """Column j, of which all before n_known is subtracted already."""
    target = similar.factor[first_row(similar, b) :]
    source, lane = similar.factor[first_row(similar, j // WIDTH) :], j % WIDTH
    value = load(target[j], 0)
    for k in range(n_known, j):
        value = value - splat(source[k, lane]) * load(target[k], 0)
    value = value * splat(similar.inverse[j])
    store(target[j], 0, value)
    store(similar.pivot, 0, load(similar.pivot, 0) - value * value)


# These sums only decide whether a determinant is above a bound, so they need no fixed order.
subtract_earlier = jit(_subtract_earlier, COARSE)  # INOUT similar.factor
finish_column = jit(_finish_column, COARSE)  # INOUT similar.factor, similar.pivot


@jit
def longest_stable(state, similar, n_probed, capped):  # INOUT similar
    """(longest stable length, blocks computed), growing one Cholesky factor from the newest sample back.

    S has a unit diagonal, so no pivot exceeds 1 and the determinant never grows with the length: the
    first failure is final.
    """
    root_determinant = 1.0
    n_blocks = similar.closest.shape[0] // WIDTH
    for b in range(n_blocks):
        add_block(state, similar, b, capped)
        start = b * WIDTH
        store(similar.pivot, 0, splat(1.0))
        for j in range(start + WIDTH):
            n_known = j // UNROLL * UNROLL
            if j == n_known:
                subtract_earlier(similar, b, j)
            if j >= start:
                pivot = similar.pivot[j - start]
                root_determinant *= math.sqrt(max(pivot, 0.0))
                if j == n_probed or not root_determinant * root_determinant >= DETERMINANT_FLOOR:
                    return j, b + 1
                similar.inverse[j] = 1.0 / math.sqrt(pivot)
            finish_column(similar, b, j, n_known)
    return n_probed, n_blocks


@jit
def find_closest(state, similar, n_known, n, capped):  # INOUT similar
    """u_i = max_{j≠i} S(i, j) within the n newest samples, of which n_known blocks are compared already."""
    closest, n_blocks = similar.closest, (n + WIDTH - 1) // WIDTH
    for b in range(n_blocks):
        if b >= n_known:
            add_block(state, similar, b, capped)
        rows, start = similar.rows[first_row(similar, b) :], b * WIDTH
        for lane in range(n - start, WIDTH):  # samples beyond the n newest
            for j in range(n):
                rows[j, lane] = 0.0
        largest = splat(0.0)
        for j in range(start):
            similar_to_j = load(rows[j], 0)
            largest = higher(largest, similar_to_j)
            closest[j] = max(closest[j], highest(similar_to_j))
        for j in range(start, min(start + WIDTH, n)):
            largest = higher(largest, load(rows[j], 0))
        store(closest, start, largest)
