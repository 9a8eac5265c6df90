"""Demšar's critical-difference diagram: mean ranks on an axis, and bars over groups without difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .svg import drawing, line, text

AXIS_WIDTH = 280
PER_LETTER = 8  # width of the margin, which holds the names
AXIS_Y = 56
BAR_STEP, ROW_STEP = 10, 22
OVERHANG = 4  # length of a bar beyond its outer stems


class _Scale(NamedTuple):
    """Maps ranks to positions on the axis."""

    n_algorithms: int
    margin: float

    def at(self, rank: float) -> float:
        return self.margin + (rank - 1) * AXIS_WIDTH / (self.n_algorithms - 1)

    @property
    def width(self) -> float:
        return AXIS_WIDTH + 2 * self.margin


def diagram(
    names: Sequence[str], mean_ranks: Sequence[float], difference: float, groups: Sequence[Sequence[int]]
) -> str:
    """Draw the diagram as SVG, best rank at the left.

    Parameters
    ----------
    names : sequence of str
    mean_ranks : sequence of float
        One per name, from 1 to the number of names.
    difference : float
        The critical difference, drawn as a ruler.
    groups : sequence of sequence of int
        Groups without a significant difference, from `everclust.benchmark.report.statistics.ranks.groups`.

    Returns
    -------
    svg : str

    Examples
    --------
    >>> from everclust.benchmark.report.figures.cd_diagram import diagram
    >>> diagram(["a", "b", "c"], [1.2, 2.0, 2.8], 1.0, [[0, 1], [1, 2]])[:4]
    '<svg'
    """
    scale = _Scale(len(names), 20 + PER_LETTER * (max(map(len, names)) + len(" 1.23")))
    first_row = AXIS_Y + BAR_STEP * (len(groups) + 1) + ROW_STEP / 2
    n_rows = (len(names) + 1) // 2
    parts = [*_ruler(scale, difference), *_axis(scale), *_stems(scale, names, mean_ranks, first_row)]
    parts += _bars(scale, mean_ranks, groups)
    height = first_row + ROW_STEP * (n_rows - 1) + 12
    return drawing(scale.width, height, parts, in_words(names, mean_ranks, groups), "cd")


def in_words(names: Sequence[str], mean_ranks: Sequence[float], groups: Sequence[Sequence[int]]) -> str:
    """Describe the diagram in words."""
    order = ", ".join(f"{names[k]} {mean_ranks[k]:.2f}" for k in np.argsort(mean_ranks, kind="stable"))
    joined = "; ".join(", ".join(names[k] for k in group) for group in groups)
    return f"Mean ranks: {order}. Not significantly different: {joined or 'none'}."


def _axis(scale: _Scale) -> list[str]:
    parts = [line(scale.at(1), AXIS_Y, scale.at(scale.n_algorithms), AXIS_Y, "axis")]
    for rank in range(1, scale.n_algorithms + 1):
        parts.append(line(scale.at(rank), AXIS_Y - 6, scale.at(rank), AXIS_Y, "axis"))
        parts.append(text(scale.at(rank), AXIS_Y - 11, str(rank), "middle", "tick"))
    halves = (scale.at(rank + 0.5) for rank in range(1, scale.n_algorithms))
    return [*parts, *(line(x, AXIS_Y - 3, x, AXIS_Y, "axis") for x in halves)]


def _ruler(scale: _Scale, difference: float) -> list[str]:
    start, end, y = scale.at(1), scale.at(1 + difference), 18
    ends = [line(x, y - 4, x, y + 4, "axis") for x in (start, end)]
    return [line(start, y, end, y, "ruler"), *ends, text(end + 8, y + 4, f"CD = {difference:.3f}")]


def _stems(scale: _Scale, names: Sequence[str], mean_ranks: Sequence[float], first_row: float) -> list[str]:
    """The better half at the left, best on top; the others at the right, worst on top."""
    best_first = np.argsort(mean_ranks, kind="stable").tolist()
    half = (len(names) + 1) // 2
    parts: list[str] = []
    for left, members in ((True, best_first[:half]), (False, best_first[: half - 1 : -1])):
        for row, k in enumerate(members):
            y = first_row + ROW_STEP * row
            parts += _stem(scale, mean_ranks[k], y, left)
            parts.append(_name(scale, f"{mean_ranks[k]:.2f}", names[k], y, left))
    return parts


def _stem(scale: _Scale, rank: float, y: float, left: bool) -> list[str]:
    x, edge = scale.at(rank), scale.margin - 12 if left else scale.width - scale.margin + 12
    return [line(x, AXIS_Y, x, y, "stem"), line(x, y, edge, y, "stem")]


def _name(scale: _Scale, rank: str, name: str, y: float, left: bool) -> str:
    if left:
        return text(scale.margin - 18, y + 4.5, f"{name}\u2002{rank}", "end")
    return text(scale.width - scale.margin + 18, y + 4.5, f"{rank}\u2002{name}")


def _bars(scale: _Scale, mean_ranks: Sequence[float], groups: Sequence[Sequence[int]]) -> list[str]:
    parts = []
    for row, group in enumerate(groups):
        reach = [scale.at(mean_ranks[k]) for k in group]
        y = AXIS_Y + BAR_STEP * (row + 1)
        parts.append(line(min(reach) - OVERHANG, y, max(reach) + OVERHANG, y, "bar"))
    return parts
