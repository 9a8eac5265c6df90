"""Answers for many rows: chunk by chunk, on all cores when it pays off."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .rows import CHUNK_CELLS, as_kernel_rows

PARALLEL_WORK = 2**24  # samples × nodes × features from which starting threads pays off
N_CHUNKS = 4  # per worker, so that one on a slow core gets fewer


def in_chunks(
    answer: Callable[[np.ndarray], np.ndarray], X: np.ndarray, dtype: Any, n_features: int, n_nodes: int
) -> np.ndarray:
    """`answer(rows)` for all rows of X, of which each is compared with so many nodes."""
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {n_features}.")
    out = np.empty(len(X), dtype)

    def work(rows: slice) -> None:
        out[rows] = answer(as_kernel_rows(X[rows]))

    is_much = X.size * n_nodes >= PARALLEL_WORK
    n_workers = n_cores() if is_much else 1
    chunks = _chunks(len(X), X.shape[1], n_workers)
    if n_workers == 1:
        for rows in chunks:
            work(rows)
    else:
        with ThreadPoolExecutor(n_workers) as pool:
            for _ in pool.map(work, chunks):
                pass
    return out


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _chunks(n_rows: int, n_features: int, n_workers: int) -> Iterator[slice]:
    """Slices of at most CHUNK_CELLS values, and several for each of several workers."""
    n_chunks = n_workers * N_CHUNKS if n_workers > 1 else 1
    step = max(1, min(CHUNK_CELLS // n_features, -(-n_rows // n_chunks)))
    return (slice(start, start + step) for start in range(0, n_rows, step))
