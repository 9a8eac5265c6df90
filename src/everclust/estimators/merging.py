"""One model of several that were learnt apart, and a recount of which nodes are neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, Literal, TypeVar, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.merging.merge import is_fork
from ..core.merging.recount import PairCounts
from ..core.merging.recount import count_pairs as count
from ..core.state import State
from ..model.learner import Learner
from ..model.merging import Mapping, mappings_of, merge_learners, recount_learner
from ..model.rows import CHUNK_CELLS, as_kernel_rows
from ..validation import validated_rows_to_predict
from .incremental import IncrementalClusterer

__all__ = ["PairCounts", "count_pairs", "merge", "recount"]

Model = TypeVar("Model", bound=IncrementalClusterer)


@overload
def merge(models: Iterable[Model], base: Model | None = None) -> Model: ...
@overload
def merge(
    models: Iterable[Model], base: Model | None = None, *, return_mapping: Literal[True]
) -> tuple[Model, list[Mapping]]: ...
def merge(models: Iterable[Model], base: Model | None = None, *, return_mapping: bool = False) -> Any:
    """Merge models that have learnt different samples into one, as if it had learnt them all.

    Samples, usage, hand-overs and evidence add up; nodes at the same place become one. The order of the
    models does not matter, and none of them changes. Models that have learnt nothing change nothing.

    Parameters
    ----------
    models : iterable of IDAT or of EverClust
        All of one class, with the same features and metric.
    base : IDAT or EverClust, optional
        The model that all of them were forked from. What it had learnt counts once, and its clusters keep
        their ids. Models that were forked from a base give better clusters than models that were not.
    return_mapping : bool, default=False
        Whether to return the mappings too.

    Returns
    -------
    model : IDAT or EverClust
        The merged model. Its events say what became of the clusters.
    mappings : list of dict
        For each model, by the id of each of its clusters, the id of the merged cluster that has most of its
        samples, or -1 when none of its nodes is left. Only if `return_mapping`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from everclust import EverClust, merge
    >>> X = load_digits().data
    >>> base = EverClust().fit(X[:500])
    >>> parts = [base.fork().partial_fit(X[500:1100]), base.fork().partial_fit(X[1100:])]
    >>> merge(parts, base).n_samples_seen_
    1797
    """
    models = list(models)
    if not models:
        raise ValueError("There are no models to merge: pass at least one.")
    _check_alike(models if base is None else [*models, base])
    fitted = [model for model in models if model.__sklearn_is_fitted__()]
    if base is not None and not base.__sklearn_is_fitted__():
        base = None
    merged = type(models[0])(**_parameters(models))
    mappings: list[Mapping] = []
    if fitted:
        if base is not None:
            _check_forks(models, base)
        before = None if base is None else base._learner
        learners = [model._learner for model in fitted]
        found = merge_learners(learners, before, merged._chosen_variant())
        merged._learner = found.learner
        mappings = mappings_of(found) if return_mapping else []
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted[0], name):
                setattr(merged, name, getattr(fitted[0], name))
    if not return_mapping:
        return merged
    rest = iter(mappings)
    return merged, [next(rest) if model.__sklearn_is_fitted__() else {} for model in models]


def count_pairs(model: IncrementalClusterer, rows: Any) -> PairCounts:
    """Count which two nodes are nearest to each row; counts of different rows add up.

    Parameters
    ----------
    model : IDAT or EverClust
    rows : array-like of shape (n_samples, n_features)

    Returns
    -------
    counts : PairCounts
        `recount` takes it, or the sum of several: `a + b`.
    """
    X = validated_rows_to_predict(model, rows, as_is=True)
    state, step = model._learner.copy().state, max(1, CHUNK_CELLS // X.shape[1])
    chunks = (as_kernel_rows(X[start : start + step]) for start in range(0, len(X), step))
    return reduce(add, (count(state, chunk) for chunk in chunks))


def recount(model: Model, rows: Any) -> Model:
    """A model with the same nodes, and their hand-overs, evidence and edges counted anew in some rows.

    It mends what models learnt apart could not see: which of their nodes are neighbours. Use it after
    `merge` with rows that were learnt before; 20 rows a node are enough.

    Parameters
    ----------
    model : IDAT or EverClust
        It does not change.
    rows : array-like of shape (n_samples, n_features), iterable of such, or PairCounts
        Rows, arrays of rows one after the other, or what `count_pairs` has counted in this very model.

    Returns
    -------
    model : IDAT or EverClust

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from everclust import EverClust, merge, recount
    >>> X = load_digits().data
    >>> model = merge([EverClust().fit(X[:900]), EverClust().fit(X[900:])])
    >>> recount(model, X).n_nodes_ == model.n_nodes_
    True
    """
    check_is_fitted(model)
    counts = rows if isinstance(rows, PairCounts) else _counted(model, rows)
    if counts.n_nodes != model.n_nodes_:
        raise ValueError(
            f"The counts are of a model with {counts.n_nodes} nodes, but this one has {model.n_nodes_}; "
            "count the rows with this model."
        )
    twin = model.copy()
    twin._labels = twin._latest = None
    twin._learner = recount_learner(model._learner, counts)
    return twin


def _counted(model: IncrementalClusterer, rows: Any) -> PairCounts:
    """Counts of a table, or of an iterable of tables."""
    if hasattr(rows, "shape") or (isinstance(rows, Sequence) and rows and np.ndim(rows[0]) < 2):
        return count_pairs(model, rows)
    counts = [count_pairs(model, table) for table in rows]
    if not counts:
        raise ValueError("There are no rows to count: pass at least one array of rows.")
    return reduce(add, counts)


def _parameters(models: Sequence[IncrementalClusterer]) -> dict[str, Any]:
    """Those of the models, with the widest of their bounds on nodes; n_jobs if it is the same for all."""
    bounds = [model.max_nodes for model in models]
    widest = None if None in bounds else max(bound for bound in bounds if bound is not None)
    params = models[0].get_params() | {"max_nodes": widest}
    if len({model._n_jobs for model in models}) > 1:
        params["n_jobs"] = None
    return params


def _check_alike(models: Sequence[IncrementalClusterer]) -> None:
    """Raise an error unless all models are of one class, with the same metric, features and names."""
    classes = sorted({type(model).__name__ for model in models})
    if len({type(model) for model in models}) > 1 or not isinstance(models[0], IncrementalClusterer):
        raise TypeError(
            f"Models of {' and '.join(classes)} cannot be merged; pass models of one estimator class."
        )
    metrics = sorted({model._metric for model in models})
    if len(metrics) > 1:
        raise ValueError(
            f"Models with the metrics {' and '.join(map(repr, metrics))} cannot be merged; "
            "learn all with one metric."
        )
    fitted = [model for model in models if model.__sklearn_is_fitted__()]
    n_features = sorted({model.n_features_in_ for model in fitted})
    if len(n_features) > 1:
        raise ValueError(
            f"Models of {' and '.join(map(str, n_features))} features cannot be merged; "
            "learn all with the same features."
        )
    names = {tuple(getattr(model, "feature_names_in_", ())) for model in fitted}
    if len(names) > 1:
        one, other, *_ = sorted(map(list, names))
        raise ValueError(
            f"Models with the feature names {one} and {other} cannot be merged; "
            "learn all with the same names in the same order."
        )


def _check_forks(models: Sequence[IncrementalClusterer], base: IncrementalClusterer) -> None:
    before = base._learner.copy().state
    for number, model in enumerate(models):
        if model.__sklearn_is_fitted__() and not _is_fork(model._learner, before):
            raise ValueError(
                f"Model {number} of the list was not forked from the base; make it with base.fork(), "
                "or merge without a base."
            )


def _is_fork(learner: Learner, base: State) -> bool:
    with learner.lock:
        return is_fork(learner.state, base)
