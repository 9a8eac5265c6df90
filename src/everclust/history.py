"""`everclust.History`: records interval, vigilance, nodes and clusters along the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .estimators.clusterer import Clusterer
from .optional import require
from .text import counted

if TYPE_CHECKING:
    import pandas

_COLUMNS = ("n_samples_seen", "interval", "vigilance", "n_nodes", "n_active_nodes", "n_clusters")


class History:
    """Records interval, vigilance, nodes and clusters of a model at regular steps of the stream.

    Pass it to `everclust.learn`, or call `record` in a loop of your own.

    Parameters
    ----------
    every : int, default=100
        Samples between two records. `everclust.learn` takes one whenever the number of samples that the model
        has seen is a multiple of it, however the stream is cut into batches.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust import EverClust, History, learn
    >>> history = History(every=50)
    >>> model = learn(EverClust(), load_iris().data, history=history)
    >>> history.n_samples_seen
    array([ 50, 100, 150])
    >>> bool(history.n_nodes[-1] == model.n_nodes_)
    True
    """

    def __init__(self, every: int = 100) -> None:
        if every < 1:
            raise ValueError(f"every is {every}, but it must be at least 1 sample.")
        self.every = every
        self._records: list[tuple[Any, ...]] = []

    def record(self, model: Clusterer) -> None:
        """Add a record of the model as it is now.

        Parameters
        ----------
        model : EverClust or IDAT
        """
        now = model.snapshot()
        n_nodes, n_active = len(now.usage), int(now.active.sum())
        self._records.append(
            (now.n_samples_seen, now.interval, now.vigilance, n_nodes, n_active, now.n_clusters)
        )

    def to_frame(self) -> pandas.DataFrame:
        """All columns as a table with one row per record.

        Returns
        -------
        frame : pandas.DataFrame
        """
        pandas = require("pandas", extra="report", purpose="tables of a history")
        return pandas.DataFrame({name: getattr(self, name) for name in _COLUMNS})

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        often = "sample" if self.every == 1 else counted(self.every, "sample")
        return f"<History: {counted(len(self), 'record')}, one every {often}>"

    @property
    def n_samples_seen(self) -> np.ndarray:
        """Number of samples that the model had learnt."""
        return self._column("n_samples_seen")

    @property
    def interval(self) -> np.ndarray:
        """Recalculation interval, in samples."""
        return self._column("interval")

    @property
    def vigilance(self) -> np.ndarray:
        """Vigilance threshold."""
        return self._column("vigilance", float)

    @property
    def n_nodes(self) -> np.ndarray:
        """Number of nodes."""
        return self._column("n_nodes")

    @property
    def n_active_nodes(self) -> np.ndarray:
        """Number of active nodes."""
        return self._column("n_active_nodes")

    @property
    def n_clusters(self) -> np.ndarray:
        """Number of clusters."""
        return self._column("n_clusters")

    def _column(self, name: str, dtype: type = int) -> np.ndarray:
        k = _COLUMNS.index(name)
        return np.array([record[k] for record in self._records], dtype=dtype)
