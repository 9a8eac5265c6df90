"""What a run keeps beside its row of the store: further scores, and the label of every sample.

They have a table of their own, so that stores made before it was there, and everclust before it was there,
go on working. Labels are in the order of the data set's file, as the smallest integers that hold them, and
compressed.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

KEY = ("algorithm", "dataset", "setting", "seed", "params_json")
LABEL_TYPES = ("u1", "i1", "<u2", "<i2", "<u4", "<i4", "<i8")
_CREATE = (
    f"CREATE TABLE IF NOT EXISTS details ({', '.join(f'{name} NOT NULL' for name in KEY)}, "
    f"scores TEXT NOT NULL, label_type TEXT NOT NULL, labels BLOB NOT NULL, PRIMARY KEY ({', '.join(KEY)}))"
)
_ADD = f"INSERT OR IGNORE INTO details VALUES ({', '.join('?' * (len(KEY) + 3))})"


class Details(NamedTuple):
    """Further scores and labels of a run."""

    scores: dict[str, Any]
    """Scores by name. If there are several labellings: "labellings", a dict of lists with one value for each,
    and the best of each score, such as "best_ari"."""
    labels: np.ndarray
    """Cluster of each sample, in the order of the file."""


def whole(labels: np.ndarray) -> np.ndarray:
    """Labels as integers; labels of another kind, such as strings, become codes in their order."""
    if labels.dtype.kind in "iub":
        return labels.astype(np.int64)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def smallest(labels: np.ndarray) -> np.ndarray:
    """Integers as the smallest type that holds them, little-endian."""
    low, high = int(labels.min(initial=0)), int(labels.max(initial=0))
    types = (np.dtype(name) for name in LABEL_TYPES)
    return labels.astype(next(t for t in types if np.iinfo(t).min <= low and high <= np.iinfo(t).max))


def create(connection: sqlite3.Connection) -> None:
    """Create the table, if it is not there."""
    connection.execute(_CREATE)


def add(connection: sqlite3.Connection, key: tuple[Any, ...], details: Details) -> None:
    """Write the details of a run; those that are there stay.

    Parameters
    ----------
    connection : sqlite3.Connection
    key : tuple
        `everclust.benchmark.run.jobs.Job.key`.
    details : Details
    """
    labels = smallest(details.labels)
    packed = zlib.compress(labels.tobytes(), 9)
    connection.execute(_ADD, (*key, json.dumps(details.scores), labels.dtype.str, packed))


def scores_by_key(connection: sqlite3.Connection) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Further scores of all runs.

    Parameters
    ----------
    connection : sqlite3.Connection

    Returns
    -------
    scores : dict of dict
    """
    rows = connection.execute(f"SELECT {', '.join(KEY)}, scores FROM details")
    return {tuple(row[name] for name in KEY): json.loads(row["scores"]) for row in rows}


def labels_by_key(connection: sqlite3.Connection) -> Iterator[tuple[tuple[Any, ...], np.ndarray]]:
    """Label vectors of all runs, one after the other.

    Parameters
    ----------
    connection : sqlite3.Connection

    Yields
    ------
    key : tuple
    labels : ndarray of shape (n_samples,)
    """
    for row in connection.execute(f"SELECT {', '.join(KEY)}, label_type, labels FROM details ORDER BY rowid"):
        labels = np.frombuffer(zlib.decompress(row["labels"]), dtype=row["label_type"])
        yield tuple(row[name] for name in KEY), labels
