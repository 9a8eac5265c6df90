"""Euclidean distances from rows to many points, exactly and in bounded memory."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..jit.blocks import LANES, pack, squared_distances
from ..jit.compile import kernel

CHUNK_CELLS = 2**20  # distances that are held at a time, if there is one for each point


class Points(NamedTuple):
    """Points stored so that distances to them are found fast."""

    blocks: np.ndarray
    size: int


def points(X: np.ndarray) -> Points:
    """A copy of the rows of X."""
    return Points(pack(X), len(X))


def distances(rows: np.ndarray, to: Points, out: np.ndarray | None = None) -> np.ndarray:
    """Distance of every row to every point, or to as many as `out` has columns."""
    if out is None:
        out = np.empty((len(rows), to.size))
    _fill(rows, to.blocks, out)
    return out


def chunks(n_rows: int, n_points: int) -> Iterator[slice]:
    """Slices of rows with about as many distances to the points as should be held at a time."""
    step = max(LANES // 8, min(LANES, CHUNK_CELLS // max(1, n_points)))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


@kernel
def _fill(rows, blocks, out):  # INOUT out
    """out[i, k] = ‖row i − point k‖, block after block of points: each stays in the cache for all rows."""
    n_points, lanes = out.shape[1], np.empty(LANES)
    for b in range((n_points + LANES - 1) // LANES):
        start = b * LANES
        width = min(LANES, n_points - start)
        for i in range(rows.shape[0]):
            squared_distances(rows[i], blocks[b], lanes)
            for lane in range(width):
                out[i, start + lane] = math.sqrt(lanes[lane])
