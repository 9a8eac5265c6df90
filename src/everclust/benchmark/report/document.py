"""The elements of a report, independent of the output format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .paper.agreement import Verdict

SYMBOLS = {Verdict.ONE: "●", Verdict.TWO: "◐", Verdict.BEYOND: "○"}


class Entry(NamedTuple):
    """A cell of a grid."""

    text: str
    spread: str = ""
    """The number after ±."""
    verdict: Verdict | None = None
    muted: bool = False


class Column(NamedTuple):
    """A column of a grid; adjacent columns with the same group share a heading."""

    title: str
    group: str = ""
    words: bool = False
    """True for text instead of numbers."""


class Row(NamedTuple):
    """A row of a grid."""

    title: str
    entries: Sequence[Entry]
    total: bool = False
    """True for a row of totals or averages."""


class Grid(NamedTuple):
    """A table."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    head: str = "Data set"
    folded: bool = False
    """True for a long table that is collapsed until the reader clicks on it."""
    note: str = ""
    """A sentence between title and table."""


class Text(NamedTuple):
    """A paragraph."""

    text: str
    lead: bool = False


class Figures(NamedTuple):
    """Key figures: numbers with their meanings."""

    figures: Sequence[tuple[str, str]]


class Key(NamedTuple):
    """Legend of the symbols and colours."""

    meanings: Sequence[tuple[Verdict, str]]


class Picture(NamedTuple):
    """A drawing, with a description in words for screen readers and Markdown."""

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
    """A part of the report with a heading."""

    title: str
    blocks: Sequence[Block]


class Document(NamedTuple):
    """The whole report."""

    title: str
    subtitle: str
    sections: Sequence[Section]


def explained(title: str, words: str, blocks: Sequence[Block]) -> Section:
    """A section that begins with a paragraph; empty if there are no blocks."""
    return Section(title, [Text(words), *blocks] if blocks else [])
