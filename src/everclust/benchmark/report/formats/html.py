"""Write a report as a single, self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

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
    Row,
    Section,
    Text,
)

THIN_SPACE = "\u2009"
FIGURE_SPACE = "\u2007"  # as wide as a digit
LONG = 30  # characters from which a cell of words gets more width
GAP = 3  # characters of padding in a cell
PAGE = 130  # characters that fit beside the titles of the rows, at the page's largest width
_HEAD = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
)


def page(document: Document) -> str:
    """The document as HTML.

    Parameters
    ----------
    document : Document

    Returns
    -------
    html : str
    """
    style = (files(__package__) / "page.css").read_text(encoding="utf-8")
    head = _HEAD.format(title=escape(document.title), style=style)
    links = "\n".join(f'<a href="#{_anchor(s)}">{escape(s.title)}</a>' for s in document.sections)
    header = f"<header>\n<h1>{escape(document.title)}</h1>\n<p>{inline(document.subtitle)}</p>\n"
    header += f"<nav>\n{links}\n</nav>\n</header>\n"
    return head + header + "".join(map(_section, document.sections)) + "</main>\n</body>\n</html>\n"


def inline(text: str) -> str:
    """Escape the text and mark up `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _anchor(section: Section) -> str:
    return re.sub(r"\W+", "-", section.title.lower()).strip("-")


def _section(section: Section) -> str:
    blocks = "\n".join(_blocks(section.blocks))
    return f'<section id="{_anchor(section)}">\n<h2>{escape(section.title)}</h2>\n{blocks}\n</section>\n'


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    """Put consecutive tables into one container, so that they can stand side by side."""
    for are_grids, members in groupby(blocks, lambda block: isinstance(block, Grid)):
        texts = "\n".join(map(_block, members))
        yield f'<div class="grids">\n{texts}\n</div>' if are_grids else texts


def _block(block: Block) -> str:
    match block:
        case Text():
            return f"<p{_class(lead=block.lead)}>{inline(block.text)}</p>"
        case Figures():
            cards = (f"<div><dt>{escape(a)}</dt><dd>{escape(b)}</dd></div>" for a, b in block.figures)
            return '<dl class="figures">' + "".join(cards) + "</dl>"
        case Key():
            return _key(block)
        case Gallery():
            return _gallery(block)
        case Grid():
            return _grid(block)


def _key(key: Key) -> str:
    items = (
        f'<li><b class="{verdict.name.lower()}">{SYMBOLS[verdict]}</b>{escape(meaning)}</li>'
        for verdict, meaning in key.meanings
    )
    return '<ul class="key">' + "".join(items) + "</ul>"


def _gallery(gallery: Gallery) -> str:
    title = f"<h3>{escape(gallery.title)}</h3>\n" if gallery.title else ""
    pictures = "\n".join(map(_picture, gallery.pictures))
    return f"{title}<div{_class(gallery=True, large=not gallery.small)}>\n{pictures}\n</div>"


def _picture(picture: Picture) -> str:
    words = picture.subtitle if picture.svg else picture.words
    caption = f"<figcaption><b>{escape(picture.title)}</b><span>{escape(words)}</span></figcaption>"
    drawing = f"<div>{picture.svg}</div>" if picture.svg else ""
    return f"<figure>{caption}{drawing}</figure>"


def _grid(grid: Grid) -> str:
    widths = [_width([row.entries[k].spread for row in grid.rows]) for k in range(len(grid.columns))]
    marked = [any(row.entries[k].verdict for row in grid.rows) for k in range(len(grid.columns))]
    starts = _starts(grid.columns)
    body = "\n".join(_row(row, grid.columns, widths, marked, starts) for row in grid.rows)
    table = f"<table>\n<thead>\n{_head(grid, starts)}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    return _framed(grid, table)


def _width(spreads: Sequence[str]) -> int:
    """Width of the longest spread; 0 if they differ in their number of decimals."""
    decimals = {len(spread.partition(".")[2]) for spread in spreads if spread}
    return max(map(len, spreads)) if len(decimals) == 1 else 0


def _framed(grid: Grid, table: str) -> str:
    """Put a table into a box that scrolls, and say so if it is wide."""
    title = escape(grid.title)
    box = f'<div class="box" tabindex="0" role="region" aria-label="{title}">{table}</div>'
    notes = filter(None, [grid.note, _wide_hint(grid)])
    box = "".join(f'<p class="note">{inline(note)}</p>\n' for note in notes) + box
    if grid.folded:
        return f"<details><summary>{title}</summary>\n{box}</details>"
    return f'<div class="grid"><h3>{title}</h3>\n{box}</div>'


def _wide_hint(grid: Grid) -> str:
    """A hint for tables that are wider than the page: browsers may hide the scroll bar."""
    rows = [[*(entry.text + entry.spread for entry in row.entries)] for row in grid.rows]
    titles = [column.title for column in grid.columns]
    widths = [min(LONG, max(map(len, texts))) + GAP for texts in zip(titles, *rows, strict=True)]
    if sum(widths) <= PAGE:
        return ""
    groups = list(dict.fromkeys(column.group or column.title for column in grid.columns))
    return f"⟷ Scroll the table sideways: it goes on to {groups[-1]}."


def _starts(columns: Sequence[Column]) -> list[bool]:
    """True for the first column of each group, which has a line before it."""
    before = ["", *(column.group for column in columns)]
    return [column.group != last for column, last in zip(columns, before, strict=False)]


def _head(grid: Grid, starts: Sequence[bool]) -> str:
    grouped = any(column.group for column in grid.columns)
    rows = []
    if grouped:
        spans = [(group, len(list(members))) for group, members in groupby(grid.columns, lambda c: c.group)]
        cells = "".join(
            f'<th{_class(group=True, first=bool(group))} colspan="{n}">{escape(group)}</th>'
            for group, n in spans
        )
        rows.append(f"<tr><th></th>{cells}</tr>")
    cells = "".join(
        f'<th scope="col"{_class(words=column.words, first=start)}>{escape(column.title)}</th>'
        for column, start in zip(grid.columns, starts, strict=True)
    )
    rows.append(f'<tr><th scope="col">{escape(grid.head)}</th>{cells}</tr>')
    return "\n".join(rows)


def _row(
    row: Row, columns: Sequence[Column], widths: Sequence[int], marked: Sequence[bool], starts: Sequence[bool]
) -> str:
    cells = "".join(map(_cell, row.entries, columns, widths, marked, starts))
    return f'<tr{_class(total=row.total)}><th scope="row">{escape(row.title)}</th>{cells}</tr>'


def _cell(entry: Entry, column: Column, width: int, marked: bool, start: bool) -> str:
    """A cell; padding of spreads and symbols aligns the digits of a column."""
    kind = _class(
        muted=entry.muted and not entry.verdict,
        words=column.words,
        long=column.words and len(entry.text) > LONG,
        first=start,
        **({entry.verdict.name.lower(): True} if entry.verdict else {}),
    )
    spread = (
        f" <small>±{THIN_SPACE}{FIGURE_SPACE * (width - len(entry.spread))}{entry.spread}</small>"
        if entry.spread
        else ""
    )
    symbol = f"<i>{SYMBOLS[entry.verdict] if entry.verdict else ''}</i>" if marked else ""
    text = inline(entry.text) if column.words else escape(entry.text)
    return f"<td{kind}>{text}{spread}{symbol}</td>"


def _class(**present: bool) -> str:
    names = " ".join(name for name, is_there in present.items() if is_there)
    return f' class="{names}"' if names else ""
