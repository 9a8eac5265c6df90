"""Names of algorithms and data sets in the report and in the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..data.catalogue import CATALOGUE
from ..run.registry import ALGORITHMS
from .outcomes import Outcomes, algorithms_of

IDAT = "idat"
EVERCLUST = "everclust"
# The paper's columns: "Inc" lets the interval grow, "Dec" lets it shrink; the number is the first interval.
ABLATION = [
    f"idat{rule}{first}"
    for rule in ("-without-both", "-without-shrinking", "-without-growth", "")
    for first in ("", "-500")
]


def is_variant(algorithm: str) -> bool:
    """True for a variant of IDAT that only the ablation uses."""
    return _kind(algorithm) == "ablation"


def is_extension(algorithm: str) -> bool:
    """True for an extension of IDAT that the paper does not have."""
    return _kind(algorithm) == "extensions"


def is_reference(algorithm: str) -> bool:
    """True for an algorithm that users know, offline or of river, which is not ranked."""
    return _kind(algorithm) in ("references", "streams")


def is_told(algorithm: str) -> str:
    """What the algorithm is told besides the samples, in words."""
    if algorithm in ALGORITHMS:
        return ALGORITHMS[algorithm].is_told
    return _remembered.get(algorithm, Remembered(algorithm)).told


def _kind(algorithm: str) -> str:
    if algorithm in ALGORITHMS:
        return ALGORITHMS[algorithm].kind
    return _remembered.get(algorithm, Remembered(algorithm)).kind


class Remembered(NamedTuple):
    """What a store knows of an algorithm that is not registered here, such as one of the user's own."""

    title: str
    kind: str = "compared"
    told: str = "?"


_remembered: dict[str, Remembered] = {}


@contextmanager
def remembering(asked: Iterable[Mapping[str, Any]]) -> Iterator[None]:
    """Use the titles and kinds that a store has kept, inside the `with` block."""
    _remembered.update(
        {row["algorithm"]: Remembered(row["title"], row["kind"], row["told"]) for row in asked}
    )
    try:
        yield
    finally:
        _remembered.clear()


def main_algorithms(outcomes: Outcomes, setting: str = "") -> list[str]:
    """Algorithms that were run, without ablation variants, extensions and references."""
    return [name for name in algorithms_of(outcomes, setting) if _kind(name) == "compared"]


def algorithm_title(algorithm: str) -> str:
    """The title with which the algorithm was registered, which is the paper's column title, or its name."""
    if algorithm in ALGORITHMS:
        return ALGORITHMS[algorithm].title
    return _remembered.get(algorithm, Remembered(algorithm)).title


def ablation_title(algorithm: str) -> str:
    """The paper's column title in its tables of the ablation."""
    return "IDAT (2)" if algorithm == IDAT else algorithm_title(algorithm)


def dataset_title(dataset: str) -> str:
    """The paper's title of the data set, or the name itself; for one of a battery, without the path."""
    return CATALOGUE[dataset].title if dataset in CATALOGUE else "/".join(dataset.split("/")[-2:])
