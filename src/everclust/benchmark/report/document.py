"""What a report is made of, whatever it is written as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .agreement import Verdict

SYMBOLS = {Verdict.ONE: "●", Verdict.TWO: "◐", Verdict.BEYOND: "○"}


class Entry(NamedTuple):
    """A cell of a grid."""

    text: str
    spread: str = ""
    """What stands behind ±."""
    verdict: Verdict | None = None
    muted: bool = False


class Column(NamedTuple):
    """Columns next to each other with the same group have one heading above them."""

    title: str
    group: str = ""
    words: bool = False
    """Text, not numbers."""


class Row(NamedTuple):
    """A line of a grid."""

    title: str
    entries: Sequence[Entry]
    total: bool = False
    """Not one of the others, but drawn from them."""


class Grid(NamedTuple):
    """A table."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    head: str = "Data set"
    folded: bool = False
    """Long and of less interest: to be opened by a click."""


class Text(NamedTuple):
    """A paragraph."""

    text: str
    lead: bool = False


class Figures(NamedTuple):
    """A few numbers that say it all: each with what it is."""

    figures: Sequence[tuple[str, str]]


class Key(NamedTuple):
    """What the symbols and colours mean."""

    meanings: Sequence[tuple[Verdict, str]]


class Picture(NamedTuple):
    """A drawing, and the same in words for those who do not see it."""

    svg: str
    title: str
    words: str
    subtitle: str = ""


class Gallery(NamedTuple):
    """Pictures side by side."""

    pictures: Sequence[Picture]
    small: bool = True
    title: str = ""


Block = Grid | Text | Figures | Key | Gallery


class Section(NamedTuple):
    """A part with a heading."""

    title: str
    blocks: Sequence[Block]


class Document(NamedTuple):
    """All of it."""

    title: str
    subtitle: str
    sections: Sequence[Section]


def explained(title: str, words: str, blocks: Sequence[Block]) -> Section:
    """A section with a paragraph first; empty if there is nothing to explain."""
    return Section(title, [Text(words), *blocks] if blocks else [])
