"""Registers river's clusterers of streams, with search spaces for their parameters.

All of them are told the mean and standard deviation of each feature, because they measure distances and do
not learn scales. CluStream and STREAMKMeans have the number of clusters as a parameter: they are told the
number of classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from ...optional import require
from .registry import NUMBER_OF_CLASSES, Algorithm, Range, number_of_classes, register

SCALES = "scale of each feature"


class River(NamedTuple):
    """A clusterer of river, and how its parameters are found."""

    name: str
    class_name: str
    space: Mapping[str, Range]
    number: str = ""
    """The parameter for the number of classes."""
    radius: str = ""
    """The parameter that is a distance: the search is for its ratio to the root of the number of features."""


RIVER = [
    River(
        "dbstream",
        "DBSTREAM",
        {
            "clustering_threshold": (0.1, 2.0, "log"),
            "fading_factor": (1e-4, 0.1, "log"),
            "cleanup_interval": (2, 1000),
            "intersection_factor": (0.05, 0.5),
            "minimum_weight": (1.0, 10.0),
        },
        radius="clustering_threshold",
    ),
    River(
        "denstream",
        "DenStream",
        {
            "epsilon": (0.02, 2.0, "log"),
            "decaying_factor": (1e-3, 1.0, "log"),
            "beta": (0.51, 1.0),  # beta · mu must exceed 1
            "mu": (2.0, 10.0),
            "n_samples_init": (10, 100),
        },
        radius="epsilon",
    ),
    River(
        "clustream",
        "CluStream",
        {
            "max_micro_clusters": (10, 100),
            "micro_cluster_r_factor": (1.0, 4.0),
            "time_window": (100, 10_000),
            "time_gap": (10, 100),
            "halflife": (0.05, 1.0),
        },
        number="n_macro_clusters",
    ),
    River(
        "streamkmeans",
        "STREAMKMeans",
        {"chunk_size": (10, 200), "halflife": (0.05, 1.0), "sigma": (0.1, 3.0)},
        number="n_clusters",
    ),
]


class StandardisedStream:
    """A clusterer of river behind scikit-learn's methods, which learns standardised samples one by one.

    Parameters
    ----------
    model : river.base.Clusterer
    mean, scale : ndarray of shape (n_features,)
    """

    def __init__(self, model: Any, mean: np.ndarray, scale: np.ndarray) -> None:
        self.model = model
        self._mean, self._scale = mean, scale

    def partial_fit(self, X: np.ndarray) -> Self:
        """Learn the rows in their order."""
        for sample in self._samples(X):
            self.model.learn_one(sample)
        return self

    fit = partial_fit

    def predict(self, X: np.ndarray) -> np.ndarray:
        """What `predict_one` of the model says of each row."""
        samples = self._samples(X)
        if type(self.model).__name__ == "CluStream":  # not the nearest centre, but that of a micro-cluster
            return np.array([self.model.predict_one(sample) for sample in samples])
        # Elsewhere it is the nearest centre, for which DenStream would group its micro-clusters row by row.
        self.model.predict_one(samples[0])
        if not self.model.centers:
            return np.zeros(len(X), dtype=int)
        centers = [[center.get(j, 0.0) for j in samples[0]] for center in self.model.centers.values()]
        return pairwise_distances_argmin((X - self._mean) / self._scale, np.array(centers))

    def _samples(self, X: np.ndarray) -> list[dict[int, float]]:
        return [dict(enumerate(row)) for row in ((X - self._mean) / self._scale).tolist()]


def _given(number: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    deviation = X.std(axis=0)
    scales = {"mean": X.mean(axis=0), "scale": np.where(deviation > 0, deviation, 1.0)}
    return scales | (number_of_classes(number, X, y) if number else {})


def _make(river: River, params: dict[str, Any], seed: int) -> StandardisedStream:
    cluster = require("river.cluster", extra="bench", purpose=river.class_name)
    mean, scale = params["mean"], params["scale"]
    own = {name: value for name, value in params.items() if name not in ("mean", "scale")}
    if river.radius in own:
        own[river.radius] *= len(mean) ** 0.5
    random = {"seed": seed} if river.number else {}
    return StandardisedStream(getattr(cluster, river.class_name)(**random, **own), mean, scale)


def _n_centers(estimator: StandardisedStream) -> tuple[None, int]:
    return None, len(estimator.model.centers)


def register_streams() -> None:
    """Add river's clusterers to the registry, whether river is installed or not."""
    for river in RIVER:
        register(
            Algorithm(
                river.name,
                f"{river.class_name} (river)",
                partial(_make, river),
                _n_centers,
                incremental=True,
                space=river.space,
                kind="streams",
                given=partial(_given, river.number),
                told="; ".join(filter(None, [NUMBER_OF_CLASSES if river.number else "", SCALES])),
                needs="river",
                warms_up=False,
            )
        )
