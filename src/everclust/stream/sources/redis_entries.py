"""Entries of a Redis stream: each is an id and a list of names and values."""

from __future__ import annotations

from typing import Any

from ..batch import Position
from ..columns import Columns
from .messages import plain_table, row_of, table_of

JSON_FIELDS = (b"data", b"json")  # a single field with such a name holds all columns as JSON


def id_of(position: Position) -> Any:
    """The id in a position, which may also count the entries that had passed before."""
    return position[0] if isinstance(position, list) else position


def id_key(entry: str | bytes) -> tuple[int, int]:
    """An id as two numbers, which sort differently from text."""
    text = entry.decode() if isinstance(entry, bytes) else entry
    time, _, number = text.partition("-")
    return int(time), int(number or 0)


def entries_of(answer: Any) -> list[Any]:
    """The entries of one stream in the answer of the server: each is an id and a list of names and values."""
    if not answer:
        return []
    return list(next(iter(answer.values())) if isinstance(answer, dict) else answer[0][1])  # RESP3, RESP2


def fields_table(rows: list[list[bytes]], columns: Columns) -> Any:
    """Fields as a table: column by column where every value is a plain number, else value by value."""
    plain = None if _has_json(columns) else plain_table(rows, columns)
    return table_of([_row(fields) for fields in rows], columns) if plain is None else plain


def _has_json(columns: Columns) -> bool:
    """Whether one of the columns has the name of a field that may hold all columns as JSON."""
    return any(name.encode() in JSON_FIELDS for name in (*columns.carried, *(columns.features or ())))


def _row(fields: list[bytes]) -> dict[str, Any]:
    if len(fields) == 2 and fields[0] in JSON_FIELDS:
        return row_of(fields[1])
    pairs = zip(fields[::2], fields[1::2], strict=True)
    return {name.decode(): value.decode(errors="replace") for name, value in pairs}
