"""Section with pairwise comparisons: EverClust and IDAT against each of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....text import counted
from ..document import Block, Column, Entry, Grid, Row, Section, Text, explained
from ..names import EVERCLUST, IDAT, algorithm_title, is_variant
from ..outcomes import (
    AMI,
    ARI,
    Measure,
    Outcomes,
    algorithms_of,
    cell_statistics,
    datasets_of,
    done,
    settings_of,
)
from ..parameters import parameter_note
from ..statistics.bayesian import REGION, bayesian_signed_rank_test
from ..statistics.ranks import critical_difference, ranks
from ..statistics.significance import (
    detectable_difference,
    holm,
    rank_intervals,
    signed_rank_test,
    smallest_p_value,
)
from ..tables.ranks import ALPHA, Scores, our_scores
from ..tables.scores import signed

CONTROLS = (EVERCLUST, IDAT)
POWER = 0.8
WORDS = (
    "Differences are between the means over runs on each data set that both have finished: positive if the "
    "algorithm of the title is better; ± is their standard error over data sets. p is that of Wilcoxon's "
    "signed-rank test (two-sided, exact), then corrected by Holm's method for all rows of the table. The "
    "effect is the matched-pairs rank-biserial correlation, 1 if one is better everywhere and −1 if it is "
    "worse everywhere. The last three columns are the Bayesian signed-rank test's probabilities that the "
    "algorithm of the title is worse, practically equal (differences below "
    f"{REGION}), or better on another data set of this kind. Some algorithms are told more than others, such "
    "as the number of classes."
)
INTERVALS = (
    "Mean ranks, 1 is best, with 95 % bootstrap intervals: data sets are drawn with replacement 10,000 "
    "times. Algorithms that ran out of time or memory on a data set share the worst rank there; those that "
    "could not run are left out."
)


class Differences(NamedTuple):
    """Differences between the control and another algorithm, one per common data set."""

    other: str
    values: np.ndarray


def comparisons(outcomes: Outcomes) -> Section:
    """Section with the comparisons of each control, and bootstrap intervals of mean ranks."""
    blocks: list[Block] = []
    for setting in settings_of(outcomes):
        algorithms = _finished(outcomes, setting)
        for measure in (ARI, AMI):
            for control in (name for name in CONTROLS if name in algorithms):
                found = _differences(outcomes, setting, control, algorithms, measure)
                if found:
                    note = parameter_note(outcomes, setting, [control, *(each.other for each in found)])
                    grid = _grid(setting, control, measure, found)._replace(note=note)
                    blocks += [grid, Text(_limits(control, measure, found))]
        blocks += _rank_blocks(outcomes, setting, algorithms)
    return explained("Pairwise comparisons", WORDS, blocks)


def _finished(outcomes: Outcomes, setting: str) -> list[str]:
    """Algorithms with a result, without ablation variants."""
    return [
        name
        for name in algorithms_of(outcomes, setting)
        if not is_variant(name)
        and any(done(outcomes, (name, dataset, setting)) for dataset in datasets_of(outcomes, setting))
    ]


def _differences(
    outcomes: Outcomes, setting: str, control: str, algorithms: Sequence[str], measure: Measure
) -> list[Differences]:
    """Differences with each other algorithm, where there are at least two common data sets."""
    found = []
    for other in algorithms:
        pairs = [
            [cell_statistics(outcomes, (name, dataset, setting), measure) for name in (control, other)]
            for dataset in datasets_of(outcomes, setting)
        ]
        values = [ours.mean - theirs.mean for ours, theirs in pairs if ours and theirs]
        if other != control and len(values) > 1:
            found.append(Differences(other, np.array(values)))
    return found


def _grid(setting: str, control: str, measure: Measure, found: Sequence[Differences]) -> Grid:
    tests = [signed_rank_test(each.values) for each in found]
    adjusted = holm([test.p_value for test in tests])
    rows = []
    for each, test, corrected in zip(found, tests, adjusted, strict=True):
        posterior = bayesian_signed_rank_test(each.values)
        error = each.values.std(ddof=1) / np.sqrt(len(each.values))
        entries = [
            Entry(str(len(each.values))),
            Entry(signed(each.values.mean(), 3), signed(error, 3)),
            Entry(p_text(test.p_value)),
            Entry(p_text(corrected)),
            Entry(signed(test.effect, 2)),
            *(Entry(f"{probability:.2f}") for probability in posterior),
        ]
        rows.append(Row(algorithm_title(each.other), entries))
    columns = [*map(Column, ("data sets", "difference", "p", "p, Holm", "effect"))]
    columns += [Column(title, "probability of") for title in ("worse", "equal", "better")]
    title = f"{algorithm_title(control)} against the others, {measure.title}, {setting}"
    return Grid(title, columns, rows, head="Against")


def p_text(p: float) -> str:
    """A p-value with two significant digits; those below 0.0001 as such."""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def _limits(control: str, measure: Measure, found: Sequence[Differences]) -> str:
    """One sentence on what so many data sets can tell apart."""
    n_sets = min(len(each.values) for each in found)
    level = ALPHA / len(found)
    sets = counted(n_sets, "data set")
    if smallest_p_value(n_sets) > level:
        return (
            f"With {sets} and {counted(len(found), 'comparison')} no difference can be significant: the p of "
            f"Wilcoxon's test is at least {p_text(smallest_p_value(n_sets))}, and Holm's first step needs "
            f"{p_text(level)}."
        )
    deviation = float(np.median([each.values.std(ddof=1) for each in found]))
    least = detectable_difference(deviation, n_sets, alpha=level, power=POWER)
    return (
        f"What {sets} can tell apart: if the differences in {measure.title} between "
        f"{algorithm_title(control)} and another algorithm vary over data sets as much as here (standard "
        f"deviation {deviation:.3f} at the median), a mean difference of {least:.3f} passes Holm's first "
        f"step with a probability of "
        f"{100 * POWER:.0f} %; much smaller ones are likely to be missed."
    )


def _rank_blocks(outcomes: Outcomes, setting: str, algorithms: Sequence[str]) -> list[Block]:
    if len(algorithms) < 2:
        return []
    tables = [our_scores(outcomes, setting, algorithms, measure) for measure in (ARI, AMI)]
    names, n_sets = tables[0].names, len(tables[0].datasets)
    if len(names) < 2 or n_sets < 2:
        return []
    title = f"Mean ranks and their intervals on {counted(n_sets, 'data set')}, {setting}"
    columns = [Column(words, measure.title) for measure in (ARI, AMI) for words in ("mean rank", "95 %")]
    columns_of = [_rank_entries(scores) for scores in tables]
    rows = [Row(name, [entry for of in columns_of for entry in of[k]]) for k, name in enumerate(names)]
    note = parameter_note(outcomes, setting, algorithms)
    blocks: list[Block] = [Text(INTERVALS), Grid(title, columns, rows, head="Algorithm", note=note)]
    return [*blocks, Text(_rank_limits(len(names), n_sets))] if len(names) > 2 else blocks


def _rank_entries(scores: Scores) -> list[list[Entry]]:
    table = ranks(scores.table)
    return [
        [Entry(signed(mean, 2)), Entry(f"{low:.2f} to {high:.2f}")]
        for mean, (low, high) in zip(table.mean(axis=0), rank_intervals(table), strict=True)
    ]


def _rank_limits(n_algorithms: int, n_sets: int) -> str:
    return (
        f"With {counted(n_sets, 'data set')} and {n_algorithms} algorithms, mean ranks must differ by "
        f"{critical_difference(n_algorithms, n_sets):.2f} to be significantly different by Nemenyi's test "
        "(5 %)."
    )
