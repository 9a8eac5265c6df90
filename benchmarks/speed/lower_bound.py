"""A lower bound for learning: compiled loops that only find the two nearest of K points for every sample.

The faster of two forms counts: points in rows, four per pass over the sample, and points in blocks of 64,
whose sums stay in registers. Both may fuse and reorder sums (`fastmath`); the learner may not.
"""

import numpy as np
from numba import njit

from everclust.jit.blocks import LANES, least, plain_squared_distances

FASTMATH = {"reassoc", "contract", "nnan", "nsz"}


@njit(fastmath=FASTMATH)
def _four(x, points, k):
    a = b = c = d = 0.0
    for j in range(x.shape[0]):
        a += (x[j] - points[k, j]) ** 2
        b += (x[j] - points[k + 1, j]) ** 2
        c += (x[j] - points[k + 2, j]) ** 2
        d += (x[j] - points[k + 3, j]) ** 2
    return a, b, c, d


@njit
def search_rows(X, points, n_points):
    """Points as rows; their number is a multiple of four."""
    checksum = 0
    for i in range(X.shape[0]):
        best = second = np.inf
        first = runner_up = -1
        for k in range(0, n_points[i], 4):
            four = _four(X[i], points, k)
            for lane in range(4):
                if four[lane] < best:
                    best, second, first, runner_up = four[lane], best, k + lane, first
                elif four[lane] < second:
                    second, runner_up = four[lane], k + lane
        checksum += first + runner_up
    return checksum


_block = njit(fastmath=FASTMATH)(plain_squared_distances)


@njit
def search_blocks(X, blocks, n_points):
    """Points in blocks of 64: blocks[b, j, l] is feature j of point 64·b + l."""
    checksum = 0
    out = np.empty(LANES)
    for i in range(X.shape[0]):
        best = second = np.inf
        first = runner_up = -1
        for b in range((n_points[i] + LANES - 1) // LANES):
            _block(X[i], blocks[b], out)
            if least(out) < second:
                for lane in range(LANES):
                    if out[lane] < best:
                        best, second, first, runner_up = out[lane], best, b * LANES + lane, first
                    elif out[lane] < second:
                        second, runner_up = out[lane], b * LANES + lane
        checksum += first + runner_up
    return checksum
