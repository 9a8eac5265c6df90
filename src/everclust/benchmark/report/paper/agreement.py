"""Compare our results with the paper's: verdicts, and their counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import product
from typing import NamedTuple

from ...run.settings import SETTINGS
from ..names import algorithm_title, is_variant
from ..outcomes import PRINTED, CellStatistics, Measure, Outcomes, Place, cell_statistics
from .published import published, published_cell, published_mark

PAPER_RUNS = 30


class Verdict(IntEnum):
    """Distance of our mean from the published mean."""

    ONE = 1
    """Within one published standard deviation plus our standard error."""
    TWO = 2
    """Within two, but not within one."""
    BEYOND = 3


class Comparison(NamedTuple):
    """A cell for which both we and the paper have a number."""

    algorithm: str
    dataset: str
    setting: str
    measure: Measure
    ours: CellStatistics
    mean: float
    deviation: float

    @property
    def difference(self) -> float:
        """Our mean minus the published mean."""
        return self.ours.mean - self.mean

    @property
    def verdict(self) -> Verdict:
        """Verdict with our standard error as allowance."""
        return judge(self.difference, self.deviation, self.ours.standard_error)


class Tally(NamedTuple):
    """Numbers of cells that agree."""

    one: int
    two: int
    """Includes those within one."""
    n: int


def judge(difference: float, deviation: float, allowance: float = 0.0) -> Verdict:
    """Verdict on a difference, in published standard deviations.

    Parameters
    ----------
    difference : float
        Our mean minus the published mean.
    deviation : float
        Published standard deviation over runs.
    allowance : float, default=0
        Standard error of our mean.

    Returns
    -------
    verdict : Verdict

    Examples
    --------
    >>> from everclust.benchmark.report.paper.agreement import judge
    >>> judge(1.3, 1.0, allowance=0.4).name, judge(1.3, 1.0).name, judge(-2.3, 1.0).name
    ('ONE', 'TWO', 'BEYOND')
    """
    slack = 1e-9  # rounding: 7.7 − 7.5 is a little more than 0.2
    for verdict in (Verdict.ONE, Verdict.TWO):
        if abs(difference) <= verdict * deviation + allowance + slack:
            return verdict
    return Verdict.BEYOND


def printed_at(algorithm: str, setting: str, measure: Measure) -> tuple[str, str]:
    """The paper's table and column; the shuffle in the setting is ignored."""
    setting = setting.partition(":")[0]
    kind = "nodes_clusters" if measure.printed in ("nodes", "clusters") else "ari_ami"
    table = f"{setting}_{kind}"
    return f"ablation_{table}" if is_variant(algorithm) else table, algorithm_title(algorithm)


def printed(place: Place, measure: Measure) -> tuple[float, float] | str | None:
    """The paper's mean and standard deviation, its mark for a missing number, or None."""
    algorithm, dataset, setting = place
    table, column = printed_at(algorithm, setting, measure)
    cell = published_cell(table, dataset, column, measure.printed)
    return cell or published_mark(table, dataset, column, measure.printed)


def compare(outcomes: Outcomes) -> list[Comparison]:
    """Compare all cells for which both we and the paper have a number.

    Parameters
    ----------
    outcomes : dict
        From `everclust.benchmark.report.outcomes.gather`.

    Returns
    -------
    comparisons : list of Comparison
    """
    places = [place for place in outcomes if place[2] in SETTINGS]  # no other shuffles
    cells = [compare_cell(outcomes, place, measure) for place in places for measure in PRINTED]
    return [cell for cell in cells if cell]


def compare_cell(outcomes: Outcomes, place: Place, measure: Measure) -> Comparison | None:
    """Compare one cell; None unless both we and the paper have a number."""
    ours, theirs = cell_statistics(outcomes, place, measure), printed(place, measure)
    return Comparison(*place, measure, ours, *theirs) if ours and isinstance(theirs, tuple) else None


def tally(comparisons: Iterable[Comparison], *, allow: bool = True) -> Tally:
    """Count the cells within one and within two published standard deviations.

    Parameters
    ----------
    comparisons : iterable of Comparison
    allow : bool, default=True
        Add our standard error to the published deviation.

    Returns
    -------
    tally : Tally
    """
    verdicts = [judge(c.difference, c.deviation, c.ours.standard_error * allow) for c in comparisons]
    within_one = sum(verdict == Verdict.ONE for verdict in verdicts)
    return Tally(within_one, sum(verdict <= Verdict.TWO for verdict in verdicts), len(verdicts))


def not_at_hand(outcomes: Outcomes, algorithm: str, settings: Sequence[str]) -> int:
    """Number of the paper's cells for an algorithm in these settings for which we have no result."""
    missing = 0
    for setting, measure in product(settings, PRINTED):
        for dataset in published().get(printed_at(algorithm, setting, measure)[0], {}):
            place = (algorithm, dataset, setting)
            is_printed = isinstance(printed(place, measure), tuple)
            missing += is_printed and cell_statistics(outcomes, place, measure) is None
    return missing
