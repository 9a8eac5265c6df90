"""The parts of the report, in the order of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .document import Block, Column, Document, Entry, Figures, Gallery, Grid, Picture, Row, Section, Text
from .headline import headline
from .names import ABLATION, IDAT, ablation_title, algorithm_title, dataset_title, is_variant
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
    DONE,
    MEMORY,
    NODES,
    SECONDS,
    Measure,
    Outcomes,
    algorithms_of,
    datasets_of,
    done,
    median_run,
    other_shuffles,
    settings_of,
)
from .plots import history_plot, in_words
from .ranking import can_compare, our_idat_among_printed, our_scores, printed_scores, rank_grid, verdict_picture
from .tables import cluster_error_grid, score_grid, score_grids, shuffle_grid

NONSTATIONARY = "nonstationary"
FULL = 6  # algorithms in the paper's nonstationary table


def document(outcomes: Outcomes) -> Document:
    """The whole report."""
    made = [make(outcomes) for make in _PARTS]
    subtitle = "IDAT and what it is compared with, run by everclust, beside the numbers of arXiv 2511.17983."
    return Document("Benchmark report", subtitle, [section for section in made if section.blocks])


def _main(outcomes: Outcomes, setting: str = "") -> list[str]:
    """All but the variants of the ablation."""
    return [name for name in algorithms_of(outcomes, setting) if not is_variant(name)]


def _per_setting(
    outcomes: Outcomes, measures: Sequence[Measure], settings: Sequence[str] = (), **options: bool
) -> list[Block]:
    grids: list[Block] = []
    for setting in settings or settings_of(outcomes):
        if algorithms := _main(outcomes, setting):
            grids += score_grids(outcomes, setting, algorithms, measures, **options)
    return grids


def _explained(title: str, words: str, blocks: Sequence[Block]) -> Section:
    """No words without anything to explain."""
    return Section(title, [Text(words), *blocks] if blocks else [])


def _counts(outcomes: Outcomes) -> Section:
    words = (
        "How many nodes a model has in the end, and into how many clusters they fall, as the paper counts them: "
        "for IDAT only the nodes that are candidates, and the connected parts of their graph. Mean ± standard "
        "deviation over the runs; – where the paper has no number."
    )
    grids = _per_setting(outcomes, [NODES, CLUSTERS], classes=True)
    return _explained("Nodes and clusters", words, grids)


def _scores(outcomes: Outcomes) -> Section:
    words = (
        "How well the clusters match the classes: the adjusted Rand index counts pairs of samples, adjusted mutual "
        "information counts bits. Both are 1 at best and about 0 for chance. In the nonstationary setting the "
        "classes come one after the other, and the score is the one after the last. The paper's stationary table "
        "is not at hand."
    )
    return _explained("ARI and AMI", words, _per_setting(outcomes, [ARI, AMI]))


def _shuffles(outcomes: Outcomes) -> Section:
    words = (
        "The rows of a class come in the same order in all runs; only the order of the classes changes. With two "
        "classes there are just two different runs, so that this one shuffle decides. Here is what others give: 0 is "
        "the one used everywhere else."
    )
    others = other_shuffles(outcomes)
    settings = [NONSTATIONARY, *others]
    grids = [shuffle_grid(outcomes, measure, settings) for measure in (NODES, CLUSTERS, ARI, AMI) if others]
    return _explained("Other shuffles", words, grids)


def _continual(outcomes: Outcomes) -> Section:
    words = (
        "After every class the model is scored on all classes so far; the first score is set to 1. The average "
        "incremental score (AI) is the mean of these. Backward transfer (BWT) is the last of them less the mean of "
        "those before, as in the authors' program. It is mostly negative because the task gets harder with every "
        "class, so it is not forgetting alone. The per-class form, which the paper prints, says little with ARI and "
        "AMI: on a single class they are 0 or 1. The paper's numbers are not at hand."
    )
    grids = _per_setting(outcomes, [AI_ARI, BWT_ARI, AI_AMI, BWT_AMI], [NONSTATIONARY])
    if grids:
        grids += _per_setting(outcomes, [BWT_PRINTED_ARI, BWT_PRINTED_AMI], [NONSTATIONARY])
    return _explained("Continual learning", words, grids)


def _errors(outcomes: Outcomes) -> Section:
    words = (
        "How far the mean number of clusters is from the number of classes, as a multiple of the latter: 0 is exact, "
        "1 is twice as many. The averages are over data sets with a number, ± the population's standard deviation; "
        "those printed are over all of the paper's data sets."
    )
    grids = [
        cluster_error_grid(outcomes, setting, algorithms)
        for setting in settings_of(outcomes)
        if (algorithms := _main(outcomes, setting))
    ]
    return _explained("Cluster error", words, grids)


def _ranks(outcomes: Outcomes) -> Section:
    words = (
        "On each data set the algorithms are ranked by their mean score, rounded to three decimals; 1 is best, equals "
        "share their ranks, and those without a result share the worst. If the Friedman test finds that they differ "
        "(p < 0.05), a diagram shows the mean ranks, best at the left: a thick bar joins those that Nemenyi's test "
        "cannot tell apart, which are less than the critical difference (CD) apart."
    )
    pictures = [verdict_picture(printed_scores(measure)) for measure in (ARI, AMI)]
    grids: list[Block] = []
    if IDAT in _main(outcomes, NONSTATIONARY) and len(_main(outcomes, NONSTATIONARY)) < FULL:
        mixed = [(measure, our_idat_among_printed(outcomes, measure)) for measure in (ARI, AMI)]
        pictures += [verdict_picture(scores) for _, scores in mixed if can_compare(scores)]
        grids.append(rank_grid("Our IDAT among the paper's rivals", mixed, [algorithm_title(IDAT)]))
    for setting in settings_of(outcomes):
        pictures += _our_pictures(outcomes, setting)
        grids += _our_ranks(outcomes, setting)
    return _explained("Ranks", words, [Gallery(pictures, small=False), *grids])


def _our_pictures(outcomes: Outcomes, setting: str) -> list[Picture]:
    measures = (ARI, AMI, *((AI_ARI, BWT_ARI, AI_AMI, BWT_AMI) if setting == NONSTATIONARY else ()))
    tables = [our_scores(outcomes, setting, _main(outcomes, setting), measure) for measure in measures]
    return [verdict_picture(scores) for scores in tables if can_compare(scores)]


def _our_ranks(outcomes: Outcomes, setting: str) -> list[Block]:
    algorithms = _main(outcomes, setting)
    if len(algorithms) < 2:
        return []
    names = [algorithm_title(algorithm) for algorithm in algorithms]
    tables = [(measure, our_scores(outcomes, setting, algorithms, measure)) for measure in (ARI, AMI)]
    return [rank_grid(f"{measure.title} ranks, {setting}", [(measure, scores)], names) for measure, scores in tables]


def _ablation(outcomes: Outcomes) -> Section:
    words = (
        "IDAT without letting the interval Λ grow (w/o Inc), shrink (w/o Dec) or either (w/o All), each beginning with "
        "Λ = 2 and with Λ = 500, in the nonstationary setting. The paper's scores are not at hand, its nodes and "
        "clusters are."
    )
    variants = [name for name in ABLATION if name in algorithms_of(outcomes, NONSTATIONARY)]
    if not any(map(is_variant, variants)):
        return Section("Ablation", [])
    tables = [our_scores(outcomes, NONSTATIONARY, variants, measure, ablation_title) for measure in (ARI, AMI)]
    pictures = [verdict_picture(scores) for scores in tables if can_compare(scores)]
    measures = (NODES, CLUSTERS, ARI, AMI, AI_ARI, BWT_ARI, AI_AMI, BWT_AMI)
    grids = [score_grid(outcomes, NONSTATIONARY, variants, [m], title=ablation_title) for m in measures]
    return _explained("Ablation", words, [Gallery(pictures, small=False), *grids])


def _histories(outcomes: Outcomes) -> Section:
    words = (
        "How the interval Λ (above) and the vigilance threshold V (below) developed along the stream, in the run with "
        "the median ARI on each data set."
    )
    blocks: list[Block] = []
    for setting in settings_of(outcomes):
        for algorithm in _main(outcomes, setting):
            pictures = [_history(outcomes, (algorithm, name, setting)) for name in datasets_of(outcomes, setting)]
            found = [picture for picture in pictures if picture]
            blocks += [Text(f"{algorithm_title(algorithm)}, {setting}"), Gallery(found)] if found else []
    return _explained("Λ and vigilance", words, blocks)


def _history(outcomes: Outcomes, place: tuple[str, str, str]) -> Picture | None:
    run = median_run(done(outcomes, place))
    if run is None:
        return None
    title, words = dataset_title(place[1]), in_words(run["history"])
    svg = history_plot(run["history"], f"{title}: {words}")
    return Picture(svg, title, f"{words} (seed {run['seed']})", f"seed {run['seed']}, ARI {run['ari']:.3f}")
