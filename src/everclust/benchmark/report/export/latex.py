"""Write tables of scores as LaTeX, in the paper's layout: a row per data set, a column per algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...run.settings import FURTHER_SETTINGS, SETTINGS
from ..names import algorithm_title, dataset_title, is_variant
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
    algorithms_of,
    cell_statistics,
    datasets_of,
    missing_mark,
)
from ..parameters import parameter_note
from ..sections.further_measures import BEST, FURTHER_MEASURES
from ..statistics.ranks import ranks

SCORES = (ARI, AMI, *FURTHER_MEASURES, *BEST, AI_ARI, BWT_ARI, AI_AMI, BWT_AMI)
COUNTS = (NODES, CLUSTERS)  # neither high nor low is best
WIDE = 7  # algorithms, above which a table is scaled to the width of the page
HEADER = "% Needs \\usepackage{booktabs} and \\usepackage{graphicx}.\n"
_ESCAPED = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"−": "$-$", "Λ": r"$\Lambda$", "√": r"$\surd$"},
}


def latex_tables(outcomes: Outcomes) -> str:
    """All tables of means ± standard deviations over runs, the best of each data set in bold.

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
    datasets = datasets_of(outcomes, setting)
    cells = [
        [cell_statistics(outcomes, (name, dataset, setting), measure) for name in algorithms]
        for dataset in datasets
    ]
    if not any(any(row) for row in cells):
        return ""
    lines = []
    for dataset, row in zip(datasets, cells, strict=True):
        marks = [missing_mark(outcomes, (name, dataset, setting)) for name in algorithms]
        lines.append(_line([escape(dataset_title(dataset)), *_entries(row, marks, measure)]))
    if measure in SCORES and len(algorithms) > 1:
        lines += ["\\midrule", _rank_line(cells)]
    heads = _line(["Data set", *(escape(algorithm_title(name)) for name in algorithms)])
    rules = ["\\toprule", heads, "\\midrule", *lines, "\\bottomrule"]
    body = ["\\begin{tabular}{l" + "c" * len(algorithms) + "}", *rules, "\\end{tabular}"]
    if len(algorithms) > WIDE:
        body = ["\\resizebox{\\textwidth}{!}{%", *body[:-1], body[-1] + "}"]
    caption = f"{escape(measure.title)}, {setting} setting: mean $\\pm$ standard deviation over the runs."
    caption += f" {escape(parameter_note(outcomes, setting, algorithms))}"
    label = f"tab:{setting}-{measure.key.replace('_', '-')}"
    top = ["\\begin{table*}", "\\centering", f"\\caption{{{caption}}}", f"\\label{{{label}}}"]
    return "\n".join([*top, *body, "\\end{table*}", ""])


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


def _rank_line(cells: Sequence[Sequence[CellStatistics | None]]) -> str:
    table = ranks([[cell.mean if cell else np.nan for cell in row] for row in cells])
    return _line(["Mean rank", *(f"${rank:.2f}$" for rank in table.mean(axis=0))])
