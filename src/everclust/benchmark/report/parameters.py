"""The parameters with which the algorithms were run: where they come from, and their values."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .document import Column, Entry, Grid, Row, Section, explained
from .names import algorithm_title, dataset_title
from .outcomes import NOT_RUN, Outcomes, Place, algorithms_of, datasets_of, settings_of

NOT_RECORDED = "not recorded"
WORDS = (
    "Where the parameters come from. None: there is nothing to set. Printed: the paper prints them, and the "
    "algorithm follows the rules of its authors' program. Fitted: we chose them so that the numbers of nodes "
    "and clusters agree with the paper's, which is therefore no evidence of agreement. Searched: a search "
    "for the best ARI found them; it uses the classes. Given: by the person who ran the benchmark. Not "
    "recorded: the store does not say. Not run: asked for, but not begun."
)


def parameter_kind(outcomes: Outcomes, place: Place) -> str:
    """Where the parameters of a place come from: "none", "printed", "fitted", "searched", "given"."""
    runs = [run for run in outcomes.get(place, []) if run["status"] != NOT_RUN]
    if not runs and place in outcomes:
        return NOT_RUN
    recorded = next((run["parameters"] for run in runs if run.get("parameters")), "")
    plain = all(run.get("params_json") in (None, "{}") for run in runs)
    return recorded or ("none" if plain else NOT_RECORDED)


def parameter_kinds(outcomes: Outcomes, algorithm: str, setting: str) -> dict[str, list[str]]:
    """Data sets by where the parameters come from."""
    kinds: dict[str, list[str]] = {}
    for dataset in datasets_of(outcomes, setting):
        if (algorithm, dataset, setting) in outcomes:
            kind = parameter_kind(outcomes, (algorithm, dataset, setting))
            kinds.setdefault(kind, []).append(dataset)
    return kinds


def parameter_note(outcomes: Outcomes, setting: str, algorithms: Sequence[str]) -> str:
    """A sentence below the title of a table: which algorithms have which kind of parameters."""
    kinds: dict[str, list[str]] = {}
    for algorithm in algorithms:
        found = parameter_kinds(outcomes, algorithm, setting)
        for kind, datasets in found.items():
            where = f" on {', '.join(map(dataset_title, datasets))}" if len(found) > 1 else ""
            kinds.setdefault(kind, []).append(f"{algorithm_title(algorithm)}{where}")
    listed = "; ".join(f"{kind} ({', '.join(titles)})" for kind, titles in kinds.items())
    return f"Parameters: {listed}." if listed else ""


def parameters(outcomes: Outcomes) -> Section:
    """Section with the values of all parameters."""
    grids = [_grid(outcomes, setting) for setting in settings_of(outcomes)]
    return explained("Parameters", WORDS, [grid for grid in grids if grid.rows])


def _grid(outcomes: Outcomes, setting: str) -> Grid:
    rows = [
        row
        for algorithm in algorithms_of(outcomes, setting)
        for kind, datasets in parameter_kinds(outcomes, algorithm, setting).items()
        for row in _rows(outcomes, algorithm, setting, kind, datasets)
    ]
    columns = [Column(title, words=True) for title in ("Data set", "Kind", "Values")]
    return Grid(f"Parameters, {setting}", columns, rows, head="Algorithm", folded=len(rows) > 30)


def _rows(outcomes: Outcomes, algorithm: str, setting: str, kind: str, datasets: list[str]) -> list[Row]:
    """A row per data set, or one row if there are no parameters."""
    title = algorithm_title(algorithm)
    if kind == "none":
        return [Row(title, [Entry("all" if len(datasets) > 1 else dataset_title(datasets[0])), *_NONE])]
    return [
        Row(
            title,
            [Entry(dataset_title(name)), Entry(kind), Entry(_values(outcomes, (algorithm, name, setting)))],
        )
        for name in datasets
    ]


_NONE = (Entry("none"), Entry("–", muted=True))


def _values(outcomes: Outcomes, place: Place) -> str:
    texts = (run.get("params_json") or "{}" for run in outcomes[place])
    values = json.loads(next((text for text in texts if text != "{}"), "{}"))
    return ", ".join(f"`{name}` {_shown(value)}" for name, value in values.items()) or "–"


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
