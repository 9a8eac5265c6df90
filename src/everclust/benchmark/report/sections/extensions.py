"""Section with the gains and losses of our extensions of IDAT."""

from __future__ import annotations

import numpy as np

from ..document import Block, Column, Entry, Grid, Row, Section, explained
from ..names import IDAT, algorithm_title, dataset_title, is_extension
from ..outcomes import (
    AMI,
    ARI,
    CLUSTERS,
    Measure,
    Outcomes,
    algorithms_of,
    cell_statistics,
    datasets_of,
    settings_of,
)
from ..parameters import parameter_note
from ..statistics.ranks import paired
from ..tables.scores import score_grid, signed

CLEAR = 0.05  # smallest difference in ARI or AMI that counts as a win or loss


def extensions(outcomes: Outcomes) -> Section:
    words = (
        "EverClust groups the same kind of nodes by hand-overs, and its capped metric limits the weight of "
        "each feature to the median weight. Neither is in the paper. "
        "Differences are between the means over the runs on each data set; ± is their standard error over "
        "data sets, and p is that of Wilcoxon's signed-rank test. A win or loss is a difference of more than "
        f"{CLEAR}."
    )
    blocks: list[Block] = []
    for setting in settings_of(outcomes):
        there = algorithms_of(outcomes, setting)
        found = [name for name in there if is_extension(name)]
        if not found:
            continue
        shown = [IDAT, *found] if IDAT in there else found
        if IDAT in there:
            blocks.append(_verdict_grid(outcomes, setting, found))
        plain = [measure._replace(printed="") for measure in (ARI, AMI, CLUSTERS)]
        blocks += [score_grid(outcomes, setting, shown, [measure], beside=False) for measure in plain]
    return explained("Beyond the paper", words, blocks)


def _verdict_grid(outcomes: Outcomes, setting: str, extensions: list[str]) -> Grid:
    titles = ("mean", "IDAT’s", "difference", "p", "wins", "losses", "lost on")
    columns = [Column(title, words=title == "lost on") for title in titles]
    rows = [
        Row(f"{algorithm_title(name)}, {measure.title}", _verdict(outcomes, setting, name, measure))
        for name in extensions
        for measure in (ARI, AMI)
    ]
    note = parameter_note(outcomes, setting, [IDAT, *extensions])
    return Grid(f"Against IDAT, {setting}", columns, rows, head="Extension", note=note)


def _verdict(outcomes: Outcomes, setting: str, extension: str, measure: Measure) -> list[Entry]:
    datasets, theirs, ours = _means(outcomes, setting, extension, measure)
    if not datasets:
        return [Entry("–", muted=True)] * 7
    difference, error, p = paired(theirs, ours)
    change = ours - theirs
    lost = [dataset_title(dataset) for dataset, by in zip(datasets, change, strict=True) if by < -CLEAR]
    return [
        Entry(signed(ours.mean(), 3)),
        Entry(signed(theirs.mean(), 3)),
        Entry(signed(difference, 3), signed(error, 3)),
        Entry(f"{p:.2g}"),
        Entry(str((change > CLEAR).sum())),
        Entry(str(len(lost))),
        Entry(", ".join(lost) or "–"),
    ]


def _means(
    outcomes: Outcomes, setting: str, extension: str, measure: Measure
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Data sets with results of both, and the mean scores of IDAT and of the extension."""
    found = {
        dataset: [cell_statistics(outcomes, (name, dataset, setting), measure) for name in (IDAT, extension)]
        for dataset in datasets_of(outcomes, setting)
    }
    both = {dataset: [s.mean for s in pair if s] for dataset, pair in found.items() if all(pair)}
    means = np.array(list(both.values())).reshape(-1, 2)
    return list(both), means[:, 0], means[:, 1]
