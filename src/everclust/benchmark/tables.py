"""The paper's tables, ours beside the printed numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from .agreement import compare_cell, printed
from .document import Column, Entry, Grid, Row
from .measures import average_cluster_error, cluster_error
from .names import IDAT, algorithm_title, dataset_title
from .outcomes import CLUSTERS, Measure, Outcomes, Place, datasets_of, excuse, n_classes, summary
from .published import published

NOTHING = Entry("–", muted=True)  # neither a number nor an excuse


def signed(value: float, decimals: int) -> str:
    """A number with a true minus sign; −0 is 0."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def our_entry(outcomes: Outcomes, place: Place, measure: Measure) -> Entry:
    """Mean and deviation over our runs, and whether the paper's agree."""
    ours = summary(outcomes, place, measure)
    if ours is None:
        return Entry(excuse(outcomes, place), muted=True) if place in outcomes else NOTHING
    spread = "" if math.isnan(ours.deviation) else signed(ours.deviation, measure.decimals)
    comparison = compare_cell(outcomes, place, measure)
    return Entry(signed(ours.mean, measure.decimals), spread, comparison and comparison.verdict)


def printed_entry(place: Place, measure: Measure) -> Entry:
    """The paper's mean and deviation, its excuse, or a dash."""
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
    """A row per data set; for every measure of every algorithm a column, and the printed one beside it.

    Parameters
    ----------
    outcomes : dict
        From `everclust.benchmark.outcomes.gather`.
    setting : {"stationary", "nonstationary"}
    algorithms : sequence of str
    measures : sequence of Measure
    title : callable, optional
        From an algorithm's name to its heading.
    beside : bool, default=True
        Show what the paper prints.
    classes : bool, default=False
        Show the number of classes first.

    Returns
    -------
    grid : Grid
    """
    pairs = list(product(algorithms, measures))
    columns = [Column("Classes")] if classes else []
    for algorithm, measure in pairs:
        group = measure.title if len(algorithms) == 1 else f"{title(algorithm)} · {measure.title}"
        columns += [Column("ours", group), Column("paper", group)] if beside else [Column(group)]
    rows = []
    for dataset in datasets_of(outcomes, setting):
        entries = [_classes_entry(outcomes, dataset)] if classes else []
        for algorithm, measure in pairs:
            place = (algorithm, dataset, setting)
            entries.append(our_entry(outcomes, place, measure))
            entries += [printed_entry(place, measure)] if beside else []
        rows.append(Row(dataset_title(dataset), entries))
    return Grid(_of(setting, algorithms, measures), columns, rows)


def _of(setting: str, algorithms: Sequence[str], measures: Sequence[Measure]) -> str:
    what = " and ".join(measure.title for measure in measures)
    whose = f", {algorithm_title(algorithms[0])}" if len(algorithms) == 1 else ""
    return f"{what}, {setting}{whose}"


def _classes_entry(outcomes: Outcomes, dataset: str) -> Entry:
    known = n_classes(outcomes, dataset)
    return Entry(str(known), muted=True) if known else NOTHING


def score_grids(
    outcomes: Outcomes, setting: str, algorithms: Sequence[str], measures: Sequence[Measure], **options: Any
) -> list[Grid]:
    """One table of all measures for a single algorithm, or else one table per measure."""
    parts = [measures] if len(algorithms) == 1 else [[measure] for measure in measures]
    return [score_grid(outcomes, setting, algorithms, part, **options) for part in parts if algorithms]


def cluster_error_grid(outcomes: Outcomes, setting: str, algorithms: Sequence[str]) -> Grid:
    """How far the mean number of clusters is from the number of classes, and its average over data sets."""
    columns, rows, errors = [], [], []
    for algorithm in algorithms:
        group = algorithm_title(algorithm)
        columns += [Column("ours", group), Column("paper", group)]
    for dataset in datasets_of(outcomes, setting):
        errors.append([error for a in algorithms for error in _errors(outcomes, (a, dataset, setting))])
        rows.append(Row(dataset_title(dataset), [_error_entry(error) for error in errors[-1]]))
    averages = [_average_entry(column) for column in zip(*errors, strict=True)]
    rows.append(Row("Average of these", averages, total=True))
    as_printed = [entry for a in algorithms for entry in (NOTHING, _printed_average(setting, a))]
    rows.append(Row("Average as printed", as_printed, total=True))
    return Grid(f"Cluster error, {setting}", columns, rows)


def _errors(outcomes: Outcomes, place: Place) -> tuple[float | None, float | None]:
    """Ours and the paper's."""
    classes, ours, theirs = (
        n_classes(outcomes, place[1]),
        summary(outcomes, place, CLUSTERS),
        printed(place, CLUSTERS),
    )
    means = (ours and ours.mean, theirs[0] if isinstance(theirs, tuple) else None)
    both = [None if mean is None or classes is None else cluster_error(mean, classes) for mean in means]
    return both[0], both[1]


def _error_entry(error: float | None) -> Entry:
    return NOTHING if error is None else Entry(signed(error, 2))


def _average_entry(errors: Sequence[float | None]) -> Entry:
    mean, deviation = average_cluster_error(errors)
    return NOTHING if math.isnan(mean) else Entry(signed(mean, 2), signed(deviation, 2))


def _printed_average(setting: str, algorithm: str) -> Entry:
    cell = published()["average_cluster_error"].get(setting, {}).get(algorithm_title(algorithm))
    return Entry(signed(cell[0], 1), signed(cell[1], 1), muted=True) if isinstance(cell, list) else NOTHING


def shuffle_grid(outcomes: Outcomes, measure: Measure, settings: Sequence[str]) -> Grid:
    """IDAT on the data sets that were run with other shuffles within the classes."""
    columns = [
        Column("paper"),
        *(Column(setting.partition(":")[2] or "0", "ours, by shuffle") for setting in settings),
    ]
    rows = []
    for dataset in datasets_of(outcomes, settings[-1]):
        ours = [our_entry(outcomes, (IDAT, dataset, setting), measure) for setting in settings]
        theirs = printed_entry((IDAT, dataset, settings[0]), measure)
        rows.append(Row(dataset_title(dataset), [theirs, *ours]))
    return Grid(f"{measure.title}, two classes", columns, rows)
