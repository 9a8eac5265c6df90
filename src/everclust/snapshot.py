"""Frozen picture of a model: all that predictions, plots, sinks and engines see."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from .core.clusters import ReadOut, assign, components, edges, number_clusters, read_out
from .core.state import State, clock_of

CHUNK_CELLS = 2**20  # samples are read so many numbers at a time, whatever the input
PARALLEL_WORK = 2**24  # samples × candidates × features from which threads are worth their start


class Snapshot(NamedTuple):
    """A model at one moment. Nothing in it is shared with the model."""

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
    return Snapshot(
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


def winners_first(snapshot: Snapshot, winner: np.ndarray) -> np.ndarray:
    """The candidates, those in clusters that win samples before the others."""
    node = snapshot.candidates.node
    wins = np.isin(snapshot.component[node], snapshot.component[winner])
    return np.concatenate([node[wins], node[~wins]])


def winners(snapshot: Snapshot, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(winning node, d/σ to it) of every row; on all cores when there is much to do."""
    winner, nearness = np.empty(len(X), np.int64), np.empty(len(X))

    def work(rows: slice) -> None:
        part = np.ascontiguousarray(X[rows], dtype=np.float64)
        assign(snapshot.candidates, part, winner[rows], nearness[rows])

    parts = chunks(len(X), X.shape[1])
    n_workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if X.size * len(snapshot.candidates.node) < PARALLEL_WORK or n_workers == 1:
        for rows in parts:
            work(rows)
    else:
        with ThreadPoolExecutor(n_workers) as pool:
            for _ in pool.map(work, parts):
                pass
    return winner, nearness


def chunks(n_rows: int, n_features: int) -> Iterator[slice]:
    """Cut rows into slices of bounded memory."""
    step = max(1, CHUNK_CELLS // n_features)
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))
