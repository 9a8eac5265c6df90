"""Write a report as Markdown: the same tables, and words instead of drawings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..document import (
    SYMBOLS,
    Block,
    Column,
    Document,
    Entry,
    Figures,
    Gallery,
    Grid,
    Key,
    Picture,
    Section,
    Text,
)


def markdown(document: Document) -> str:
    """The document as Markdown.

    Parameters
    ----------
    document : Document

    Returns
    -------
    text : str
    """
    sections = "\n".join(map(_section, document.sections))
    return f"# {plain(document.title)}\n\n{plain(document.subtitle)}\n\n{sections}"


def plain(text: str) -> str:
    """The text on one line, with Markdown and HTML characters escaped."""
    return re.sub(r"([\\|<>*_\[\]])", r"\\\1", " ".join(text.split()))


def _section(section: Section) -> str:
    return f"## {plain(section.title)}\n\n{blocks_text(section.blocks)}"


def blocks_text(blocks: Sequence[Block]) -> str:
    """Elements of a report as Markdown, without a heading of their section."""
    return "".join(f"{_block(block)}\n\n" for block in blocks)


def _block(block: Block) -> str:
    match block:
        case Text():
            return plain(block.text)
        case Figures():
            return "\n".join(f"- **{plain(number)}** {plain(meaning)}" for number, meaning in block.figures)
        case Key():
            return "\n".join(f"- {SYMBOLS[verdict]} {plain(meaning)}" for verdict, meaning in block.meanings)
        case Gallery():
            title = f"### {plain(block.title)}\n\n" if block.title else ""
            return title + "\n".join(map(_picture, block.pictures))
        case Grid():
            return _grid(block)


def _picture(picture: Picture) -> str:
    return f"- {plain(picture.title)}: {plain(picture.words)}"


def _grid(grid: Grid) -> str:
    titles = [f"{c.group} {c.title}".strip() for c in grid.columns]
    lines = [
        _line([grid.head, *titles]),
        _line([":--", *(":--" if column.words else "--:" for column in grid.columns)], raw=True),
        *(_line([row.title, *map(_cell, row.entries, grid.columns)]) for row in grid.rows),
    ]
    note = f"{plain(grid.note)}\n\n" if grid.note else ""
    return f"### {plain(grid.title)}\n\n{note}" + "\n".join(lines)


def _line(cells: Sequence[str], *, raw: bool = False) -> str:
    return "| " + " | ".join(cells if raw else map(plain, cells)) + " |"


def _cell(entry: Entry, column: Column) -> str:
    spread = f" ± {entry.spread}" if entry.spread else ""
    symbol = f" {SYMBOLS[entry.verdict]}" if entry.verdict else ""
    return entry.text + spread + symbol
