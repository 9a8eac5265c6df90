"""Ranks of algorithms over data sets, and tests whether they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..document import Column, Entry, Grid, Picture, Row
from ..figures.cd_diagram import diagram, in_words
from ..names import IDAT, algorithm_title, dataset_title
from ..outcomes import Measure, Outcomes, cell_statistics, datasets_of, is_ranked
from ..paper.published import published, published_cell
from ..statistics.ranks import Friedman, critical_difference, friedman, groups, ranks
from .scores import NOTHING, signed

ALPHA = 0.05
NONSTATIONARY = "nonstationary"


class Scores(NamedTuple):
    """Means over runs: a row per data set, a column per algorithm; NaN means no result."""

    title: str
    names: list[str]
    datasets: list[str]
    table: np.ndarray
    setting: str = NONSTATIONARY


def printed_scores(measure: Measure, setting: str = NONSTATIONARY) -> Scores:
    """The paper's table of a setting, without rows and columns if it is not available."""
    rows = published().get(f"{setting}_ari_ami", {}) if measure.printed else {}
    names = list(next(iter(rows.values()), []))
    table = [[_printed_mean(setting, dataset, name, measure) for name in names] for dataset in rows]
    means = np.array(table).reshape(len(rows), len(names))
    return Scores(f"{measure.title}, the paper's table", names, list(rows), means, setting)


def _printed_mean(setting: str, dataset: str, name: str, measure: Measure) -> float:
    cell = published_cell(f"{setting}_ari_ami", dataset, name, measure.printed)
    return cell[0] if cell else np.nan


def our_scores(
    outcomes: Outcomes,
    setting: str,
    algorithms: Sequence[str],
    measure: Measure,
    title: Callable[[str], str] = algorithm_title,
) -> Scores:
    """Our means on the data sets on which all that could run did, and at least one succeeded."""
    algorithms = [name for name in algorithms if name not in without_ranks(outcomes, setting, algorithms)]
    datasets, table = [], []
    for dataset in datasets_of(outcomes, setting):
        row = [cell_statistics(outcomes, (algorithm, dataset, setting), measure) for algorithm in algorithms]
        if any(row) and all(is_ranked(outcomes, (algorithm, dataset, setting)) for algorithm in algorithms):
            datasets.append(dataset)
            table.append([cell.mean if cell else np.nan for cell in row])
    names = [title(algorithm) for algorithm in algorithms]
    means = np.array(table).reshape(len(table), len(names))
    return Scores(f"{measure.title}, {setting}", names, datasets, means, setting)


def without_ranks(outcomes: Outcomes, setting: str, algorithms: Sequence[str]) -> list[str]:
    """Algorithms that could run on no data set, because a package is missing for example."""
    datasets = datasets_of(outcomes, setting)
    return [
        algorithm
        for algorithm in algorithms
        if not any(is_ranked(outcomes, (algorithm, dataset, setting)) for dataset in datasets)
    ]


def our_idat_among_printed(outcomes: Outcomes, measure: Measure) -> Scores:
    """The paper's nonstationary table with our means as the column of IDAT, on the data sets we have."""
    theirs, ours = printed_scores(measure), our_scores(outcomes, NONSTATIONARY, [IDAT], measure)
    common = [dataset for dataset in ours.datasets if dataset in theirs.datasets]
    table = theirs.table[[theirs.datasets.index(dataset) for dataset in common]]
    column = [ours.table[ours.datasets.index(dataset), 0] for dataset in common]
    table[:, theirs.names.index(algorithm_title(IDAT))] = column
    return Scores(f"{measure.title}, our IDAT among the paper's baselines", theirs.names, common, table)


def can_compare(scores: Scores) -> bool:
    """True if there are enough algorithms and data sets for the Friedman test."""
    n_sets, n_algorithms = scores.table.shape
    return n_algorithms >= 3 and n_sets >= 2


def verdict_picture(scores: Scores) -> Picture:
    """The critical-difference diagram, or only words if the Friedman test is not significant."""
    result, n_sets = friedman(scores.table), len(scores.datasets)
    mean_ranks = ranks(scores.table).mean(axis=0).tolist()
    test = _test_in_words(result, n_sets)
    if result.p_value >= ALPHA:
        words = f"{test}: no significant differences, so there is no diagram."
        return Picture("", scores.title, words)
    difference = critical_difference(len(mean_ranks), n_sets)
    joined = groups(mean_ranks, difference)
    words = f"{test}, critical difference {difference:.3f}."
    svg = diagram(scores.names, mean_ranks, difference, joined)
    return Picture(svg, scores.title, f"{words} {in_words(scores.names, mean_ranks, joined)}", words)


def _test_in_words(result: Friedman, n_sets: int) -> str:
    p = f"{result.p_value:.3f}" if result.p_value >= 0.001 else f"{result.p_value:.1e}".replace("-", "−")
    return f"{n_sets} data sets, Friedman χ² = {result.statistic:.2f}, p = {p}"


def rank_grid(title: str, tables: Sequence[tuple[Measure, Scores]], shown: Sequence[str]) -> Grid:
    """Table of the ranks of some algorithms, beside those that the paper's scores give to the same ones."""
    columns: list[Column] = []
    ranked: list[list[float]] = []
    for measure, scores in tables:
        theirs = same_algorithms(printed_scores(measure, scores.setting), scores)
        for name in shown:
            group = f"{name} · {measure.title}"
            columns += [Column("ours", group), Column("paper", group)] if theirs.names else [Column(group)]
            ranked += [_column(of, name, scores.datasets) for of in (scores, theirs) if of.names]
    datasets = tables[0][1].datasets
    muted = [column.title == "paper" for column in columns]
    rows = [
        Row(dataset_title(name), [_rank(of[k], 1, muted=m) for of, m in zip(ranked, muted, strict=True)])
        for k, name in enumerate(datasets)
    ]
    means = [_rank(float(np.mean(column)), 2) for column in ranked]
    return Grid(title, columns, [*rows, Row("Mean rank", means, total=True)])


def same_algorithms(printed: Scores, ours: Scores) -> Scores:
    """The paper's scores of the algorithms that we ranked: a rank depends on who is compared."""
    kept = [k for k, name in enumerate(printed.names) if name in ours.names]
    return printed._replace(names=[printed.names[k] for k in kept], table=printed.table[:, kept])


def mean_ranks(scores: Scores, names: Sequence[str], datasets: Sequence[str]) -> list[float]:
    """Mean rank of each algorithm over data sets; NaN if the table does not have it on all of them."""
    return [float(np.mean(_column(scores, name, datasets))) for name in names]


def _column(scores: Scores, name: str, datasets: Sequence[str]) -> list[float]:
    """Ranks of an algorithm; NaN if the table does not have the data set or algorithm."""
    if name not in scores.names:
        return [np.nan] * len(datasets)
    found = dict(zip(scores.datasets, ranks(scores.table)[:, scores.names.index(name)].tolist(), strict=True))
    return [found.get(dataset, np.nan) for dataset in datasets]


def _rank(value: float, decimals: int, *, muted: bool = False) -> Entry:
    return NOTHING if np.isnan(value) else Entry(signed(value, decimals), muted=muted)
