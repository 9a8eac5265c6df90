"""Clusters and similarities of rows, read from a snapshot chunk by chunk, on all cores when it pays off."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..core.coarse import Coarse, assign_coarsely, coarse_copy
from ..core.communities.coarse_vote import predict_by_coarse_vote
from ..core.communities.voting import Voters, predict_by_vote
from ..core.readout import assign
from .clusters import HANDOVER
from .rows import CHUNK_CELLS, as_kernel_rows
from .snapshot import Snapshot

PARALLEL_WORK = 2**24  # samples × candidates × features from which starting threads pays off
FEW_ROWS = 400  # measured exactly in less time than it takes to copy the candidates
N_CHUNKS = 4  # per worker, so that one on a slow core gets fewer
_NOT_MEASURED = np.empty(0)


def labels(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Cluster of every row: that of its nearest node, or, for hand-over clusters, the vote of the nearest."""
    coarse = _coarse_copy(snapshot, X)
    ids = snapshot.node_labels[snapshot.candidates.node]

    def vote(rows: np.ndarray) -> np.ndarray:
        if coarse is None:
            return predict_by_vote(snapshot.candidates, ids, snapshot.vote_weights, rows)
        return predict_by_coarse_vote(snapshot.candidates, coarse, Voters(ids, snapshot.vote_weights), rows)

    def follow(rows: np.ndarray) -> np.ndarray:
        return snapshot.node_labels[_nearest(snapshot, coarse, rows, is_measured=False)[0]]

    return _in_chunks(snapshot, X, np.int64, vote if len(snapshot.vote_weights) else follow)


def similarities(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Similarity 1 / (1 + d/σ) of every row to its nearest node."""
    coarse = _coarse_copy(snapshot, X)

    def similarity(rows: np.ndarray) -> np.ndarray:
        node, distance = _nearest(snapshot, coarse, rows, is_measured=True)
        return 1.0 / (1.0 + (distance / snapshot.scales[node] if snapshot.clusters == HANDOVER else distance))

    return _in_chunks(snapshot, X, np.float64, similarity)


def _coarse_copy(snapshot: Snapshot, X: np.ndarray) -> Coarse | None:
    """A coarse copy of the candidates, if there are enough rows to make up for it."""
    return coarse_copy(snapshot.candidates) if len(X) > FEW_ROWS else None


def _nearest(
    snapshot: Snapshot, coarse: Coarse | None, rows: np.ndarray, *, is_measured: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest node of every row, and, if measured, its distance: d/σ, or plain d for hand-over clusters."""
    node = np.empty(len(rows), np.int64)
    distance = np.empty(len(rows)) if is_measured or coarse is None else _NOT_MEASURED
    if coarse is None:
        assign(snapshot.candidates, rows, node, distance)
    else:
        assign_coarsely(snapshot.candidates, coarse, rows, node, distance)
    return node, distance


def _in_chunks(
    snapshot: Snapshot, X: np.ndarray, dtype: Any, answer: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """`answer(rows)` for all rows of X, chunk by chunk."""
    if X.shape[1] != snapshot.prototypes.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {snapshot.prototypes.shape[1]}.")
    out = np.empty(len(X), dtype)

    def work(rows: slice) -> None:
        out[rows] = answer(as_kernel_rows(X[rows]))

    is_much = X.size * len(snapshot.candidates.node) >= PARALLEL_WORK
    n_workers = _n_cores() if is_much else 1
    chunks = _chunks(len(X), X.shape[1], n_workers)
    if n_workers == 1:
        for rows in chunks:
            work(rows)
    else:
        with ThreadPoolExecutor(n_workers) as pool:
            for _ in pool.map(work, chunks):
                pass
    return out


def _n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _chunks(n_rows: int, n_features: int, n_workers: int) -> Iterator[slice]:
    """Slices of at most CHUNK_CELLS values, and several for each of several workers."""
    n_chunks = n_workers * N_CHUNKS if n_workers > 1 else 1
    step = max(1, min(CHUNK_CELLS // n_features, -(-n_rows // n_chunks)))
    return (slice(start, start + step) for start in range(0, n_rows, step))
