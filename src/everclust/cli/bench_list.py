"""What `everclust bench list` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text import counted
from .console import print_table

if TYPE_CHECKING:
    from ..benchmark.run.registry import Algorithm


def print_data_sets() -> None:
    """Print the catalogue, the user's own data sets and the batteries."""
    from ..benchmark.data.catalogue import CATALOGUE
    from ..benchmark.data.datasets import at_hand, batteries_at_hand, battery, others_at_hand

    here = set(at_hand())
    rows = []
    for name, entry in CATALOGUE.items():
        state = "yes" if name in here else "no" if entry.recipe is None else "can be fetched"
        openml = [f"OpenML {entry.openml}"] if entry.openml and "OpenML" not in entry.source else []
        source = "; ".join([entry.source, *openml, entry.licence])
        rows.append([name, entry.shape, str(entry.n_classes), state, source])
    rows += [[name, "", "", "yes", "your own"] for name in others_at_hand()]
    for name in batteries_at_hand():
        rows.append([name, "", "", "yes", f"battery of {counted(len(battery(name)), 'data set')}"])
    print_table(["data set", "samples × features", "classes", "available", "source; licence"], rows)


def print_algorithms() -> None:
    """Print the registered algorithms."""
    from ..benchmark.run.registry import ALGORITHMS

    rows = [
        [
            *(algorithm.name, algorithm.title, _settings_of(algorithm)),
            *(algorithm.told or "nothing", ", ".join(algorithm.space)),
        ]
        for algorithm in ALGORITHMS.values()
    ]
    print_table(["algorithm", "title", "settings", "is told", "to tune"], rows, unbroken=["algorithm"])


def _settings_of(algorithm: Algorithm) -> str:
    if algorithm.kind == "ablation":
        return "nonstationary (ablation)"
    return "both" if algorithm.incremental else "stationary"
