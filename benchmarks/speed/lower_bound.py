"""The floor: compiled loops that do nothing but find the two nearest of K points for every sample.

Two forms, the faster of which counts: points in rows, four per pass over the sample, and points 64 abreast,
with their sums in registers. Both may fuse and reorder sums as the machine likes; the learner may not.
"""

import numpy as np
from numba import njit

from everclust.jit.blocks import LANES, _squared_distances, least

FREE = {"reassoc", "contract", "nnan", "nsz"}


@njit(fastmath=FREE)
def _four(x, points, k):
    a = b = c = d = 0.0
    for j in range(x.shape[0]):
        a += (x[j] - points[k, j]) ** 2
        b += (x[j] - points[k + 1, j]) ** 2
        c += (x[j] - points[k + 2, j]) ** 2
        d += (x[j] - points[k + 3, j]) ** 2
    return a, b, c, d


@njit
def in_rows(X, points, n_points):
    """Points as rows, a multiple of four of them."""
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


_block = njit(fastmath=FREE)(_squared_distances)


@njit
def in_lanes(X, blocks, n_points):
    """Points 64 abreast: blocks[b, j, l] is feature j of point 64·b + l."""
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
