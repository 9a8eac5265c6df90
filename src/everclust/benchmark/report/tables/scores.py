"""The paper's tables, with our results beside the printed ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ..document import Column, Entry, Grid, Row
from ..names import IDAT, algorithm_title, dataset_title
from ..outcomes import Measure, Outcomes, Place, cell_statistics, datasets_of, done, missing_mark, n_classes
from ..paper.agreement import compare_cell, printed
from ..parameters import parameter_note

NOTHING = Entry("–", muted=True)  # neither a number nor a mark


def signed(value: float, decimals: int) -> str:
    """Format a number with a typographic minus sign; −0 becomes 0."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def our_entry(outcomes: Outcomes, place: Place, measure: Measure) -> Entry:
    """Our mean and standard deviation over runs, with the verdict on the paper's."""
    ours = cell_statistics(outcomes, place, measure)
    if ours is None:
        failed = place in outcomes and not done(outcomes, place)
        return Entry(missing_mark(outcomes, place), muted=True) if failed else NOTHING
    spread = "" if math.isnan(ours.deviation) else signed(ours.deviation, measure.decimals)
    comparison = compare_cell(outcomes, place, measure)
    return Entry(signed(ours.mean, measure.decimals), spread, comparison and comparison.verdict)


def printed_entry(place: Place, measure: Measure) -> Entry:
    """The paper's mean and standard deviation, its mark for a missing number, or a dash."""
    cell = printed(place, measure)
    if isinstance(cell, tuple):
        mean, deviation = (signed(value, measure.decimals) for value in cell)
        return Entry(mean, deviation, muted=True)
    return Entry(cell, muted=True) if cell else NOTHING


def score_grid(
    outcomes: Outcomes,
    setting: str,
    algorithms: Sequence[str],
    measures: Sequence[Measure],
    *,
    title: Callable[[str], str] = algorithm_title,
    beside: bool = True,
    classes: bool = False,
) -> Grid:
    """Table with a row per data set and a column per algorithm and measure, beside the printed ones.

    Parameters
    ----------
    outcomes : dict
        From `everclust.benchmark.report.outcomes.gather`.
    setting : {"stationary", "nonstationary"}
    algorithms : sequence of str
    measures : sequence of Measure
    title : callable, optional
        Function of an algorithm's name that returns its heading.
    beside : bool, default=True
        Show the paper's numbers; a single column of dashes if it has none.
    classes : bool, default=False
        Show the number of classes in the first column.

    Returns
    -------
    grid : Grid
    """
    pairs = list(product(algorithms, measures))
    datasets = datasets_of(outcomes, setting)
    both = beside and any(printed((a, d, setting), m) for (a, m), d in product(pairs, datasets))
    columns = [Column("Classes")] if classes else []
    for algorithm, measure in pairs:
        name = measure.title if len(algorithms) == 1 else title(algorithm)
        columns += [Column("ours", name), Column("paper", name)] if both else [Column(name)]
    columns += [Column("paper")] if beside and not both else []
    rows = []
    for dataset in datasets:
        entries = [_classes_entry(outcomes, dataset)] if classes else []
        for algorithm, measure in pairs:
            place = (algorithm, dataset, setting)
            entries.append(our_entry(outcomes, place, measure))
            entries += [printed_entry(place, measure)] if both else []
        rows.append(Row(dataset_title(dataset), entries + [NOTHING] * (beside and not both)))
    note = parameter_note(outcomes, setting, algorithms)
    return Grid(_heading(setting, algorithms, measures), columns, rows, note=note)


def _heading(setting: str, algorithms: Sequence[str], measures: Sequence[Measure]) -> str:
    if len(algorithms) == 1:
        return f"{setting.capitalize()}, {algorithm_title(algorithms[0])}"
    return f"{', '.join(measure.title for measure in measures)}, {setting}"


def _classes_entry(outcomes: Outcomes, dataset: str) -> Entry:
    known = n_classes(outcomes, dataset)
    return Entry(str(known), muted=True) if known else NOTHING


def score_grids(
    outcomes: Outcomes, setting: str, algorithms: Sequence[str], measures: Sequence[Measure], **options: Any
) -> list[Grid]:
    """For a single algorithm one table of all measures, else one table per measure."""
    parts = [measures] if len(algorithms) == 1 else [[measure] for measure in measures]
    return [score_grid(outcomes, setting, algorithms, part, **options) for part in parts if algorithms]


def shuffle_grid(outcomes: Outcomes, measure: Measure, settings: Sequence[str]) -> Grid:
    """Table of IDAT on the data sets that were run with several shuffles within the classes."""
    columns = [
        Column("paper"),
        *(Column(setting.partition(":")[2] or "0", "ours, by shuffle") for setting in settings),
    ]
    rows = []
    for dataset in datasets_of(outcomes, settings[-1]):
        ours = [our_entry(outcomes, (IDAT, dataset, setting), measure) for setting in settings]
        theirs = printed_entry((IDAT, dataset, settings[0]), measure)
        rows.append(Row(dataset_title(dataset), [theirs, *ours]))
    note = parameter_note(outcomes, settings[-1], [IDAT])
    return Grid(f"{measure.title}, two classes", columns, rows, note=note)
