"""Write tables of scores as LaTeX, in the paper's layout: a row per data set, a column per algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....text import counted
from ...run.settings import FURTHER_SETTINGS, SETTINGS
from ..names import algorithm_title, dataset_title, is_reference, is_variant
from ..outcomes import (
    AI_AMI,
    AI_ARI,
    AMI,
    ARI,
    BWT_AMI,
    BWT_ARI,
    CLUSTERS,
    NODES,
    CellStatistics,
    Measure,
    Outcomes,
    Place,
    algorithms_of,
    cell_statistics,
    datasets_of,
    missing_mark,
)
from ..paper.agreement import printed
from ..parameters import parameter_note
from ..sections.further_measures import BEST, FURTHER_MEASURES
from ..tables.ranks import Scores, mean_ranks, our_scores, printed_scores, same_algorithms

SCORES = (ARI, AMI, *FURTHER_MEASURES, *BEST, AI_ARI, BWT_ARI, AI_AMI, BWT_AMI)
COUNTS = (NODES, CLUSTERS)  # neither high nor low is best
PUBLISHED = "\\quad published"
PUBLISHED_BELOW = " Below each, the published numbers, where the paper has them."
# A table that is wider than the page is scaled to its width.
SHRINK = "\\resizebox{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}{!}{%"
HEADER = "% Needs \\usepackage{booktabs} and \\usepackage{graphicx}.\n"
_ESCAPED = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"−": "$-$", "Λ": r"$\Lambda$", "√": r"$\surd$"},
}


def latex_tables(outcomes: Outcomes) -> str:
    """All tables of means ± standard deviations, the best of each data set in bold, and the published below.

    Parameters
    ----------
    outcomes : dict
        From `everclust.benchmark.report.outcomes.gather`.

    Returns
    -------
    text : str
        One ``table*`` per setting and measure, without the ablation variants.
    """
    settings = [
        setting for setting in (*SETTINGS, *FURTHER_SETTINGS) if any(of == setting for _, _, of in outcomes)
    ]
    tables = [latex_table(outcomes, s, measure) for s in settings for measure in (*SCORES, *COUNTS)]
    return HEADER + "".join(f"\n{table}" for table in tables if table)


def latex_table(outcomes: Outcomes, setting: str, measure: Measure) -> str:
    """A table of one measure in one setting.

    Parameters
    ----------
    outcomes : dict
    setting : str
    measure : Measure

    Returns
    -------
    text : str
        Empty if no run has the measure.
    """
    algorithms = [name for name in algorithms_of(outcomes, setting) if not is_variant(name)]
    rows = [[(name, dataset, setting) for name in algorithms] for dataset in datasets_of(outcomes, setting)]
    if not any(cell_statistics(outcomes, place, measure) for places in rows for place in places):
        return ""
    lines = [line for places in rows for line in _data_set_lines(outcomes, places, measure)]
    scores = our_scores(outcomes, setting, _ranked(algorithms), measure)
    is_ranked = measure in SCORES and len(scores.names) > 1 and bool(scores.datasets)
    if is_ranked:
        lines += ["\\midrule", *_rank_lines(scores, algorithms, measure)]
    heads = _line(["Data set", *(escape(algorithm_title(name)) for name in algorithms)])
    rules = ["\\toprule", heads, "\\midrule", *lines, "\\bottomrule"]
    body = ["\\begin{tabular}{l" + "c" * len(algorithms) + "}", *rules, "\\end{tabular}"]
    caption = f"{escape(measure.title)}, {setting} setting: mean $\\pm$ standard deviation over the runs."
    caption += PUBLISHED_BELOW * any(line.startswith(PUBLISHED) for line in lines)
    caption += f" Mean ranks over {counted(len(scores.datasets), 'data set')}." * is_ranked
    caption += f" {escape(parameter_note(outcomes, setting, algorithms))}"
    label = f"tab:{setting}-{measure.key.replace('_', '-')}"
    top = ["\\begin{table*}", "\\centering", f"\\caption{{{caption}}}", f"\\label{{{label}}}", "\\medskip"]
    return "\n".join([*top, SHRINK, *body[:-1], body[-1] + "}", "\\end{table*}", ""])


def _ranked(algorithms: Sequence[str]) -> list[str]:
    """Without the references, some of which are told the number of classes."""
    return [name for name in algorithms if not is_reference(name)]


def _data_set_lines(outcomes: Outcomes, places: Sequence[Place], measure: Measure) -> list[str]:
    """Our line, and that of the published numbers if there are any."""
    dataset = places[0][1]
    cells = [cell_statistics(outcomes, place, measure) for place in places]
    marks = [missing_mark(outcomes, place) if place in outcomes else "" for place in places]
    lines = [_line([escape(dataset_title(dataset)), *_entries(cells, marks, measure)])]
    theirs = [printed(place, measure) for place in places]
    if any(theirs):
        lines.append(_line([PUBLISHED, *(_published_entry(cell, measure.decimals) for cell in theirs)]))
    return lines


def _published_entry(cell: tuple[float, float] | str | None, decimals: int) -> str:
    if isinstance(cell, tuple):
        return f"${cell[0]:.{decimals}f} \\pm {cell[1]:.{decimals}f}$"
    return cell or ""


def escape(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _entries(row: Sequence[CellStatistics | None], marks: Sequence[str], measure: Measure) -> list[str]:
    means = [round(cell.mean, measure.decimals) for cell in row if cell]
    best = max(means) if measure in SCORES and len(row) > 1 and means else math.nan
    return [
        _entry(cell, measure.decimals, best) if cell else mark for cell, mark in zip(row, marks, strict=True)
    ]


def _entry(cell: CellStatistics, decimals: int, best: float) -> str:
    mean = round(cell.mean, decimals) + 0.0
    text = f"{mean:.{decimals}f}"
    if mean == best:
        text = f"\\mathbf{{{text}}}"
    return f"${text}$" if math.isnan(cell.deviation) else f"${text} \\pm {cell.deviation:.{decimals}f}$"


def _rank_lines(scores: Scores, algorithms: Sequence[str], measure: Measure) -> list[str]:
    """Our mean ranks, and those that the paper's scores give to the same algorithms."""
    titles = [algorithm_title(name) for name in algorithms]
    theirs = same_algorithms(printed_scores(measure, scores.setting), scores)
    lines = [_line(["Mean rank", *map(_rank, mean_ranks(scores, titles, scores.datasets))])]
    published = list(map(_rank, mean_ranks(theirs, titles, scores.datasets)))
    return [*lines, _line([PUBLISHED, *published])] if any(published) else lines


def _rank(rank: float) -> str:
    return "" if math.isnan(rank) else f"${rank:.2f}$"
