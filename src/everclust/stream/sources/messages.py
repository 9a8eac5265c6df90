"""Messages as rows: each message is a JSON object, whose fields are the columns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ...text import counted
from ..batch import import_pyarrow
from ..columns import Columns
from ..reject import Reject, mark_rejected

if TYPE_CHECKING:
    import pyarrow

MAX_MESSAGES = 1_000  # in a batch
WAIT = 0.2  # seconds until an empty batch


def row_of(body: bytes | str) -> dict[str, Any]:
    """The fields of a message; none if it is no JSON object, so that it counts as a row without values."""
    try:
        row = json.loads(body)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def table_of(rows: Sequence[dict[str, Any]], columns: Columns) -> pyarrow.Table:
    """Rows as a table; rows with values that are no numbers are rejected, once the features are chosen."""
    arrow = import_pyarrow()
    names = _names(rows, columns)
    known = columns.features or columns.expected
    table, rejects = {}, {k: Reject("no JSON object with fields") for k, row in enumerate(rows) if not row}
    for name in names:
        values = [row.get(name) for row in rows]
        if name in columns.carried:
            table[name] = arrow.array(
                [None if value is None else str(value) for value in values], arrow.string()
            )
            continue
        numbers = [_number(value) for value in values]
        if known is None and _is_text(values, numbers):
            table[name] = arrow.array(map(str, values))
            continue
        table[name] = arrow.array(numbers, arrow.float64())
        if known is None or name in known:
            rejects |= _no_numbers(name, rows, values, numbers)
    if not table:  # no message could be parsed, but they count as rows
        return mark_rejected(arrow.table({"": arrow.nulls(len(rows))}), rejects)
    return mark_rejected(arrow.table(table), rejects)


def plain_table(rows: Sequence[Sequence[bytes]], columns: Columns) -> pyarrow.Table | None:
    """Messages, each a list of names and values, as a table, converted column by column.

    None if they have different fields, or a value that may mean something else to Python than to pyarrow.
    """
    arrow = import_pyarrow()
    fields = _fields(rows)
    if columns.features is None or fields is None:
        return None
    try:
        texts = {name: arrow.array(fields[name.encode()], arrow.string()) for name in columns.carried}
        features = [name for name in columns.features if name not in texts]
        numbers = _numbers([fields[name.encode()] for name in features])
    except (KeyError, arrow.ArrowInvalid):
        return None
    if not np.isfinite(numbers.to_numpy()).all():
        return None
    parts = {name: numbers.slice(k * len(rows), len(rows)) for k, name in enumerate(features)}
    return arrow.table({**texts, **parts})


def _fields(rows: Sequence[Sequence[bytes]]) -> dict[bytes, list[bytes]] | None:
    """The values of each field; None if messages have different fields.

    Everything is done by slices and counts of lists, because a step of Python for each row takes longer.
    """
    names, width = (rows[0][::2], len(rows[0])) if rows else ([], 0)
    if list(map(len, rows)).count(width) < len(rows):
        return None
    flat = list(chain.from_iterable(rows))
    if any(flat[2 * k :: width].count(name) < len(rows) for k, name in enumerate(names)):
        return None
    return {name: flat[2 * k + 1 :: width] for k, name in enumerate(names)}


def _numbers(columns: Sequence[list[bytes]]) -> pyarrow.Array:
    """Numbers of columns, one column after the other."""
    arrow = import_pyarrow()
    values = list(chain.from_iterable(columns))
    ends = np.cumsum(np.fromiter(chain([0], map(len, values)), np.int64, len(values) + 1))
    texts = b"".join(values)
    buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(texts)]
    return arrow.Array.from_buffers(arrow.large_string(), len(values), buffers).cast(arrow.float64())


def _names(rows: Sequence[dict[str, Any]], columns: Columns) -> list[str]:
    """The fields to read: those of the model or, before there is one, those that most messages have."""
    if columns.features is not None:
        return [*columns.carried, *columns.features]
    usual = _usual_fields(rows)
    if columns.expected is not None and columns.chosen is None and usual:
        usual += [name for name in (*columns.carried, *columns.expected) if name not in usual]
    wanted = {*columns.carried, *columns.exclude, *(columns.chosen or ())}.difference(usual)
    others = {name: sum(name in row for row in rows) for row in rows for name in row if name not in usual}
    for name, count in others.items():
        if name in wanted:
            usual.append(name)
        elif columns.chosen is None and columns.expected is None:
            columns.warn(
                f"The field {name!r} is in {count:,} of the first {counted(len(rows), 'message')}, so it is "
                "left out; choose it with --columns if it is to be learnt."
            )
    return usual


def _usual_fields(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The set of fields that occurs most often, in the order of the first message that has it."""
    sets = Counter(frozenset(row) for row in rows if row)
    if not sets:
        return []
    usual = sets.most_common(1)[0][0]
    return next(list(row) for row in rows if row and row.keys() == usual)


def _is_text(values: Sequence[Any], numbers: Sequence[float | None]) -> bool:
    """Whether a field holds text: none of its values is a number."""
    return all(number is None for number in numbers) and any(value is not None for value in values)


def _no_numbers(
    name: str, rows: Sequence[dict[str, Any]], values: Sequence[Any], numbers: Sequence[float | None]
) -> dict[int, Reject]:
    return {
        k: Reject(f"no number in column {name!r}", json.dumps(rows[k], default=str))
        for k, (value, number) in enumerate(zip(values, numbers, strict=True))
        if number is None and value is not None
    }


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
