"""The paper's tables, each with what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .cluster_errors import cluster_error_grid
from .document import Grid, Section, explained
from .names import main_algorithms
from .outcomes import (
    AI_AMI,
    AI_ARI,
    AMI,
    ARI,
    BWT_AMI,
    BWT_ARI,
    BWT_PRINTED_AMI,
    BWT_PRINTED_ARI,
    CLUSTERS,
    MEMORY,
    NODES,
    SECONDS,
    Measure,
    Outcomes,
    other_shuffles,
    settings_of,
)
from .tables import score_grids, shuffle_grid

NONSTATIONARY = "nonstationary"


def counts(outcomes: Outcomes) -> Section:
    words = (
        "How many nodes a model has in the end, and into how many clusters they fall, as the paper counts "
        "them: for IDAT only the nodes that are candidates, and the connected parts of their graph. Mean ± "
        "standard deviation over the runs; – where the paper has no number."
    )
    grids = _per_setting(outcomes, [NODES, CLUSTERS], classes=True)
    return explained("Nodes and clusters", words, grids)


def scores(outcomes: Outcomes) -> Section:
    words = (
        "How well the clusters match the classes: the adjusted Rand index counts pairs of samples, adjusted "
        "mutual information counts bits. Both are 1 at best and about 0 for chance. In the nonstationary "
        "setting the classes come one after the other, and the score is the one after the last. The paper's "
        "stationary table is not at hand."
    )
    return explained("ARI and AMI", words, _per_setting(outcomes, [ARI, AMI]))


def shuffles(outcomes: Outcomes) -> Section:
    words = (
        "The rows of a class come in the same order in all runs; only the order of the classes changes. With "
        "two classes there are just two different runs, so that this one shuffle decides. Here is what "
        "others give: 0 is the one used everywhere else."
    )
    others = other_shuffles(outcomes)
    settings = [NONSTATIONARY, *others]
    grids = [shuffle_grid(outcomes, measure, settings) for measure in (NODES, CLUSTERS, ARI, AMI) if others]
    return explained("Other shuffles", words, grids)


def continual(outcomes: Outcomes) -> Section:
    words = (
        "After every class the model is scored on all classes so far; the first score is set to 1. The "
        "average incremental score (AI) is the mean of these. Backward transfer (BWT) is the last of them "
        "less the mean of those before, as in the authors' program. It is mostly negative because the task "
        "gets harder with every class, so it is not forgetting alone. The per-class form, which the paper "
        "prints, says little with ARI and AMI: on a single class they are 0 or 1. The paper's numbers are "
        "not at hand."
    )
    grids = _per_setting(outcomes, [AI_ARI, BWT_ARI, AI_AMI, BWT_AMI], [NONSTATIONARY])
    per_class = _per_setting(outcomes, [BWT_PRINTED_ARI, BWT_PRINTED_AMI], [NONSTATIONARY])
    grids += [grid._replace(title=f"The per-class form: {grid.title}", folded=True) for grid in per_class]
    return explained("Continual learning", words, grids)


def errors(outcomes: Outcomes) -> Section:
    words = (
        "How far the mean number of clusters is from the number of classes, as a multiple of the latter: 0 "
        "is exact, 1 is twice as many. The averages are over data sets with a number, ± the population's "
        "standard deviation; those printed are over all of the paper's data sets."
    )
    grids = [
        cluster_error_grid(outcomes, setting, algorithms)
        for setting in settings_of(outcomes)
        if (algorithms := main_algorithms(outcomes, setting))
    ]
    return explained("Cluster error", words, grids)


def costs(outcomes: Outcomes) -> Section:
    words = (
        "Wall-clock time of learning alone, without loading, compiling or predicting; and by how much the "
        "memory of the process rose above what it was with the data loaded, at most. Both depend on the "
        "machine and on what else it did. The paper prints neither."
    )
    return explained("Time and memory", words, _per_setting(outcomes, [SECONDS, MEMORY], beside=False))


def _per_setting(
    outcomes: Outcomes, measures: Sequence[Measure], settings: Sequence[str] = (), **options: Any
) -> list[Grid]:
    grids: list[Grid] = []
    for setting in settings or settings_of(outcomes):
        if algorithms := main_algorithms(outcomes, setting):
            grids += score_grids(outcomes, setting, algorithms, measures, **options)
    return grids
