"""Shifts: whether the samples of a cluster lie elsewhere than before.

A read-out may change because the data has, or because more samples show better what was there all the
time. Only the former is news. So the samples of two successive intervals are compared, cluster by cluster:
where the same nodes have won the same shares of a cluster's samples in both, its samples lie where they lay
before (`everclust.core.communities.homogeneity`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from ...core.communities.homogeneity import Past, compare_intervals, find_wins
from ...core.communities.linked_nodes import Base
from ...core.communities.newcomers import FEWEST_WINS
from ...core.layout import NO_CLUSTER
from ...core.serialise import Arrays
from ...jit.compile import Direct
from .absences import BACK
from .schedule import is_answer

PARTED, JOINED = BACK + 1, BACK + 2  # kinds of records: a split or a merger that is no news
CLEARLY_MORE = (
    1500  # thousandths of chi-squared per degree of freedom: by chance it is up to 1,300 on streams at rest
)
DEVIATE = 4.753424  # of a normal distribution that is exceeded with a probability of one in a million


NO_PAST = Past(*np.empty((3, 0), np.int64))
_compare_intervals = Direct(compare_intervals)
_wins_before = Direct(find_wins)


class Shift(NamedTuple):
    """What is known of a cluster's shifts."""

    has_shifted: bool  # since a change of it was reported
    dispersion: int  # chi-squared per degree of freedom at the latest answer, in thousandths


def noted(past: Past, births: np.ndarray, wins: np.ndarray) -> Past:
    """The past at an answer; the same if nothing was won since."""
    _, latest = _wins_before.run(past, births)
    return past if np.array_equal(latest, wins) else Past(births, latest, wins)


def compare(past: Past, base: Base, reported: np.ndarray) -> dict[int, tuple[float, int]]:
    """Chi-squared of every reported cluster and its degrees of freedom, where there are any."""
    if not len(past.births):
        return {}
    ids, squares, freedom = _compare_intervals.run(past, base, reported)
    columns = zip(ids.tolist(), squares.tolist(), freedom.tolist(), strict=True)
    return {c: (square, degrees) for c, square, degrees in columns if degrees > 0}


def is_unlikely(square: float, freedom: int, dispersion: int) -> bool:
    """Whether the chance of such a difference is below one in a million (Wilson and Hilferty), if samples
    vary as much as before."""
    spread = 2 / (9 * freedom)
    highest = freedom * (1 - spread + DEVIATE * math.sqrt(spread)) ** 3
    return square > highest * max(1.0, dispersion / 1000)


def updated(
    shifts: Mapping[int, Shift], found: Mapping[int, tuple[float, int]], is_answer: bool
) -> dict[int, Shift]:
    """The shifts after a comparison. The first comparison of a cluster shows how much its samples vary."""
    after = dict(shifts)
    for c, (square, freedom) in found.items():
        shift = shifts.get(c)
        if shift is not None and is_unlikely(square, freedom, shift.dispersion):
            after[c] = shift = shift._replace(has_shifted=True)
        if is_answer:
            after[c] = Shift(shift is not None and shift.has_shifted, round(1000 * square / freedom))
    return after


def fewest_wins(shifts: Mapping[int, Shift]) -> int:
    """Samples that newcomers must have won: twice as many where those of most clusters vary clearly more."""
    dispersions = sorted(shift.dispersion for shift in shifts.values())
    median = dispersions[len(dispersions) // 2] if dispersions else 0
    return FEWEST_WINS * (2 if median > CLEARLY_MORE else 1)


class Shifts:
    """The shifts of all reported clusters."""

    def __init__(self) -> None:
        self._past = NO_PAST
        self.by_id: dict[int, Shift] = {}
        self.divided: list[int] = []  # clusters that the read-out alone has not found apart
        self.fewest_wins = FEWEST_WINS  # of newcomers

    def update(
        self, base: Base, is_divided: np.ndarray | None, reported: np.ndarray, known: Collection[int],
        n_seen: int,
    ) -> None:  # fmt: skip
        """Compare where the samples of reported clusters lie with where they lay before."""
        after = updated(self.by_id, compare(self._past, base, reported), is_answer(n_seen))
        self.by_id = {c: shift for c, shift in after.items() if c in known}
        self.divided = []
        if is_divided is not None:
            divided = reported[is_divided]
            self.divided = np.unique(divided[divided != NO_CLUSTER]).tolist()
        if is_answer(n_seen):
            self._past = noted(self._past, base.births, base.wins)
        self.fewest_wins = fewest_wins(self.by_id)

    def shifted(self) -> set[int]:
        """The clusters that have shifted since a change of them was reported."""
        return {c for c, shift in self.by_id.items() if shift.has_shifted}

    def forget(self, c: int) -> None:
        """A change of this cluster was reported."""
        if c in self.by_id and self.by_id[c].has_shifted:
            del self.by_id[c]
            self.fewest_wins = fewest_wins(self.by_id)

    def wins_since(self, base: Base) -> np.ndarray:
        """Samples that every node has won since the answer before the latest."""
        earlier, _ = _wins_before.run(self._past, base.births)
        wins: np.ndarray = base.wins - np.maximum(earlier, 0)
        return wins

    def rename(self, new_id: np.ndarray) -> None:
        """Give every cluster its new id."""
        self.by_id = {int(new_id[c]): shift for c, shift in self.by_id.items()}
        self.divided = sorted(int(new_id[c]) for c in self.divided)

    def export(self) -> Arrays:
        """All of it, as plain arrays."""
        rows = [(c, *shift) for c, shift in self.by_id.items()]
        return {
            "community_divided": np.array(self.divided, np.int64),
            "community_past": np.column_stack(self._past),
            "community_shift": np.array(rows, np.int64).reshape(-1, 1 + len(Shift._fields)),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take over what `export` wrote."""
        self._past = Past(*arrays["community_past"].T.copy())
        self.divided = arrays["community_divided"].tolist()
        rows = arrays["community_shift"].tolist()
        self.by_id = {c: Shift(bool(has_shifted), dispersion) for c, has_shifted, dispersion in rows}
        self.fewest_wins = fewest_wins(self.by_id)
