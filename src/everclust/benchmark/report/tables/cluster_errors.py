"""The table of cluster errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...run.measures import average_cluster_error, cluster_error
from ..document import Column, Entry, Grid, Row
from ..names import algorithm_title, dataset_title
from ..outcomes import CLUSTERS, Outcomes, Place, cell_statistics, datasets_of, missing_mark, n_classes
from ..paper.agreement import printed
from ..paper.published import published
from ..parameters import parameter_note
from .scores import NOTHING, signed


def cluster_error_grid(outcomes: Outcomes, setting: str, algorithms: Sequence[str]) -> Grid:
    """Relative errors of the mean number of clusters, and their averages over data sets."""
    datasets = datasets_of(outcomes, setting)
    titles = [*map(dataset_title, datasets), "Average over the same", "Average as printed"]
    columns: list[Column] = []
    entries: list[list[Entry]] = [[] for _ in titles]
    for algorithm in algorithms:
        columns += [Column(whose, algorithm_title(algorithm)) for whose in ("ours", "paper")]
        for row, pair in zip(entries, _error_pairs(outcomes, setting, algorithm), strict=True):
            row += pair
    rows = [Row(title, row) for title, row in zip(titles, entries, strict=True)]
    rows[-2:] = [row._replace(total=True) for row in rows[-2:]]
    return Grid(setting.capitalize(), columns, rows, note=parameter_note(outcomes, setting, algorithms))


def _error_pairs(outcomes: Outcomes, setting: str, algorithm: str) -> list[tuple[Entry, Entry]]:
    """Our error and the paper's on each data set, their averages, and the printed average."""
    places = [(algorithm, dataset, setting) for dataset in datasets_of(outcomes, setting)]
    errors = [_errors(outcomes, place) for place in places]
    pairs = [
        (_error(ours, missing_mark(outcomes, place)), _error(theirs, "–", muted=True))
        for place, (ours, theirs) in zip(places, errors, strict=True)
    ]
    return [*pairs, _averages(errors), (NOTHING, _printed_average(setting, algorithm))]


def _errors(outcomes: Outcomes, place: Place) -> tuple[float | None, float | None]:
    """Our error and the paper's."""
    classes = n_classes(outcomes, place[1])
    ours, theirs = cell_statistics(outcomes, place, CLUSTERS), printed(place, CLUSTERS)
    if classes is None:
        return None, None
    return (
        cluster_error(ours.mean, classes) if ours else None,
        cluster_error(theirs[0], classes) if isinstance(theirs, tuple) else None,
    )


def _error(error: float | None, otherwise: str, *, muted: bool = False) -> Entry:
    return Entry(otherwise, muted=True) if error is None else Entry(signed(error, 2), muted=muted)


def _averages(errors: Sequence[tuple[float | None, float | None]]) -> tuple[Entry, Entry]:
    """Averages over the data sets on which both have a number, or over ours if there are none."""
    both = [pair for pair in errors if None not in pair]
    ours, theirs = zip(*(both or errors), strict=True)
    return _average(ours), _average(theirs)


def _average(errors: Sequence[float | None]) -> Entry:
    mean, deviation = average_cluster_error(errors)
    return NOTHING if math.isnan(mean) else Entry(signed(mean, 2), signed(deviation, 2))


def _printed_average(setting: str, algorithm: str) -> Entry:
    cell = published()["average_cluster_error"].get(setting, {}).get(algorithm_title(algorithm))
    return Entry(signed(cell[0], 1), signed(cell[1], 1), muted=True) if isinstance(cell, list) else NOTHING
