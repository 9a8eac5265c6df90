"""Exact Euclidean distances from rows to many points, in bounded memory."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..jit.blocks import LANES, pack, squared_distances
from ..jit.compile import kernel

CHUNK_CELLS = 2**20  # distances held in memory at a time


class Points(NamedTuple):
    """Points in the blocked layout that the distance kernel reads."""

    blocks: np.ndarray
    size: int


def points(X: np.ndarray) -> Points:
    """Copy the rows of X into blocks."""
    return Points(pack(X), len(X))


def distances(rows: np.ndarray, to: Points, out: np.ndarray | None = None) -> np.ndarray:
    """Distances of all rows to all points, or to the first points if `out` has fewer columns."""
    if out is None:
        out = np.empty((len(rows), to.size))
    _fill(rows, to.blocks, out)
    return out


def chunks(n_rows: int, n_points: int) -> Iterator[slice]:
    """Slices of rows, each with at most about CHUNK_CELLS distances to the points."""
    step = max(LANES // 8, min(LANES, CHUNK_CELLS // max(1, n_points)))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


@kernel
def _fill(rows, blocks, out):  # INOUT out
    """out[i, k] = ‖row i − point k‖. The outer loop is over blocks, so that a block stays in the cache."""
    n_points, lanes = out.shape[1], np.empty(LANES)
    for b in range((n_points + LANES - 1) // LANES):
        start = b * LANES
        width = min(LANES, n_points - start)
        for i in range(rows.shape[0]):
            squared_distances(rows[i], blocks[b], lanes)
            for lane in range(width):
                out[i, start + lane] = math.sqrt(lanes[lane])
