"""Learn a stream and score the model after each step, by the paper's protocol."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ...estimators.incremental import IncrementalClusterer
from ...history import History
from .details import Details, smallest, whole
from .measures import (
    FIRST_STEP_SCORE,
    ami,
    ari,
    average_incremental,
    backward_transfer,
    backward_transfer_printed,
)
from .meter import MemoryMeter, Stopwatch
from .partitions import further_scores, labelling_scores
from .registry import Algorithm

MOMENTS = 200  # largest number of records in a history
WARM_UP_ROWS = 50  # rows learnt before the time measurement, to load compiled code
COLUMNS = ("n_samples_seen", "interval", "vigilance", "n_nodes", "n_active_nodes", "n_clusters")
SCORES = {"ari": ari, "ami": ami}
_warm: set[str] = set()


class Stream(NamedTuple):
    """Samples in the order of learning, their classes, and the end of each step; None for a single step."""

    X: np.ndarray
    y: np.ndarray
    ends: Sequence[int] | None = None
    order: np.ndarray | None = None
    """Rows of the file in the order of learning; None for the order of the file."""
    labellings: Sequence[np.ndarray] = ()
    """All reference labellings in the order of the file, if there are several."""


def run_trial(algorithm: Algorithm, params: dict[str, Any], seed: int, stream: Stream) -> dict[str, Any]:
    """Learn a stream and return all measures.

    Parameters
    ----------
    algorithm : Algorithm
    params : dict
        Parameters of the algorithm.
    seed : int
        Seed of the algorithm.
    stream : Stream

    Returns
    -------
    measures : dict
        Fields of `everclust.benchmark.run.jobs.Result`.
    """
    warm_up(algorithm)
    memory, stopwatch = MemoryMeter(), Stopwatch()
    estimator = algorithm.make(algorithm.given(stream.X, stream.y) | params, seed)
    labels = _labels_after_each_step(estimator, stream, stopwatch)
    peak = memory.peak()
    nodes, clusters = algorithm.count(estimator)
    return {
        **(_scores(stream.y, labels[-1]) if stream.ends is None else _step_scores(stream.y, labels)),
        **_node_scores(estimator, stream),
        "nodes": nodes,
        "clusters": clusters,
        "train_seconds": stopwatch.seconds,
        "train_cpu_seconds": stopwatch.cpu_seconds,
        "peak_memory": peak,
        "history": _history(clone(estimator), stream) if _is_recorded(estimator, algorithm) else None,
        "details": _details(stream, labels[-1]),
    }


def run_for_ari(algorithm: Algorithm, params: dict[str, Any], seed: int, stream: Stream) -> dict[str, Any]:
    """Learn a stream and return the ARI at its end, the same as that of `run_trial`, and nothing else.

    It labels the rows once instead of after each step, which takes most of the time of `run_trial`.

    Parameters
    ----------
    algorithm, params, seed, stream
        As for `run_trial`.

    Returns
    -------
    measures : dict
        With the key "ari".
    """
    estimator = algorithm.make(algorithm.given(stream.X, stream.y) | params, seed)
    if stream.ends is None:
        return {"ari": ari(stream.y, _fit_labels(estimator.fit(stream.X), stream.X))}
    for start, end in pairwise([0, *stream.ends]):
        estimator.partial_fit(stream.X[start:end])
    return {"ari": ari(stream.y, estimator.predict(stream.X))}


def _details(stream: Stream, labels: np.ndarray) -> Details:
    stored = in_file_order(stream, np.asarray(labels))
    scores: dict[str, Any] = dict(further_scores(stream.y, labels))
    if len(stream.labellings) > 1:
        by_labelling = labelling_scores(stream.labellings, stored)
        scores["labellings"] = by_labelling
        scores |= {f"best_{name}": max(values) for name, values in by_labelling.items()}
    return Details(scores, stored)


def in_file_order(stream: Stream, labels: np.ndarray) -> np.ndarray:
    """Labels of the samples in the order of the file.

    Parameters
    ----------
    stream : Stream
    labels : ndarray of shape (n_samples,)
        In the order of learning.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        As small integers.
    """
    known = whole(labels)
    stored = known.copy()
    if stream.order is not None:
        stored[stream.order] = known
    return smallest(stored)


def warm_up(algorithm: Algorithm) -> None:
    """Compile or load compiled code before the time measurement."""
    if algorithm.warms_up and algorithm.name not in _warm:
        _warm.add(algorithm.name)
        rows = np.random.RandomState(0).rand(WARM_UP_ROWS, 2)
        with suppress(Exception):  # the run itself reports the same error
            algorithm.make({}, 0).fit(rows).predict(np.zeros((2, 2)))


def _labels_after_each_step(estimator: Any, stream: Stream, stopwatch: Stopwatch) -> list[np.ndarray]:
    """Clusters of all rows so far, after each step."""
    if stream.ends is None:
        with stopwatch.running():  # some estimators label the rows in `fit`, so all do within the time
            return [_fit_labels(estimator.fit(stream.X), stream.X)]
    labels, start = [], 0
    for end in stream.ends:
        with stopwatch.running():
            estimator.partial_fit(stream.X[start:end])
        labels.append(estimator.predict(stream.X[:end]))
        start = end
    return labels


def _fit_labels(estimator: Any, X: np.ndarray) -> np.ndarray:
    """Labels of `fit` if there are any, else predictions."""
    return estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(X)


def _is_recorded(estimator: Any, algorithm: Algorithm) -> bool:
    return isinstance(estimator, IncrementalClusterer) and algorithm.kind in ("compared", "ablation")


def _history(model: IncrementalClusterer, stream: Stream) -> dict[str, list[Any]]:
    """Learn the stream again in pieces, which does not change the model, and record its course."""
    history = History(every=-(-len(stream.X) // MOMENTS))
    for start in range(0, len(stream.X), history.every):
        rows = stream.X[start : start + history.every]
        model.partial_fit(rows)
        if len(rows) == history.every:
            history.record(model)
    return {name: getattr(history, name).tolist() for name in COLUMNS}


def _node_scores(estimator: Any, stream: Stream) -> dict[str, float]:
    """Scores of the nodes as clusters, for estimators that tell the node of a row."""
    if not hasattr(estimator, "predict_nodes"):
        return {}
    nodes = estimator.predict_nodes(stream.X)
    return {f"node_{name}": score for name, score in _scores(stream.y, nodes).items()}


def _scores(y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    return {name: score(y, labels) for name, score in SCORES.items()}


def _step_scores(y: np.ndarray, labels: Sequence[np.ndarray]) -> dict[str, Any]:
    """Scores after each step, from the labels of all rows so far."""
    found: dict[str, Any] = {}
    for name, score in SCORES.items():
        steps = [score(y[: len(given)], given) for given in labels]
        found[name] = steps[-1]
        steps[0] = FIRST_STEP_SCORE
        found[f"step_{name}"] = steps
        found[f"ai_{name}"] = average_incremental(steps)
        found[f"bwt_{name}"] = backward_transfer(steps)
        found[f"bwt_printed_{name}"] = backward_transfer_printed(_class_scores(score, y, labels))
    return found


def _class_scores(score: Any, y: np.ndarray, labels: Sequence[np.ndarray]) -> np.ndarray:
    """Scores on single classes after their own step and after the last, the only ones needed."""
    ends = [len(given) for given in labels]
    scores = np.full((len(ends), len(ends)), np.nan)
    for k, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        scores[k, k] = score(y[start:end], labels[k][start:end])
        scores[k, -1] = score(y[start:end], labels[-1][start:end])
    return scores
