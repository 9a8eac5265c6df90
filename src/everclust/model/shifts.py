"""Shifts: whether the samples of a cluster lie elsewhere than before.

A read-out may change because the data has, or because more samples show better what was there all the
time. Only the former is news. So the samples of two successive intervals are compared, cluster by cluster:
where the same nodes have won the same shares of a cluster's samples in both, its samples lie where they lay
before (`everclust.core.communities.homogeneity`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..core.communities.homogeneity import Past, compare_intervals, find_wins
from ..core.communities.linked_nodes import Base
from ..core.communities.newcomers import FEWEST_WINS
from ..jit.compile import Direct
from .absences import BACK

PARTED, JOINED = BACK + 1, BACK + 2  # kinds of records: a split or a merger that is no news
CLEARLY_MORE = (
    1500  # thousandths of chi-squared per degree of freedom: by chance it is up to 1,300 on streams at rest
)
DEVIATE = 4.753424  # of a normal distribution that is exceeded with a probability of one in a million


NO_PAST = Past(*np.empty((3, 0), np.int64))
_compare_intervals = Direct(compare_intervals)
wins_before = Direct(find_wins)


class Shift(NamedTuple):
    """What is known of a cluster's shifts."""

    has_shifted: bool  # since a change of it was told
    dispersion: int  # chi-squared per degree of freedom at the latest answer, in thousandths


def noted(past: Past, births: np.ndarray, wins: np.ndarray) -> Past:
    """The past at an answer; the same if nothing was won since."""
    _, latest = wins_before.run(past, births)
    return past if np.array_equal(latest, wins) else Past(births, latest, wins)


def compare(past: Past, base: Base, told: np.ndarray) -> dict[int, tuple[float, int]]:
    """Chi-squared of every told cluster and its degrees of freedom, where there are any."""
    if not len(past.births):
        return {}
    ids, squares, freedom = _compare_intervals.run(past, base, told)
    columns = zip(ids.tolist(), squares.tolist(), freedom.tolist(), strict=True)
    return {c: (square, degrees) for c, square, degrees in columns if degrees > 0}


def is_unlikely(square: float, freedom: int, dispersion: int) -> bool:
    """Whether the chance of such a difference is below one in a million (Wilson and Hilferty), if samples
    vary as much as before."""
    spread = 2 / (9 * freedom)
    highest = freedom * (1 - spread + DEVIATE * math.sqrt(spread)) ** 3
    return square > highest * max(1.0, dispersion / 1000)


def looked_at(
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
