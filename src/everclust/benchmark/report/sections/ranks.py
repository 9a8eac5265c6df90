"""Sections with ranks and critical-difference diagrams: of the algorithms, and of the ablation."""

from __future__ import annotations

from ..document import Block, Gallery, Grid, Picture, Section, Text, explained
from ..names import ABLATION, IDAT, ablation_title, algorithm_title, is_variant, main_algorithms
from ..outcomes import (
    AI_AMI,
    AI_ARI,
    AMI,
    ARI,
    BWT_AMI,
    BWT_ARI,
    CLUSTERS,
    NODES,
    Outcomes,
    algorithms_of,
    settings_of,
)
from ..parameters import parameter_note
from ..tables.ranks import (
    can_compare,
    our_idat_among_printed,
    our_scores,
    printed_scores,
    rank_grid,
    verdict_picture,
    without_ranks,
)
from ..tables.scores import score_grid

NONSTATIONARY = "nonstationary"
FULL = 6  # algorithms in the paper's nonstationary table


def ranking(outcomes: Outcomes) -> Section:
    words = (
        "On each data set the algorithms are ranked by their mean score, rounded to three decimals; 1 is "
        "best, ties share their ranks, and algorithms that ran out of time or memory share the worst. "
        "Algorithms that could not run at all are left out, and so are data sets on which one of the others "
        "failed for another reason or was not run. If the Friedman "
        "test is significant (p < 0.05), a diagram shows the mean ranks, best at the left: a thick bar "
        "joins algorithms whose ranks differ by less than the critical difference (CD) of Nemenyi's test. "
        "The paper's ranks are those of its nonstationary scores among the same algorithms; its stationary "
        "scores are not available."
    )
    pictures = [verdict_picture(printed_scores(measure)) for measure in (ARI, AMI)]
    grids: list[Block] = []
    if (
        IDAT in main_algorithms(outcomes, NONSTATIONARY)
        and len(main_algorithms(outcomes, NONSTATIONARY)) < FULL
    ):
        mixed = [(measure, our_idat_among_printed(outcomes, measure)) for measure in (ARI, AMI)]
        pictures += [verdict_picture(scores) for _, scores in mixed if can_compare(scores)]
        if mixed[0][1].datasets:  # not if all data sets are the user's own
            grid = rank_grid("Our IDAT among the paper's baselines", mixed, [algorithm_title(IDAT)])
            grids.append(grid._replace(note=parameter_note(outcomes, NONSTATIONARY, [IDAT])))
    for setting in settings_of(outcomes):
        pictures += _our_pictures(outcomes, setting)
        grids += _our_ranks(outcomes, setting)
    return explained("Ranks", words, [Gallery(pictures, small=False), *grids])


def _our_pictures(outcomes: Outcomes, setting: str) -> list[Picture]:
    measures = (ARI, AMI, *((AI_ARI, BWT_ARI, AI_AMI, BWT_AMI) if setting == NONSTATIONARY else ()))
    tables = [
        our_scores(outcomes, setting, main_algorithms(outcomes, setting), measure) for measure in measures
    ]
    note = parameter_note(outcomes, setting, main_algorithms(outcomes, setting))
    return [_noted(verdict_picture(scores), note) for scores in tables if can_compare(scores)]


def _noted(picture: Picture, note: str) -> Picture:
    subtitle = f"{picture.subtitle} {note}" if picture.subtitle else ""
    return picture._replace(words=f"{picture.words} {note}", subtitle=subtitle)


def _our_ranks(outcomes: Outcomes, setting: str) -> list[Block]:
    algorithms = main_algorithms(outcomes, setting)
    if len(algorithms) < 2:
        return []
    tables = [(measure, our_scores(outcomes, setting, algorithms, measure)) for measure in (ARI, AMI)]
    note = parameter_note(outcomes, setting, algorithms)
    grids = [
        rank_grid(f"{measure.title} ranks, {setting}", [(measure, scores)], scores.names)._replace(note=note)
        for measure, scores in tables
        if len(scores.names) > 1 and scores.datasets
    ]
    return [*grids, *_left_out(outcomes, setting, algorithms)]


def _left_out(outcomes: Outcomes, setting: str, algorithms: list[str]) -> list[Block]:
    titles = [algorithm_title(name) for name in without_ranks(outcomes, setting, algorithms)]
    return [Text(f"Not ranked in the {setting} setting, without any run: {', '.join(titles)}.")] * bool(
        titles
    )


def ablation(outcomes: Outcomes) -> Section:
    words = (
        "IDAT with an interval Λ that cannot grow (w/o Inc), cannot shrink (w/o Dec) or is constant (w/o "
        "All), starting with Λ = 2 and with Λ = 500, in the nonstationary setting. Of the paper's results, "
        "the nodes and clusters are available, the scores are not."
    )
    variants = [name for name in ABLATION if name in algorithms_of(outcomes, NONSTATIONARY)]
    if not any(map(is_variant, variants)):
        return Section("Ablation", [])
    tables = [
        our_scores(outcomes, NONSTATIONARY, variants, measure, ablation_title) for measure in (ARI, AMI)
    ]
    pictures = [verdict_picture(scores) for scores in tables if can_compare(scores)]
    return explained(
        "Ablation", words, [Gallery(pictures, small=False), *_ablation_grids(outcomes, variants)]
    )


def _ablation_grids(outcomes: Outcomes, variants: list[str]) -> list[Grid]:
    """Tables without the printed scores, which another section has; secondary measures are folded."""
    shown = [NODES, CLUSTERS, *(measure._replace(printed="") for measure in (ARI, AMI))]
    grids = [score_grid(outcomes, NONSTATIONARY, variants, [m], title=ablation_title) for m in shown]
    more = (AI_ARI, BWT_ARI, AI_AMI, BWT_AMI)
    folded = [score_grid(outcomes, NONSTATIONARY, variants, [m], title=ablation_title) for m in more]
    return [*grids, *(grid._replace(folded=True) for grid in folded)]
