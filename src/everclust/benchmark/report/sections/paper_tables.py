"""Sections with the paper's tables, each with an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..document import Grid, Section, explained
from ..names import main_algorithms
from ..outcomes import (
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
from ..tables.cluster_errors import cluster_error_grid
from ..tables.scores import score_grids, shuffle_grid

NONSTATIONARY = "nonstationary"


def counts(outcomes: Outcomes) -> Section:
    words = (
        "Numbers of nodes and clusters at the end of the stream, as the paper counts them: for IDAT, only "
        "the candidate nodes and the connected components of their graph. Mean ± standard deviation over "
        "the runs; – where the paper has no number."
    )
    grids = _per_setting(outcomes, [NODES, CLUSTERS], classes=True)
    return explained("Nodes and clusters", words, grids)


def scores(outcomes: Outcomes) -> Section:
    words = (
        "Agreement of the clusters with the classes: the adjusted Rand index (ARI) counts pairs of samples, "
        "adjusted mutual information (AMI) counts bits. Both are 1 at best and about 0 for random labels. "
        "In the nonstationary setting the classes arrive one after the other, and the score is taken after "
        "the last. The paper's stationary table is not available."
    )
    return explained("ARI and AMI", words, _per_setting(outcomes, [ARI, AMI]))


def shuffles(outcomes: Outcomes) -> Section:
    words = (
        "The rows of a class arrive in the same order in all runs; only the order of the classes changes. "
        "With two classes there are only two different runs, so the result depends on this one shuffle. "
        "These tables show other shuffles; shuffle 0 is the one used everywhere else."
    )
    others = other_shuffles(outcomes)
    settings = [NONSTATIONARY, *others]
    grids = [shuffle_grid(outcomes, measure, settings) for measure in (NODES, CLUSTERS, ARI, AMI) if others]
    return explained("Other shuffles", words, grids)


def continual(outcomes: Outcomes) -> Section:
    words = (
        "After every class the model is scored on all classes so far; the first score is set to 1. The "
        "average incremental score (AI) is their mean. Backward transfer (BWT) is the last score minus the "
        "mean of the earlier ones, as in the authors' program. It is mostly negative because the task gets "
        "harder with every class, not only because of forgetting. The per-class form, which the paper "
        "prints, is not informative with ARI and AMI: on a single class they are 0 or 1. The paper's "
        "numbers are not available."
    )
    grids = _per_setting(outcomes, [AI_ARI, BWT_ARI, AI_AMI, BWT_AMI], [NONSTATIONARY])
    per_class = _per_setting(outcomes, [BWT_PRINTED_ARI, BWT_PRINTED_AMI], [NONSTATIONARY])
    grids += [grid._replace(title=f"The per-class form: {grid.title}", folded=True) for grid in per_class]
    return explained("Continual learning", words, grids)


def errors(outcomes: Outcomes) -> Section:
    words = (
        "Difference between the mean number of clusters and the number of classes, relative to the latter: "
        "0 is exact, 1 is twice as many. The averages are over data sets with a result, ± the population "
        "standard deviation; the printed averages are over all of the paper's data sets."
    )
    grids = [
        cluster_error_grid(outcomes, setting, algorithms)
        for setting in settings_of(outcomes)
        if (algorithms := main_algorithms(outcomes, setting))
    ]
    return explained("Cluster error", words, grids)


def costs(outcomes: Outcomes) -> Section:
    words = (
        "CPU seconds of one thread without loading and compiling: in the stationary setting of one call of "
        "`fit` with all samples and of labelling them, in the nonstationary one of `partial_fit` of each "
        "class. The history of IDAT is recorded in a second pass, which is not measured. Memory is the "
        "largest increase of that of the process after the data were loaded. Both depend on the machine. "
        "The paper reports neither."
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
