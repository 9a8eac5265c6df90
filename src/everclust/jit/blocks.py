"""Points stored 64 abreast, so that one pass over a sample meets 64 of them.

`blocks[b, j, l]` is feature j of point b·64 + l. The sums still run over the features in order, one
by one, for every lane.
"""

from typing import Any

import numpy as np

from .compile import FUSED, jit, jit_allocating
from .simd import BYTES, WIDTH, load, lower, lowest, new_aligned, splat, store

LANES = 64

aligned = jit_allocating(new_aligned)


@jit
def copy_row(target, source):  # INOUT target
    """target[:] = source. numba compiles the loop in a tenth of the time."""
    for j in range(source.shape[0]):
        target[j] = source[j]


def plain_squared_distances(x, block, out):
    """Squared distance of x to every point of one block, added up in feature order; not compiled yet."""
    for lane in range(0, LANES, 4 * WIDTH):
        a = b = c = d = splat(0.0)
        for j in range(x.shape[0]):
            xj, row = splat(x[j]), block[j]
            difference = xj - load(row, lane)
            a = a + difference * difference
            difference = xj - load(row, lane + WIDTH)
            b = b + difference * difference
            difference = xj - load(row, lane + 2 * WIDTH)
            c = c + difference * difference
            difference = xj - load(row, lane + 3 * WIDTH)
            d = d + difference * difference
        store(out, lane, a)
        store(out, lane + WIDTH, b)
        store(out, lane + 2 * WIDTH, c)
        store(out, lane + 3 * WIDTH, d)


def _vector_of_squared_distances(x, block, lane, out):
    """`squared_distances` to the points of one vector, from `lane` on."""
    total = splat(0.0)
    for j in range(x.shape[0]):
        difference = splat(x[j]) - load(block[j], lane)
        total = total + difference * difference
    store(out, 0, total)


squared_distances = jit(plain_squared_distances, FUSED)  # INOUT out
vector_of_squared_distances = jit(_vector_of_squared_distances, FUSED)  # INOUT out


@jit
def least(values):
    """The least of as many numbers as there are lanes."""
    width = BYTES // values.itemsize
    abreast = load(values, 0)
    for lane in range(width, LANES, width):
        abreast = lower(abreast, load(values, lane))
    return lowest(abreast)


def new_blocks(n: int, n_rows: int, dtype: Any = np.float64) -> np.ndarray:
    """So many blocks of zeros."""
    blocks = new_aligned(n * n_rows * LANES, dtype).reshape(n, n_rows, LANES)
    blocks[:] = 0
    return blocks


def copy_blocks(blocks: np.ndarray) -> np.ndarray:
    """The same blocks elsewhere."""
    n, n_rows, _ = blocks.shape
    copied = new_blocks(n, n_rows, blocks.dtype)
    copied[:] = blocks
    return copied


def n_blocks(n_points: int) -> int:
    """Blocks needed for so many points."""
    return -(-n_points // LANES)


def pack(points: np.ndarray) -> np.ndarray:
    """Rows as blocks; lanes without a point are infinitely far away."""
    n, d = points.shape
    blocks = new_blocks(n_blocks(n), d)
    for b, block in enumerate(blocks):
        rows = points[b * LANES : (b + 1) * LANES]
        block[:, : len(rows)] = rows.T
        block[:, len(rows) :] = np.inf
    return blocks
