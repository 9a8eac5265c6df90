"""Prequential runs: every block of a stream is labelled before it is learnt.

The score compares the labels at arrival with the classes: unlike a score at the end, it shows how a model
does while it learns, and whether its cluster ids last. Memory is recorded after every block.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .details import Details, whole
from .measures import ami, ari
from .meter import MemoryMeter, Stopwatch
from .partitions import further_scores
from .registry import Algorithm
from .trial import MOMENTS, Stream, in_file_order, warm_up

WINDOWS = 10  # parts of the stream that are also scored one by one
UNLABELLED = -1  # the first block, for which there is no model


def run_prequential(
    algorithm: Algorithm, params: dict[str, Any], seed: int, stream: Stream
) -> dict[str, Any]:
    """Label, then learn, each of up to 200 blocks of a stream, and return all measures.

    Parameters
    ----------
    algorithm : Algorithm
        An incremental one.
    params : dict
        Parameters of the algorithm.
    seed : int
        Seed of the algorithm.
    stream : Stream
        Its steps are not used.

    Returns
    -------
    measures : dict
        Fields of `everclust.benchmark.run.jobs.Result`. Scores are of the labels at arrival, without the
        first block. The history has the memory after each block, and the scores of each tenth of the stream.
    """
    warm_up(algorithm)
    memory, stopwatch = MemoryMeter(), Stopwatch()
    estimator = algorithm.make(_given(algorithm, stream) | params, seed)
    size = -(-len(stream.X) // MOMENTS)
    labels, history = _labels_at_arrival(estimator, stream.X, size, memory, stopwatch)
    y, arrived = stream.y[size:], labels[size:]
    nodes, clusters = algorithm.count(estimator)
    return {
        "ari": ari(y, arrived),
        "ami": ami(y, arrived),
        "nodes": nodes,
        "clusters": clusters,
        "train_seconds": stopwatch.seconds,
        "train_cpu_seconds": stopwatch.cpu_seconds,
        "peak_memory": memory.peak(),
        "history": history | _window_scores(y, arrived),
        "details": Details(further_scores(y, arrived), in_file_order(stream, labels)),
    }


def _given(algorithm: Algorithm, stream: Stream) -> dict[str, Any]:
    """What the protocol tells the algorithm; blocks are no training calls with a count of their own."""
    given = algorithm.given(stream.X, stream.y)
    return given | ({"cycle": "global"} if "cycle" in given else {})


def _labels_at_arrival(
    estimator: Any, X: np.ndarray, size: int, memory: MemoryMeter, stopwatch: Stopwatch
) -> tuple[np.ndarray, dict[str, list[float]]]:
    parts: list[np.ndarray] = []
    history: dict[str, list[float]] = {"n_samples_seen": [], "memory": []}
    for start in range(0, len(X), size):
        rows = X[start : start + size]
        if start:
            parts.append(np.asarray(estimator.predict(rows)))
        with stopwatch.running():
            estimator.partial_fit(rows)
        history["n_samples_seen"].append(start + len(rows))
        history["memory"].append(memory.increase())
    arrived = whole(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)
    return np.concatenate([np.full(min(size, len(X)), UNLABELLED), arrived]), history


def _window_scores(y: np.ndarray, labels: np.ndarray) -> dict[str, list[float]]:
    edges = np.linspace(0, len(y), WINDOWS + 1).astype(int)
    windows = [slice(start, end) for start, end in pairwise(edges.tolist()) if start < end]
    return {
        "window_ari": [ari(y[window], labels[window]) for window in windows],
        "window_ami": [ami(y[window], labels[window]) for window in windows],
    }
