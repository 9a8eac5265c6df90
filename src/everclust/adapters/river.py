"""A clusterer for river: dicts one by one, DataFrames in mini-batches, pipelines and metrics.

docs/river.md says what was measured.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.layout import NO_CLUSTER
from ..estimators.algorithms import ALGORITHMS
from ..estimators.everclust import EverClust
from ..estimators.idat import IDAT
from ..model.novelty import Known, similarities
from ..model.predict import labels
from ..model.report import cluster_centres, members
from ..model.snapshot import Snapshot
from ..optional import require
from .river_rows import BLOCK, Features, Rows

if TYPE_CHECKING:
    from river import base
else:
    base = require("river.base", extra="river", purpose="clustering in river")

LAG = 64  # clusters are read out anew after 1/64 more samples: docs/river.md has the cost of other lags
LONGEST_LAG = 1000  # samples


class RiverEverClust(base.Clusterer):
    """EverClust as a river clusterer: no number of clusters, radius or fading factor to choose.

    The keys of the first sample learnt fix the features and their order. From then on, a key that is missing
    counts as 0, as in river's own clusterers, and a new key is ignored. Values must be finite numbers.

    Before the first sample, `predict_one` answers -1, which is never the id of a cluster, and `score_one`
    answers 1. Ids of clusters are permanent, as those of `everclust.EverClust`.

    Every sample is learnt in the order in which it comes, but clusters are not read out for every prediction:
    predictions see them as they were at most 1/64 of the samples ago (1,000 samples at most).

    Parameters
    ----------
    algorithm
        "everclust", or "idat" for the published algorithm.
    metric
        "capped" or "euclidean", see `everclust.EverClust`. None stands for the algorithm's own: "capped", or
        for IDAT, which has no other, "euclidean".
    max_nodes
        Largest number of nodes. None stands for no bound.

    Attributes
    ----------
    estimator
        The `everclust.EverClust` or `everclust.IDAT` that has learnt all samples so far: it has events,
        reports and plots, and is saved with `estimator.save(path)`.
    n_clusters
        Number of clusters that predictions choose from.
    centers
        Mean of each of these clusters, by id: a dict of features.

    Examples
    --------
    >>> from river import preprocessing, stream
    >>> from sklearn.datasets import load_iris
    >>> from everclust.adapters.river import RiverEverClust

    >>> model = preprocessing.StandardScaler() | RiverEverClust()
    >>> for x, _ in stream.iter_sklearn_dataset(load_iris()):
    ...     model.learn_one(x)
    >>> model.predict_one(x) in model["RiverEverClust"].centers
    True
    >>> 0 < model.score_one(x) < model.score_one(dict.fromkeys(x, 100)) < 1
    True
    """

    def __init__(
        self, algorithm: str = "everclust", metric: str | None = None, max_nodes: int | None = None
    ) -> None:
        self.algorithm = algorithm
        self.metric = metric
        self.max_nodes = max_nodes
        self._estimator = _new_estimator(algorithm, metric, max_nodes)
        self._rows: Rows | None = None
        self._read_at = 0  # number of samples when clusters were last due to be read out
        self._snapshot: Snapshot | None = None
        self._known: Known | None = None

    def learn_one(self, x: Features) -> None:
        """Learn one sample.

        Parameters
        ----------
        x
            A dictionary of features.
        """
        if self._rows is None:
            rows = Rows(x)
            rows.add(x)
            self._begin(rows)
        else:
            if self._rows.n_waiting == BLOCK:
                self._learn_waiting()
            self._rows.add(x)

    def learn_many(self, X: Any) -> None:
        """Learn the rows of a DataFrame, in their order. If one of them is invalid, none is learnt.

        Parameters
        ----------
        X
            A DataFrame of pandas or polars.
        """
        if not len(X):
            return
        rows = self._rows or Rows(X.columns)
        table = rows.of_frame(X)
        if self._rows is None:
            self._begin(rows)
        self._learn_waiting()
        self._estimator._learn_rows(table)

    def predict_one(self, x: Features) -> int:
        """Id of the cluster of a sample, or -1 before the first sample was learnt.

        Parameters
        ----------
        x
            A dictionary of features.

        Returns
        -------
        A cluster number.
        """
        if self._rows is None:
            return NO_CLUSTER
        row = self._rows.of_dict(x)
        return int(labels(self._clusters(), row)[0])

    def predict_many(self, X: Any) -> Any:
        """Id of the cluster of each row, or -1 before the first sample was learnt.

        Parameters
        ----------
        X
            A DataFrame of pandas or polars.

        Returns
        -------
        A Series of the same package, with the same index.
        """
        if self._rows is None or not len(X):
            return _series(np.full(len(X), NO_CLUSTER), X)
        table = self._rows.of_frame(X)
        return _series(labels(self._clusters(), table), X)

    def score_one(self, x: Features) -> float:
        """How novel a sample is, from 0 to 1: `1 - estimator.score_samples`, or 1 before the first sample.

        Parameters
        ----------
        x
            A dictionary of features.

        Returns
        -------
        A score; high means novel, as in river's anomaly detectors.
        """
        if self._rows is None:
            return 1.0
        row = self._rows.of_dict(x)
        self._forget_old()
        if self._known is None:
            self._known = self._estimator._learner.known()
        return 1.0 - float(similarities(self._known, row)[0])

    @property
    def estimator(self) -> EverClust | IDAT:
        """The estimator, which has learnt all samples so far."""
        self._learn_waiting()
        return self._estimator

    @property
    def n_clusters(self) -> int:
        """Number of clusters that predictions choose from."""
        return 0 if self._rows is None else self._clusters().n_clusters

    @property
    def centers(self) -> dict[int, dict[Any, float]]:
        """Mean of each cluster, by id."""
        if self._rows is None:
            return {}
        now = self._clusters()
        means = cluster_centres(now).tolist()
        pairs = zip(members(now), means, strict=True)
        return {
            int(cluster): dict(zip(self._rows.features, mean, strict=True)) for (cluster, _), mean in pairs
        }

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {}
        yield {"algorithm": "idat"}
        yield {"metric": "euclidean", "max_nodes": 50}

    # Learning

    def _begin(self, rows: Rows) -> None:
        """Fix the features."""
        self._rows = rows
        if all(isinstance(name, str) for name in rows.features):
            self._estimator.feature_names_in_ = np.array(rows.features, dtype=object)

    def _learn_waiting(self) -> None:
        """Learn the rows that wait. After Ctrl-C, those that were not learnt wait on."""
        rows = self._rows
        if rows is None or not rows.n_waiting:
            return
        before = self._n_seen()
        try:
            self._estimator._learn_rows(rows.waiting())
        finally:
            rows.drop(self._n_seen() - before)

    def _n_seen(self) -> int:
        return self._estimator.n_samples_seen_ if self._estimator.__sklearn_is_fitted__() else 0

    # Reading

    def _clusters(self) -> Snapshot:
        """The clusters to predict from."""
        self._forget_old()
        if self._snapshot is None:
            self._snapshot = self._estimator._learner.snapshot()
        return self._snapshot

    def _forget_old(self) -> None:
        """Learn what waits, and forget what was read out too many samples ago."""
        self._learn_waiting()
        n_seen = self._estimator._learner.scalar("n_seen")
        if LAG * (n_seen - self._read_at) > n_seen or n_seen - self._read_at >= LONGEST_LAG:
            self._read_at, self._snapshot, self._known = n_seen, None, None


def _series(ids: np.ndarray, X: Any) -> Any:
    """A Series like the columns of X."""
    package = import_module(type(X).__module__.partition(".")[0])
    return package.Series(ids, index=X.index) if hasattr(X, "index") else package.Series(ids)


def _new_estimator(algorithm: str, metric: str | None, max_nodes: int | None) -> EverClust | IDAT:
    """The estimator, with parameters that are valid."""
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm is {algorithm!r}, but it must be {' or '.join(map(repr, ALGORITHMS))}.")
    if algorithm == "idat" and metric not in (None, "euclidean"):
        raise ValueError(f"metric is {metric!r}, but IDAT is Euclidean; leave the metric out.")
    chosen: dict[str, Any] = {} if metric is None or algorithm == "idat" else {"metric": metric}
    estimator = ALGORITHMS[algorithm](max_nodes=max_nodes, **chosen)
    estimator._chosen_variant()
    return estimator
