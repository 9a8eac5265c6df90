"""Sections with further measures: other scores, several reference labellings, and labels at arrival."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..document import Block, Column, Entry, Grid, Row, Section, explained
from ..names import algorithm_title, dataset_title, is_variant
from ..outcomes import (
    AMI,
    ARI,
    MEMORY,
    Measure,
    Outcomes,
    Place,
    algorithms_of,
    cell_statistics,
    datasets_of,
    done,
    settings_of,
)
from ..parameters import parameter_note
from ..tables.scores import NOTHING, score_grid, signed

FURTHER_MEASURES = (
    Measure("fowlkes_mallows", "Fowlkes-Mallows index", 3),
    Measure("clustering_accuracy", "Normalised clustering accuracy", 3),
    Measure("homogeneity", "Homogeneity", 3),
    Measure("completeness", "Completeness", 3),
)
BEST = (
    Measure("best_ari", "ARI, best labelling", 3),
    Measure("best_ami", "AMI, best labelling", 3),
)
PREQUENTIAL = ("prequential", "prequential-nonstationary")
SHARES = (0.25, 0.5, 1.0)  # of the stream, at which the memory is shown


def further_measures(outcomes: Outcomes) -> Section:
    """Section with the scores beside ARI and AMI."""
    words = (
        "Other scores of the same clusters. The Fowlkes-Mallows index is the geometric mean of precision and "
        "recall over pairs of samples. Normalised clustering accuracy matches each class with one cluster: "
        "it is the mean share of a class in its cluster, 0 for equal shares, and small classes count as "
        "much as large ones. Homogeneity is 1 if each cluster holds a single class, completeness if each "
        "class lies in a single cluster; many small clusters have a high homogeneity and a low completeness. "
        "Samples that the reference calls noise are left out. – where runs have no such score."
    )
    grids = [
        score_grid(outcomes, setting, names, [measure], beside=False)._replace(
            title=f"{measure.title}, {setting}", folded=True
        )
        for setting in settings_of(outcomes)
        for measure in FURTHER_MEASURES
        if (names := with_measure(outcomes, setting, measure))
    ]
    return explained("Further measures", words, grids)


def with_measure(outcomes: Outcomes, setting: str, measure: Measure) -> list[str]:
    """Algorithms of which a run has the measure, without ablation variants."""
    return [
        name
        for name in algorithms_of(outcomes, setting)
        if not is_variant(name)
        and any(
            cell_statistics(outcomes, (name, dataset, setting), measure)
            for dataset in datasets_of(outcomes, setting)
        )
    ]


def labellings(outcomes: Outcomes) -> Section:
    """Section with the scores against each of several reference labellings."""
    words = (
        "These data sets have several reference labellings, each a reasonable answer. The tables elsewhere "
        "use the first; here are the means over runs for each labelling, and of the best one of each run."
    )
    grids = [
        grid
        for setting in settings_of(outcomes)
        for measure in (ARI, AMI)
        if (grid := _labelling_grid(outcomes, setting, measure)).rows
    ]
    return explained("Several labellings", words, grids)


def _labelling_grid(outcomes: Outcomes, setting: str, measure: Measure) -> Grid:
    names = with_measure(outcomes, setting, Measure(f"best_{measure.key}", "", 3))
    rows = []
    for dataset in datasets_of(outcomes, setting):
        means = {name: _labelling_means(outcomes, (name, dataset, setting), measure) for name in names}
        n_labellings = max((len(of) for of in means.values()), default=0)
        for k in range(n_labellings):
            title = f"{dataset_title(dataset)}, {'best' if k == n_labellings - 1 else f'labels{k}'}"
            entries = [_entry(means[name][k]) if means[name] else NOTHING for name in names]
            rows.append(Row(title, entries, total=k == n_labellings - 1))
    columns = [Column(algorithm_title(name)) for name in names]
    note = parameter_note(outcomes, setting, names)
    return Grid(f"{measure.title} by labelling, {setting}", columns, rows, note=note)


def _labelling_means(outcomes: Outcomes, place: Place, measure: Measure) -> list[float]:
    """Mean over runs for each labelling, and of the best."""
    runs = [run["labellings"][measure.key] for run in done(outcomes, place) if run.get("labellings")]
    return [*np.mean(runs, axis=0), np.mean(np.max(runs, axis=1))] if runs else []


def _entry(value: float) -> Entry:
    return Entry(signed(value, 3))


def prequential(outcomes: Outcomes) -> Section:
    """Section with the scores of labels at arrival, and with memory over time."""
    words = (
        "Each of up to 200 blocks of the stream is labelled before it is learnt, and the labels at arrival "
        "are compared with the classes, without the first block: a model that is slow to learn, or whose "
        "cluster ids change, scores lower than at the end. Memory is the increase of the process since the "
        "data were loaded, in the median run."
    )
    blocks: list[Block] = []
    for setting in PREQUENTIAL:
        names = with_measure(outcomes, setting, ARI)
        if names:
            blocks += [
                score_grid(outcomes, setting, names, [m], beside=False)._replace(
                    title=f"{m.title}, {setting}"
                )
                for m in (ARI, AMI)
            ]
            blocks.append(_memory_grid(outcomes, setting, names))
    return explained("Labels at arrival", words, blocks)


def _memory_grid(outcomes: Outcomes, setting: str, names: Sequence[str]) -> Grid:
    columns = [Column(f"{100 * share:.0f} %", algorithm_title(name)) for name in names for share in SHARES]
    rows = [
        Row(
            dataset_title(dataset),
            [entry for name in names for entry in _memory_entries(outcomes, (name, dataset, setting))],
        )
        for dataset in datasets_of(outcomes, setting)
    ]
    note = parameter_note(outcomes, setting, names)
    return Grid(f"Memory along the stream, MiB, {setting}", columns, rows, folded=True, note=note)


def _memory_entries(outcomes: Outcomes, place: Place) -> list[Entry]:
    curves = [run["history"]["memory"] for run in done(outcomes, place) if run.get("history")]
    if not curves:
        return [NOTHING] * len(SHARES)
    at = [int(np.ceil(share * len(curves[0]))) - 1 for share in SHARES]
    middle = np.median([[curve[k] for k in at] for curve in curves], axis=0) / MEMORY.unit
    return [Entry(signed(amount, MEMORY.decimals)) for amount in middle]
