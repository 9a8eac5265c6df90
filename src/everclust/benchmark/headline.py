"""The first part of the report: how many cells agree, and which do not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .agreement import Comparison, Verdict, compare, distance, not_at_hand, reason, tally
from .document import Block, Column, Entry, Figures, Grid, Key, Row, Section, Text
from .names import IDAT, algorithm_title, dataset_title, is_variant
from .outcomes import Outcomes, settings_of
from .tables import signed

MEANINGS = [
    (Verdict.ONE, "within one published standard deviation plus our standard error"),
    (Verdict.TWO, "within two"),
    (Verdict.BEYOND, "farther off"),
]
RULE = (
    "A cell is the mean of a measure over the runs on one data set. It agrees if it lies within one "
    "published standard deviation of the published mean, our own mean being allowed its standard error."
)


def headline(outcomes: Outcomes) -> Section:
    """How many cells agree with the paper's, and which do not."""
    cells = compare(outcomes)
    main = [cell for cell in cells if not is_variant(cell.algorithm)]
    if not cells:
        return Section("Agreement", [Text("The paper prints no number for what was run here.", lead=True)])
    blocks: list[Block] = [*_figures(outcomes, main or cells), Key(MEANINGS), _tallies(cells)]
    return Section("Agreement", blocks + _disagreements(outcomes, cells))


def _figures(outcomes: Outcomes, cells: Sequence[Comparison]) -> list[Block]:
    counted = tally(cells)
    whose = " and ".join(dict.fromkeys(algorithm_title(cell.algorithm) for cell in cells))
    n_sets = len({cell.dataset for cell in cells})
    figures = [
        (f"{counted.one} of {counted.n}", f"cells of {whose} within one: {_share(counted.one, counted.n)}"),
        (f"{counted.two} of {counted.n}", f"within two: {_share(counted.two, counted.n)}"),
        (f"{n_sets}", f"data sets, with {_runs(cells)} each"),
    ]
    return [Figures(figures), Text(f"{RULE} {_strictly(cells)} {_left_out(outcomes, cells)}".strip())]


def _runs(cells: Sequence[Comparison]) -> str:
    fewest, most = min(cell.ours.n for cell in cells), max(cell.ours.n for cell in cells)
    return f"{most} run{'s' * (most != 1)}" if fewest == most else f"{fewest} to {most} runs"


def _strictly(cells: Sequence[Comparison]) -> str:
    counted = tally(cells, allow=False)
    return f"Without that allowance it is {counted.one} within one and {counted.two} within two."


def _left_out(outcomes: Outcomes, cells: Sequence[Comparison]) -> str:
    algorithms = dict.fromkeys(cell.algorithm for cell in cells)
    missing = sum(not_at_hand(outcomes, algorithm, settings_of(outcomes)) for algorithm in algorithms)
    return f"The paper has {missing} more for which there is no result here; they are not counted." * bool(
        missing
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def _tallies(cells: Sequence[Comparison]) -> Grid:
    """By algorithm, setting and measure; the variants of the ablation together."""
    kinds: dict[tuple[str, str, str], list[Comparison]] = {}
    for cell in cells:
        kinds.setdefault((_family(cell), cell.setting, cell.measure.title), []).append(cell)
    rows = [
        _tally_row(f"{family}, {setting}", title, members)
        for (family, setting, title), members in kinds.items()
    ]
    for family in dict.fromkeys(family for family, *_ in kinds):
        members = [cell for cell in cells if _family(cell) == family]
        rows.append(_tally_row(f"{family}, all", "", members, total=True))
    columns = [Column("Measure", words=True), *map(Column, ("Cells", "within one", "", "within two", ""))]
    return Grid("Cells that agree", columns, rows, head="Algorithm")


def _family(cell: Comparison) -> str:
    return "Ablation" if is_variant(cell.algorithm) else algorithm_title(cell.algorithm)


def _tally_row(title: str, measure: str, cells: Sequence[Comparison], *, total: bool = False) -> Row:
    one, two, n = tally(cells)
    shares = [Entry(str(n)), Entry(str(one)), Entry(_share(one, n)), Entry(str(two)), Entry(_share(two, n))]
    return Row(title, [Entry(measure), *shares], total)


def _disagreements(outcomes: Outcomes, cells: Sequence[Comparison]) -> list[Block]:
    off = [cell for cell in cells if cell.verdict != Verdict.ONE]
    if not off:
        return [Text("There is no cell that does not agree.")]
    off.sort(key=lambda cell: (is_variant(cell.algorithm), cell.algorithm != IDAT, -cell.verdict))
    main = [cell for cell in off if not is_variant(cell.algorithm)]
    parts = [("Cells that do not agree", main), ("Cells of the ablation that do not agree", off[len(main) :])]
    return [_disagreement_grid(outcomes, title, part) for title, part in parts if part]


def _disagreement_grid(outcomes: Outcomes, title: str, cells: Sequence[Comparison]) -> Grid:
    columns = [
        Column("Algorithm", words=True),
        Column("Setting", words=True),
        Column("Measure", words=True),
        *map(Column, ("ours", "paper", "off by")),
        Column("Likely reason", words=True),
    ]
    return Grid(title, columns, [_disagreement(outcomes, cell) for cell in cells])


def _disagreement(outcomes: Outcomes, cell: Comparison) -> Row:
    ours, decimals = cell.ours, cell.measure.decimals
    spread = "" if math.isnan(ours.deviation) else signed(ours.deviation, decimals)
    words = [algorithm_title(cell.algorithm), cell.setting, cell.measure.title]
    entries = [
        *map(Entry, words),
        Entry(signed(ours.mean, decimals), spread, cell.verdict),
        Entry(signed(cell.mean, decimals), signed(cell.deviation, decimals), muted=True),
        Entry(_off(cell)),
        Entry(reason(cell, outcomes)),
    ]
    return Row(dataset_title(cell.dataset), entries)


def _off(cell: Comparison) -> str:
    far = distance(cell)
    return "spread 0" if math.isinf(far) else f"{'+' if far > 0 else '−'}{abs(far):.1f} sd"
