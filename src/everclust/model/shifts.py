"""Shifts: whether the samples of a cluster lie elsewhere than before.

A read-out may change because the data has, or because more samples show better what was there all the
time. Only the former is news. So the samples of two successive intervals are compared, cluster by cluster:
where the same nodes have won the same shares of a cluster's samples in both, its samples lie where they lay
before. The nodes that were there before both intervals are the cells of a test of homogeneity (chi-squared);
what a younger node won counts for the cell that it hands over to most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..core.communities.linked_nodes import Base
from ..core.layout import NO_CLUSTER, NONE
from .absences import BACK

PARTED, JOINED = BACK + 1, BACK + 2  # kinds of records: a split or a merger that is no news
FEWEST_EXPECTED = 5  # samples of a cell in either interval; smaller cells of a cluster are one cell (Cochran)
DEVIATE = 4.753424  # of a normal distribution that is exceeded with a probability of one in a million


class Past(NamedTuple):
    """What nodes had won at the latest two answers, between which and after which their wins are compared."""

    births: np.ndarray  # rising
    earlier: np.ndarray  # wins at the answer before the latest, or NONE for nodes that were not there
    latest: np.ndarray


NO_PAST = Past(*np.empty((3, 0), np.int64))


class Shift(NamedTuple):
    """What is known of a cluster's shifts."""

    has_shifted: bool  # since a change of it was told
    dispersion: int  # chi-squared per degree of freedom at the latest answer, in thousandths


def noted(past: Past, births: np.ndarray, wins: np.ndarray) -> Past:
    """The past at an answer; the same if nothing was won since."""
    known, _, latest = wins_before(past, births)
    if known.all() and np.array_equal(latest, wins):
        return past
    return Past(births, np.where(known, latest, NONE), wins)


def wins_before(past: Past, births: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which nodes were there at the latest answer, and their wins at the one before it and at that one."""
    if not len(past.births):
        return np.zeros(len(births), bool), np.full(len(births), NONE), np.zeros(len(births), np.int64)
    place = np.minimum(past.births.searchsorted(births), len(past.births) - 1)
    known = past.births[place] == births
    return known, np.where(known, past.earlier[place], NONE), np.where(known, past.latest[place], 0)


def cells_of(is_cell: np.ndarray, told: np.ndarray, links: np.ndarray) -> np.ndarray:
    """The cell of every node: itself, or that of the node of the same cluster that it hands over to most of
    those that have one; NONE without any."""
    cell = np.where(is_cell, np.arange(len(told)), NONE)
    pairs = links[(told[links[:, 0]] == told[links[:, 1]]) & ~(is_cell[links[:, 0]] & is_cell[links[:, 1]])]
    new, old, count = np.concatenate([pairs, pairs[:, [1, 0, 2]]]).T
    while (meets := (cell[new] == NONE) & (cell[old] != NONE)).any():
        order = np.lexsort((old[meets], -count[meets], new[meets]))
        nodes, first = np.unique(new[meets][order], return_index=True)
        cell[nodes] = cell[old[meets][order][first]]
    return cell


def compare(past: Past, base: Base, told: np.ndarray) -> dict[int, tuple[float, int]]:
    """Chi-squared of every told cluster and its degrees of freedom, where there are any."""
    _, earlier, latest = wins_before(past, base.births)
    is_cell = (earlier != NONE) & (told != NO_CLUSTER)
    if not is_cell.any():
        return {}
    cell = cells_of(is_cell, told, base.links)
    counted = cell != NONE
    won = [latest - np.maximum(earlier, 0), base.wins - latest]
    before, after = (np.bincount(cell[counted], n[counted], len(told))[is_cell] for n in won)
    ids, cluster = np.unique(told[is_cell], return_inverse=True)
    squares, freedom = homogeneity(cluster, before, after)
    columns = zip(ids.tolist(), squares.tolist(), freedom.tolist(), strict=True)
    return {c: (square, degrees) for c, square, degrees in columns if degrees > 0}


def homogeneity(cluster: np.ndarray, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Chi-squared of every cluster and its degrees of freedom, from counts of cells in two intervals."""
    n_clusters, total = cluster.max() + 1, before + after
    sums = np.bincount(cluster, total)
    share = np.bincount(cluster, after) / np.maximum(sums, 1)
    is_large = total * np.minimum(share, 1 - share)[cluster] >= FEWEST_EXPECTED
    small = ~is_large
    where = np.concatenate([cluster[is_large], np.arange(n_clusters)])
    total = np.concatenate([total[is_large], np.bincount(cluster[small], total[small], n_clusters)])
    after = np.concatenate([after[is_large], np.bincount(cluster[small], after[small], n_clusters)])
    variance = total * (share * (1 - share))[where]
    there = variance > 0
    square = (after - total * share[where])[there] ** 2 / variance[there]
    where = where[there]
    return np.bincount(where, square, n_clusters), np.bincount(where, minlength=n_clusters) - 1


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
