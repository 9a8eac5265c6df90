"""What `everclust bench list` prints: tables for 80 columns, and below them what is too long for a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from ..text import counted
from .console import print_table

if TYPE_CHECKING:
    from ..benchmark.data.entry import DataSet
    from ..benchmark.run.registry import Algorithm


def print_data_sets() -> None:
    """Print the catalogue with its sources, the user's own data sets, and the batteries."""
    from ..benchmark.data.catalogue import CATALOGUE
    from ..benchmark.data.datasets import at_hand, batteries_at_hand, battery, others_at_hand

    here = set(at_hand())
    rows = [
        [name, entry.shape, str(entry.n_classes), _state(entry, name in here), str(entry.openml or "")]
        for name, entry in CATALOGUE.items()
    ]
    rows += [[name, "", "", "yes", ""] for name in others_at_hand()]
    for name in batteries_at_hand():
        rows.append([name, counted(len(battery(name)), "data set"), "", "yes", ""])
    heads = ["data set or battery", "samples × features", "classes", "available", "OpenML"]
    print_table(heads, rows, unbroken=heads[:1])
    _print_lines(
        "Sources and licences:",
        (
            (name, f"{entry.source or 'unknown'}; licence: {entry.licence or 'unknown'}")
            for name, entry in CATALOGUE.items()
        ),
    )


def _state(entry: DataSet, is_here: bool) -> str:
    return "yes" if is_here else "no" if entry.recipe is None else "can be fetched"


def print_algorithms() -> None:
    """Print the registered algorithms, and what is searched for those with a search space."""
    from ..benchmark.run.registry import ALGORITHMS

    rows = [
        [algorithm.name, algorithm.title, _settings_of(algorithm), algorithm.told or "nothing"]
        for algorithm in ALGORITHMS.values()
    ]
    heads = ["algorithm", "title", "settings", "is told"]
    print_table(heads, rows, unbroken=[heads[0], heads[2]])
    _print_lines(
        "Parameters to tune, by a search that uses the classes:",
        ((name, ", ".join(algorithm.space)) for name, algorithm in ALGORITHMS.items() if algorithm.space),
    )


def _settings_of(algorithm: Algorithm) -> str:
    if algorithm.kind == "ablation":
        return "ablation"
    return "both" if algorithm.incremental else "stationary"


def _print_lines(title: str, entries: Iterable[tuple[str, str]]) -> None:
    typer.echo(title)
    for name, words in entries:
        typer.echo(f"  {name}: {words}")
