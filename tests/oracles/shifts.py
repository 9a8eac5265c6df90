"""Shifts of clusters in slow, plain Python, which those of the model are compared with.

It keeps the wins of all nodes at every answer, and compares the samples between the latest two answers with
those since. Nothing is imported from everclust, so that both cannot share a mistake.
"""

import math
from fractions import Fraction
from typing import NamedTuple

DEVIATE = 4.753424  # one-sided, one in a million

Wins = dict[int, int]  # by birth


class Nodes(NamedTuple):
    """The nodes at an update: wins and reported clusters by birth (None: no cluster), hand-overs by pair."""

    wins: Wins
    reported: dict[int, int | None]
    handovers: dict[tuple[int, int], int]


class Shifts:
    """Which clusters have shifted, and how much the samples of every cluster vary."""

    def __init__(self) -> None:
        self.answers: list[Wins] = []
        self.shifted: set[int] = set()
        self.dispersion: dict[int, int] = {}

    def update(self, nodes: Nodes, is_answer: bool, reported_changes: set[int]) -> None:
        """The clusters of `reported_changes` have changed, which was reported at this update."""
        for c in reported_changes & self.shifted:
            self.shifted.discard(c)
            self.dispersion.pop(c)
        if len(self.answers) > 1:
            self.compare(nodes, is_answer)
        there = set(nodes.reported.values())
        self.shifted &= there
        self.dispersion = {c: d for c, d in self.dispersion.items() if c in there}
        if is_answer:
            self.answers.append(dict(nodes.wins))

    def compare(self, nodes: Nodes, is_answer: bool) -> None:
        """Hold the samples since the latest answer against those between it and the one before."""
        for c in sorted({c for c in nodes.reported.values() if c is not None}):
            table = cells(nodes, c, *self.answers[-2:])
            square, freedom = chi_squared(table)
            if freedom < 1:
                continue
            if c in self.dispersion and square > limit(freedom) * max(1, self.dispersion[c] / 1000):
                self.shifted.add(c)
            if is_answer:
                self.dispersion[c] = round(1000 * float(square) / freedom)


def cells(nodes: Nodes, c: int, earlier: Wins, latest: Wins) -> list[tuple[int, int]]:
    """What the cells of a cluster won in both intervals."""
    members = sorted(k for k in nodes.wins if nodes.reported[k] == c)
    cell = {k: k for k in members if k in earlier and k in latest}
    while True:
        joins = {}
        for k in members:
            if k not in cell:
                count, old = max(
                    ((nodes.handovers.get((min(k, j), max(k, j)), 0), -j) for j in cell), default=(0, 0)
                )
                if count:
                    joins[k] = cell[-old]
        if not joins:
            break
        cell |= joins
    before = {k: latest.get(k, 0) - earlier.get(k, 0) * (k in latest) for k in cell}
    after = {k: nodes.wins[k] - latest.get(k, 0) for k in cell}
    return [
        (sum(before[j] for j in cell if cell[j] == k), sum(after[j] for j in cell if cell[j] == k))
        for k in cell
        if cell[k] == k
    ]


def chi_squared(table: list[tuple[int, int]]) -> tuple[Fraction, int]:
    """Of a table with two columns, whose small rows are one."""
    n, n_after = sum(map(sum, table)), sum(after for _, after in table)
    if n_after in (0, n):
        return Fraction(0), 0
    share = Fraction(n_after, n)
    small = [row for row in table if sum(row) * min(share, 1 - share) < 5]
    large = [row for row in table if row not in small]
    rows = [row for row in [*large, (sum(b for b, _ in small), sum(a for _, a in small))] if sum(row)]
    square = sum((after - (before + after) * share) ** 2 / (before + after) for before, after in rows)
    return square / (share * (1 - share)), len(rows) - 1


def limit(freedom: int) -> float:
    """Chi-squared that is exceeded with a probability of one in a million (Wilson and Hilferty)."""
    return freedom * (1 - 2 / (9 * freedom) + DEVIATE * math.sqrt(2 / (9 * freedom))) ** 3
