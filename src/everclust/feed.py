"""`everclust.learn`: feed a model from an array or from batches, with a progress bar and a history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .estimators.incremental import IncrementalClusterer
from .history import History
from .optional import require

SLICE_ROWS = 1_000  # learnt between two updates of the progress bar


def learn(
    model: IncrementalClusterer, batches: Any, *, progress: bool = False, history: History | None = None
) -> IncrementalClusterer:
    """Let a model learn a stream from an array, a data frame or an iterable of batches.

    The result does not depend on how the stream is cut into batches. After an error or Ctrl-C, the model has
    learnt everything before it and can continue from there.

    Parameters
    ----------
    model : EverClust or IDAT
        A new model, or one that continues to learn.
    batches : array or DataFrame of shape (n_samples, n_features), or iterable of them
        The stream. It may be endless; empty batches are skipped.
    progress : bool, default=False
        Show a progress bar on stderr (needs ``pip install "everclust[progress]"``).
    history : History, optional
        Records the model along the stream.

    Returns
    -------
    model : EverClust or IDAT
        The same object.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust import EverClust, learn
    >>> X = load_iris().data
    >>> model = learn(EverClust(), X)
    >>> learn(model, (X[i : i + 30] for i in range(0, 150, 30))).n_samples_seen_
    300
    """
    tables = [batches] if hasattr(batches, "shape") else batches
    with _bar(batches) if progress else nullcontext() as bar:
        for rows in _slices(tables, model, history):
            model.partial_fit(rows)
            if history is not None and _n_until_record(model, history) == history.every:
                history.record(model)
            if bar is not None and bar.update(_n_rows(rows)):
                _show_counts(bar, model)
        if bar is not None:
            _show_counts(bar, model)
    return model


def _slices(tables: Iterable[Any], model: IncrementalClusterer, history: History | None) -> Iterator[Any]:
    """Slices of the tables that end where the history takes a record."""
    for table in tables:
        rows = getattr(table, "iloc", table)
        start, n_rows = 0, _n_rows(table)
        while start < n_rows:
            step = SLICE_ROWS if history is None else min(SLICE_ROWS, _n_until_record(model, history))
            yield rows[start : start + step]
            start += step


def _n_until_record(model: IncrementalClusterer, history: History) -> int:
    """Samples until the next record is due, at least 1."""
    return history.every - getattr(model, "n_samples_seen_", 0) % history.every


def _n_rows(table: Any) -> int:
    return table.shape[0] if hasattr(table, "shape") else len(table)


def _bar(batches: Any) -> AbstractContextManager[Any]:
    tqdm = require("tqdm", extra="progress", purpose="progress bars").tqdm
    total = batches.shape[0] if hasattr(batches, "shape") else None
    return tqdm(total=total, unit=" rows", unit_scale=True)


def _show_counts(bar: Any, model: IncrementalClusterer) -> None:
    if hasattr(model, "n_samples_seen_"):
        bar.set_postfix({"nodes": model.n_nodes_, "clusters": model.n_clusters_})
