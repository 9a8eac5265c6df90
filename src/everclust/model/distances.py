"""Distances of rows to clusters."""

import numpy as np

from ..core.readout import ReadOut, assign
from ..jit.blocks import LANES, pack
from .report import members
from .rows import CHUNK_CELLS, as_kernel_rows
from .snapshot import Snapshot


def distances(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Distance of every row to the nearest node of every cluster; a column per cluster, by id."""
    clusters = [_nodes(snapshot, nodes) for _, nodes in members(snapshot)]
    out = np.empty((len(clusters), len(X)))
    step = max(1, CHUNK_CELLS // X.shape[1])
    for start in range(0, len(X), step):
        rows = as_kernel_rows(X[start : start + step])
        nearest = np.empty(len(rows), np.int64)
        for c, nodes in enumerate(clusters):
            assign(nodes, rows, nearest, out[c, start : start + step])
    return np.ascontiguousarray(out.T)


def _nodes(snapshot: Snapshot, nodes: np.ndarray) -> ReadOut:
    blocks = pack(snapshot.prototypes[nodes])
    return ReadOut(blocks, np.ones(len(blocks) * LANES), nodes, snapshot.candidates.weight)
