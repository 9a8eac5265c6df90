"""What the deep algorithms share as estimators: the network's parameters and the order of the clusters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

AT_LEAST_0 = Interval(Integral, 0, None, closed="left")
AT_LEAST_1 = Interval(Integral, 1, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")

SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [AT_LEAST_1],
    "hidden_layers": [tuple, list],
    "n_latent": [AT_LEAST_1],
    "pretraining_epochs": [AT_LEAST_0],
    "batch_size": [AT_LEAST_1],
    "training_epochs": [AT_LEAST_0],
    "learning_rate": [POSITIVE],
    "device": [StrOptions({"auto", "cpu", "cuda"})],
    "progress": ["boolean"],
    "random_state": ["random_state"],
}


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Whatever goes wrong inside, the estimator is afterwards as it was before."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def inner_sizes(estimator: Any) -> tuple[int, ...]:
    """Sizes of the encoder's layers behind the features."""
    sizes = (*estimator.hidden_layers, estimator.n_latent)
    if not all(AT_LEAST_1.is_satisfied_by(size) for size in sizes):
        raise ValueError(f"hidden_layers must be positive integers, but are {estimator.hidden_layers!r}.")
    return tuple(map(int, sizes))


def refuse_few_rows(X: np.ndarray, n_clusters: int) -> None:
    """There must be a row for each cluster."""
    if len(X) < n_clusters:
        raise ValueError(f"n_samples={len(X)} should be >= n_clusters={n_clusters}; ask for fewer clusters.")


def used_first(labels: np.ndarray, n_centres: int) -> np.ndarray:
    """Indices of the centres: those that win rows, then the others, each in their old order."""
    return np.argsort(np.bincount(labels, minlength=n_centres) == 0, kind="stable")
