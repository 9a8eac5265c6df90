"""Points stored 64 abreast, so that one pass over a sample meets 64 of them.

`blocks[b, j, l]` is feature j of point b·64 + l. The sums still run over the features in order, one
by one, for every lane.
"""

import numpy as np

from .jit import FUSED, jit

LANES = 64
STRIDE = 16  # float64 numbers that a vector loop takes in one go on common machines; the rest goes one by one


@jit
def whole_strides(n):
    """n rounded up, for loops that may as well do a few more numbers as do the last ones singly."""
    return (n + STRIDE - 1) // STRIDE * STRIDE


@jit
def copy_row(target, source):  # INOUT target
    """target[:] = source. numba compiles the loop in a tenth of the time."""
    for j in range(source.shape[0]):
        target[j] = source[j]


def _squared_distances(x, block, n, out):
    """Squared distance of x to the first n points of one block, added up in feature order."""
    for lane in range(n):
        out[lane] = 0
    d = x.shape[0]
    j = 0
    while j + 4 <= d:  # four features per pass keep the sums out of memory
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        for lane in range(n):
            total = out[lane]
            difference = x0 - block[j, lane]
            total += difference * difference
            difference = x1 - block[j + 1, lane]
            total += difference * difference
            difference = x2 - block[j + 2, lane]
            total += difference * difference
            difference = x3 - block[j + 3, lane]
            total += difference * difference
            out[lane] = total
        j += 4
    while j < d:
        xj = x[j]
        for lane in range(n):
            difference = xj - block[j, lane]
            out[lane] += difference * difference
        j += 1


squared_distances = jit(_squared_distances, FUSED)  # INOUT out


def n_blocks(n_points: int) -> int:
    """Blocks needed for so many points."""
    return -(-n_points // LANES)


def pack(points: np.ndarray) -> np.ndarray:
    """Rows as blocks; lanes without a point are infinitely far away."""
    n, d = points.shape
    padded = np.full((n_blocks(n) * LANES, d), np.inf)
    padded[:n] = points
    return np.ascontiguousarray(padded.reshape(-1, LANES, d).swapaxes(1, 2))
