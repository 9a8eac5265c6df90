"""Frozen picture of a model: all that predictions, plots, sinks and engines see."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from .core.clusters import ReadOut, assign, components, edges, number_clusters, read_out
from .core.state import State, clock_of

CHUNK_CELLS = 2**20  # samples are read so many numbers at a time, whatever the input
PARALLEL_WORK = 2**24  # samples × candidates × features from which threads are worth their start


class Snapshot(NamedTuple):
    """A model at one moment. Nothing in it is shared with the model, and nothing can be written."""

    n_samples_seen: int
    interval: int
    vigilance: float
    prototypes: np.ndarray
    scales: np.ndarray
    usage: np.ndarray
    active: np.ndarray
    edges: np.ndarray
    component: np.ndarray  # lowest node of every node's connected component
    node_labels: np.ndarray  # cluster of every node; the n_clusters first numbers are the clusters
    n_clusters: int
    candidates: ReadOut


def take_snapshot(state: State, order: np.ndarray | None = None) -> Snapshot:
    """Copy what the world may see of a state; `order` lists nodes in the order of their clusters' numbers."""
    clock = clock_of(state)
    nodes = state.node[: clock.n_nodes]
    component = components(state)
    candidates = read_out(state)
    snapshot = Snapshot(
        n_samples_seen=int(clock.n_seen),
        interval=int(clock.interval),
        vigilance=float(clock.vigilance),
        prototypes=state.prototype[: clock.n_nodes].copy(),
        scales=nodes["scale"].copy(),
        usage=nodes["usage"].copy(),
        active=nodes["active"].copy(),
        edges=edges(state),
        component=component,
        node_labels=number_clusters(component, candidates.node if order is None else order),
        n_clusters=len(np.unique(component[candidates.node])),
        candidates=candidates,
    )
    for part in snapshot:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    return snapshot


def winners_first(snapshot: Snapshot, winner: np.ndarray) -> np.ndarray:
    """The candidates, those in clusters that win samples before the others."""
    node = snapshot.candidates.node
    wins = np.isin(snapshot.component[node], snapshot.component[winner])
    return np.concatenate([node[wins], node[~wins]])


def plain(rows: np.ndarray) -> np.ndarray:
    """The rows as the one kind of array for which the kernels are compiled (DataFrames are read-only)."""
    if rows.dtype == np.float64 and rows.flags.carray:
        return rows
    return np.array(rows, np.float64, order="C")


def winners(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Winning node of every row."""
    return _answers(snapshot, X, np.int64, lambda winner, nearness: winner)


def labels(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Cluster of every row: that of its winning node."""
    return _answers(snapshot, X, np.int64, lambda winner, nearness: snapshot.node_labels[winner])


def similarities(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Similarity 1 / (1 + d/σ) of every row to its winning node."""
    return _answers(snapshot, X, np.float64, lambda winner, nearness: 1.0 / (1.0 + nearness))


def _answers(
    snapshot: Snapshot, X: np.ndarray, dtype: Any, answer: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """`answer(winning node, d/σ to it)` for every row; on all cores when there is much to do."""
    if X.shape[1] != snapshot.prototypes.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {snapshot.prototypes.shape[1]}.")
    out = np.empty(len(X), dtype)

    def work(rows: slice) -> None:
        part = plain(X[rows])
        winner, nearness = np.empty(len(part), np.int64), np.empty(len(part))
        assign(snapshot.candidates, part, winner, nearness)
        out[rows] = answer(winner, nearness)

    is_much = X.size * len(snapshot.candidates.node) >= PARALLEL_WORK
    n_workers = _n_cores() if is_much else 1
    parts = _parts(len(X), X.shape[1], n_workers)
    if n_workers == 1:
        for rows in parts:
            work(rows)
    else:
        with ThreadPoolExecutor(n_workers) as pool:
            for _ in pool.map(work, parts):
                pass
    return out


def _n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parts(n_rows: int, n_features: int, n_workers: int) -> Iterator[slice]:
    """Cut rows into slices of bounded memory, and into one for each worker at least."""
    step = max(1, min(CHUNK_CELLS // n_features, -(-n_rows // n_workers)))
    return (slice(start, start + step) for start in range(0, n_rows, step))
