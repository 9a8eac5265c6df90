"""Registers the ten baselines that the paper compares IDAT with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ... import baselines
from ...baselines import parameters
from .registry import NUMBER_OF_CLASSES, Algorithm, Given, nothing_given, number_of_classes, register

_as_dense_points = partial(number_of_classes, "n_dense_points")
_as_clusters = partial(number_of_classes, "n_clusters")


def _bounds(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Bounds of the whole data set, whatever the order of the stream."""
    return {"bounds": (X.min(axis=0), X.max(axis=0))}


def _per_call(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The authors' programs restart their sample count with every training call, hence with every class."""
    return {"cycle": "call"}


def _whole_task(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    return {"cycle": "call", "task_size": len(X)}


def _make(class_name: str, params: dict[str, Any], seed: int) -> Any:
    baseline = getattr(baselines, class_name)
    random = {"random_state": seed} if "random_state" in baseline._get_param_names() else {}
    return baseline(**random, **params)


def _counts(estimator: Any) -> tuple[int | None, int]:
    return estimator.n_nodes_, estimator.n_clusters_


def _clusters_only(estimator: Any) -> tuple[int | None, int]:
    """The paper reports no number of nodes."""
    return None, estimator.n_clusters_


Count = Callable[[Any], tuple[int | None, int]]
# name, title in the paper, class, incremental, given parameters, count of nodes and clusters
BASELINES: list[tuple[str, str, str, bool, Given, Count]] = [
    ("tbm-p", "TBM-P", "TBMP", False, nothing_given, _counts),
    ("torque-clustering", "TC", "TorqueClustering", False, nothing_given, _clusters_only),
    ("sr-pcm-hdp", "SR-PCM-HDP", "SRPCMHDP", False, _as_dense_points, _clusters_only),
    ("tabledc", "TableDC", "TableDC", False, _as_clusters, _clusters_only),
    ("g-ceals", "G-CEALS", "GCEALS", False, _as_clusters, _clusters_only),
    ("gng", "GNG", "GNG", True, nothing_given, _counts),
    ("soinn-plus", "SOINN+", "SOINNPlus", True, nothing_given, _counts),
    ("ddvfa", "DDVFA", "DDVFA", True, _bounds, _clusters_only),
    ("caea", "CAEA", "CAEA", True, _per_call, _counts),
    ("cae", "CAE", "CAE", True, _whole_task, _counts),
]
NAMES = {entry[0] for entry in BASELINES}
DEEP = ("tabledc", "g-ceals")
QUIRKS = ("tbm-p", "ddvfa", "caea")  # by default without the departures of the authors' programs
TOLD: dict[Given, str] = {
    _as_dense_points: NUMBER_OF_CLASSES,
    _as_clusters: NUMBER_OF_CLASSES,
    _bounds: "range of each feature",
    _whole_task: "number of samples",
}


def register_baselines() -> None:
    """Add the baselines to the registry."""
    for name, title, class_name, incremental, given, count in BASELINES:
        register(
            Algorithm(
                name,
                title,
                partial(_make, class_name),
                count,
                incremental,
                parameters.space(name),
                given=given,
                told=TOLD.get(given, ""),
                in_stored_order=name == "torque-clustering",
                warms_up=name not in DEEP,
                needs="torch" if name in DEEP else "",
                extra="deep" if name in DEEP else "bench",
            )
        )


def printed_parameters(name: str, setting: str, dataset: str) -> dict[str, Any] | None:
    """The paper's parameters with the rules of the authors' program, or None if the paper has none."""
    found = parameters.published(name, setting, dataset) if name in NAMES else None
    return None if found is None else found | as_authors_ran(name)


def fitted_parameters(name: str, setting: str, dataset: str) -> dict[str, Any] | None:
    """Our parameters where the paper's do not give its numbers of nodes and clusters, or None."""
    return parameters.tuned(name, setting, dataset) if name in NAMES else None


def as_authors_ran(name: str) -> dict[str, Any]:
    """Parameters for the rules of the authors' program, where our default departs from them."""
    return {"reference_quirks": True} if name in QUIRKS else {}
