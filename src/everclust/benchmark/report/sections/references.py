"""Section that compares EverClust and IDAT with references, some of which are told the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....text import counted
from ...run.registry import ALGORITHMS
from ..document import Block, Column, Entry, Grid, Row, Section, explained
from ..names import EVERCLUST, IDAT, algorithm_title, is_reference, is_told
from ..outcomes import (
    AMI,
    ARI,
    SECONDS,
    Outcomes,
    algorithms_of,
    cell_statistics,
    datasets_of,
    done,
    settings_of,
)
from ..parameters import parameter_note
from ..tables.scores import NOTHING, signed

OURS = (EVERCLUST, IDAT)
MEASURES = (ARI, AMI, SECONDS._replace(title="CPU s"))
WORDS = (
    "EverClust and IDAT read each sample once and are told nothing else. Offline references see all samples "
    "at once; some are told the true number of classes, raw or after each feature was scaled to mean 0 and "
    "variance 1. HDBSCAN's noise counts as one cluster. Numbers are means over data sets of the means over "
    "runs. CPU seconds are for one call of `fit` with all samples and for labelling them; in the "
    "nonstationary setting for `partial_fit` of each class."
)

Means = dict[str, dict[str, list[float]]]  # algorithm -> data set -> ARI, AMI, seconds


def references(outcomes: Outcomes, algorithms: Sequence[str] = ()) -> Section:
    """Section with the tables for each setting: on common data sets, and on all that each finished.

    Parameters
    ----------
    outcomes : dict
        From `everclust.benchmark.report.outcomes.gather`.
    algorithms : sequence of str, default=()
        Names of the rows, instead of EverClust, IDAT and all references that were run.

    Returns
    -------
    section : Section
        Without blocks if no reference was run.
    """
    blocks: list[Block] = []
    for setting in settings_of(outcomes):
        rows = _rows(outcomes, setting, algorithms)
        if any(map(is_reference, rows)):
            where = f"{setting}, {_runs(outcomes, setting, rows)}"
            note = parameter_note(outcomes, setting, rows)
            grids = _grids(where, {name: _means(outcomes, setting, name) for name in rows})
            blocks += [grid._replace(note=note) for grid in grids]
    return explained("Who is told what", WORDS, blocks)


def _rows(outcomes: Outcomes, setting: str, algorithms: Sequence[str]) -> list[str]:
    there = algorithms_of(outcomes, setting)
    wanted = algorithms or [*OURS, *sorted(filter(is_reference, there), key=_registry_index)]
    return [name for name in wanted if name in there]


def _registry_index(algorithm: str) -> int:
    """Position in the registry; algorithms that are not registered come last."""
    return list(ALGORITHMS).index(algorithm) if algorithm in ALGORITHMS else len(ALGORITHMS)


def _runs(outcomes: Outcomes, setting: str, algorithms: Sequence[str]) -> str:
    """Number of runs of each algorithm on each data set, from the fewest to the most."""
    sizes = {
        len(done(outcomes, place)) for place in outcomes if place[0] in algorithms and place[2] == setting
    }
    fewest, most = min(sizes - {0}, default=0), max(sizes)
    return f"{counted(most, 'run')} each" if fewest == most else f"{fewest} to {counted(most, 'run')} each"


def _means(outcomes: Outcomes, setting: str, algorithm: str) -> dict[str, list[float]]:
    """Means over the runs on each data set with a result."""
    found = {
        dataset: [cell_statistics(outcomes, (algorithm, dataset, setting), measure) for measure in MEASURES]
        for dataset in datasets_of(outcomes, setting)
    }
    return {dataset: [cell.mean for cell in cells if cell] for dataset, cells in found.items() if all(cells)}


def _grids(where: str, means: Means) -> list[Grid]:
    """The table on common data sets, if there are any, and the table on all if they are not the same."""
    sets = [set(of) for of in means.values()]
    common = set.intersection(*sets)
    grids = [_common_grid(where, means, common)] if common else []
    return grids if all(of == common for of in sets) else [*grids, _own_grid(where, means)]


def _common_grid(where: str, means: Means, common: set[str]) -> Grid:
    columns = [Column("is told", words=True), *(Column(measure.title) for measure in MEASURES)]
    rows = [
        Row(algorithm_title(name), [Entry(is_told(name)), *_mean_entries(of, common)])
        for name, of in means.items()
    ]
    title = f"The {counted(len(common), 'data set')} on which all have a result, {where}"
    return Grid(title, columns, rows, head="Algorithm")


def _own_grid(where: str, means: Means) -> Grid:
    """Each algorithm on the data sets that it finished, beside EverClust on the same ones."""
    columns = [Column("is told", words=True), Column("data sets")]
    columns += [Column(measure.title) for measure in MEASURES]
    columns += [Column(measure.title, f"{algorithm_title(EVERCLUST)} there:") for measure in MEASURES]
    ours = means.get(EVERCLUST, {})
    rows = []
    for name, of in means.items():
        there = _mean_entries(ours, set(of)) if set(of) <= set(ours) else [NOTHING] * len(MEASURES)
        entries = [Entry(is_told(name)), Entry(str(len(of))), *_mean_entries(of, set(of)), *there]
        rows.append(Row(algorithm_title(name), entries))
    return Grid(f"Each on the data sets with a result, {where}", columns, rows, head="Algorithm")


def _mean_entries(of: dict[str, list[float]], datasets: set[str]) -> list[Entry]:
    if not datasets:
        return [NOTHING] * len(MEASURES)
    means = np.mean([of[dataset] for dataset in sorted(datasets)], axis=0)
    return [Entry(signed(mean, measure.decimals)) for mean, measure in zip(means, MEASURES, strict=True)]
