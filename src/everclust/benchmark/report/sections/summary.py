"""The first section of the report: how many cells agree with the paper, and which do not."""

from __future__ import annotations

from collections.abc import Sequence

from ..document import Block, Column, Entry, Figures, Grid, Key, Row, Section, Text
from ..names import IDAT, algorithm_title, dataset_title, is_variant
from ..outcomes import Outcomes, settings_of
from ..paper.agreement import PAPER_RUNS, Comparison, Verdict, compare, not_at_hand, tally
from ..paper.reasons import reason
from ..parameters import parameter_kind
from ..tables.scores import our_entry, printed_entry, signed

MEANINGS = [
    (Verdict.ONE, "within one published standard deviation plus our standard error"),
    (Verdict.TWO, "within two"),
    (Verdict.BEYOND, "farther off"),
]
RULE = (
    "A cell is the mean of a measure over the runs on one data set. It agrees if it lies within one "
    "published standard deviation plus our standard error of the published mean."
)
REASONS = (
    "A reason stands beside a cell only if it is known for that cell. Two classes: they have only two "
    "orders, so all runs depend on one shuffle of the rows within the classes, and with another shuffle the "
    "cell agrees. Other copy: the paper's file is not the one at hand. Small spread: the means are close, "
    "but the paper's runs hardly vary."
)


def summary(outcomes: Outcomes) -> Section:
    """Section with the number of cells that agree with the paper, and those that do not."""
    cells = sorted(compare(outcomes), key=lambda cell: (cell.algorithm != IDAT, is_variant(cell.algorithm)))
    main = [cell for cell in cells if cell.algorithm == cells[0].algorithm]
    if not cells:
        return Section("Agreement", [Text("The paper has no numbers for these runs.", lead=True)])
    blocks: list[Block] = [*_figures(outcomes, main), Key(MEANINGS), _tallies(outcomes, cells)]
    return Section("Agreement", blocks + _disagreements(outcomes, cells))


def _figures(outcomes: Outcomes, cells: Sequence[Comparison]) -> list[Block]:
    """Key figures of one algorithm: IDAT, if it was run."""
    one, two, n = tally(cells)
    whose = algorithm_title(cells[0].algorithm)
    n_sets = len({cell.dataset for cell in cells})
    figures = [
        (
            share(one, n),
            f"{one} of {n} published numbers of {whose} reproduced within one standard deviation",
        ),
        (share(two, n), f"{two} of {n} within two"),
        (f"{n_sets} × {_runs(cells)}", "data sets and runs on each"),
    ]
    remarks = [RULE, _strictly(cells), _few_runs(cells), _left_out(outcomes, cells)]
    return [Figures(figures), Text(" ".join(filter(None, remarks)))]


def _runs(cells: Sequence[Comparison]) -> str:
    fewest, most = min(cell.ours.n for cell in cells), max(cell.ours.n for cell in cells)
    return f"{most}" if fewest == most else f"{fewest}–{most}"


def _strictly(cells: Sequence[Comparison]) -> str:
    one, two, _ = tally(cells, allow=False)
    return f"Without our standard error, {one} lie within one and {two} within two."


def _few_runs(cells: Sequence[Comparison]) -> str:
    if min(cell.ours.n for cell in cells) >= PAPER_RUNS:
        return ""
    return (
        f"The paper has {PAPER_RUNS} runs; with fewer, the standard error is larger and agreement is easier."
    )


def _left_out(outcomes: Outcomes, cells: Sequence[Comparison]) -> str:
    missing = not_at_hand(outcomes, cells[0].algorithm, settings_of(outcomes))
    if not missing:
        return ""
    return f"The paper has {missing} more numbers for which we have no result; they are not counted."


def share(part: int, whole: int) -> str:
    """Format a share in per cent."""
    return f"{100 * part / whole:.1f} %"


def _tallies(outcomes: Outcomes, cells: Sequence[Comparison]) -> Grid:
    """Table of agreement by algorithm, setting and measure, with the ablation variants together."""
    kinds: dict[tuple[str, str, str], list[Comparison]] = {}
    for cell in cells:
        kinds.setdefault((_family(cell), cell.setting, cell.measure.title), []).append(cell)
    rows = []
    for family in dict.fromkeys(family for family, *_ in kinds):
        rows += [
            _tally_row(f"{of}, {at}", _kinds(outcomes, met), what, met)
            for (of, at, what), met in kinds.items()
            if of == family
        ]
        met = [cell for cell in cells if _family(cell) == family]
        rows.append(_tally_row(f"{family}, all", _kinds(outcomes, met), "", met, total=True))
    columns = [Column("Parameters", words=True), Column("Measure", words=True), Column("Cells")]
    columns += [
        Column(title, group) for group in ("within one", "within two") for title in ("cells", "share")
    ]
    return Grid("Cells that agree", columns, rows, head="Algorithm")


def _family(cell: Comparison) -> str:
    return "Ablation" if is_variant(cell.algorithm) else algorithm_title(cell.algorithm)


def _kinds(outcomes: Outcomes, cells: Sequence[Comparison]) -> str:
    """Where the parameters of these cells come from."""
    places = dict.fromkeys((cell.algorithm, cell.dataset, cell.setting) for cell in cells)
    return ", ".join(dict.fromkeys(parameter_kind(outcomes, place) for place in places))


def _tally_row(
    title: str, parameters: str, measure: str, cells: Sequence[Comparison], *, total: bool = False
) -> Row:
    one, two, n = tally(cells)
    entries = map(Entry, (parameters, measure, str(n), str(one), share(one, n), str(two), share(two, n)))
    return Row(title, list(entries), total)


def _disagreements(outcomes: Outcomes, cells: Sequence[Comparison]) -> list[Block]:
    off = sorted((cell for cell in cells if cell.verdict != Verdict.ONE), key=lambda cell: -cell.verdict)
    if not off:
        return [Text("All cells agree.")]
    blocks: list[Block] = [Text(REASONS)]
    for title, variants in (("Cells that do not agree", False), ("Cells of the ablation that do not", True)):
        part = [cell for cell in off if is_variant(cell.algorithm) == variants]
        if part:
            blocks.append(_disagreement_grid(outcomes, f"{title} ({len(part)})", part, folded=variants))
    return blocks


def _disagreement_grid(outcomes: Outcomes, title: str, cells: Sequence[Comparison], *, folded: bool) -> Grid:
    several = len({cell.algorithm for cell in cells}) > 1
    columns = [Column("Algorithm", words=True)] if several else []
    columns += [
        Column("Parameters", words=True),
        Column("Cell", words=True),
        *map(Column, ("ours", "paper", "off by")),
    ]
    columns.append(Column("Known reason", words=True))
    rows = [_disagreement(outcomes, cell, several) for cell in cells]
    return Grid(title, columns, rows, folded=folded)


def _disagreement(outcomes: Outcomes, cell: Comparison, named: bool) -> Row:
    place = (cell.algorithm, cell.dataset, cell.setting)
    entries = [
        *([Entry(algorithm_title(cell.algorithm))] if named else []),
        Entry(parameter_kind(outcomes, place)),
        Entry(f"{cell.measure.title}, {cell.setting}"),
        our_entry(outcomes, place, cell.measure),
        printed_entry(place, cell.measure),
        Entry(_off(cell)),
        Entry(reason(cell, outcomes)),
    ]
    return Row(dataset_title(cell.dataset), entries)


def _off(cell: Comparison) -> str:
    """Difference in published standard deviations, or absolute if the deviation is 0."""
    sign = "+" * (cell.difference > 0)
    if cell.deviation:
        return f"{sign}{signed(cell.difference / cell.deviation, 1)} sd"
    return f"{sign}{signed(cell.difference, cell.measure.decimals)}"
