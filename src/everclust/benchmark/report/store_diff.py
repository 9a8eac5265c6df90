"""Compare the results of two stores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

MEASURES = ("ari", "ami", "ai_ari", "ai_ami", "bwt_ari", "bwt_ami", "nodes", "clusters")
Row = dict[str, Any]
Place = tuple[str, str, str]  # algorithm, data set, setting


class Difference(NamedTuple):
    """The means of a measure over the runs in two stores."""

    algorithm: str
    dataset: str
    setting: str
    measure: str
    first: float
    second: float
    n_first: int
    n_second: int

    @property
    def difference(self) -> float:
        """The second mean minus the first."""
        return self.second - self.first


def differences(first: Iterable[Row], second: Iterable[Row], *, times: bool = False) -> list[Difference]:
    """Compare all means that both stores have.

    Parameters
    ----------
    first, second : iterable of dict
        Rows of `Store.results`; only those with status "ok" count.
    times : bool, default=False
        Include the CPU seconds of learning.

    Returns
    -------
    differences : list of Difference
    """
    ours, theirs = _by_place(first), _by_place(second)
    found = []
    for place in [place for place in ours if place in theirs]:
        for measure in (*MEASURES, *(["train_cpu_seconds"] if times else [])):
            one, other = _values(ours[place], measure), _values(theirs[place], measure)
            if len(one) and len(other):
                means = float(one.mean()), float(other.mean())
                found.append(Difference(*place, measure, *means, len(one), len(other)))
    return found


def _by_place(rows: Iterable[Row]) -> dict[Place, list[Row]]:
    places: dict[Place, list[Row]] = {}
    for row in rows:
        if row["status"] == "ok":
            places.setdefault((row["algorithm"], row["dataset"], row["setting"]), []).append(row)
    return places


def _values(rows: list[Row], measure: str) -> np.ndarray:
    return np.array([row[measure] for row in rows if row[measure] is not None], dtype=float)
