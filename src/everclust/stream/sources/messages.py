"""Messages as rows: each message is a JSON object, whose fields are the columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..batch import import_pyarrow
from ..columns import Columns

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
    """Rows as a table; once the features are chosen, values that are no numbers are missing."""
    arrow = import_pyarrow()
    if columns.features is None:
        widest = max(range(len(rows)), key=lambda k: len(rows[k]), default=None)
        names = [] if widest is None else list(rows[widest])
    else:
        names = [*columns.carried, *columns.features]
    table = {}
    for name in names:
        values = [row.get(name) for row in rows]
        if name in columns.carried:
            table[name] = arrow.array(
                [None if value is None else str(value) for value in values], arrow.string()
            )
            continue
        numbers = [_number(value) for value in values]
        is_text = columns.features is None and not any(number is not None for number in numbers)
        is_text = is_text and any(value is not None for value in values)
        table[name] = arrow.array(map(str, values)) if is_text else arrow.array(numbers, arrow.float64())
    if not table:  # no message could be parsed, but they count as rows
        return arrow.table({"": arrow.nulls(len(rows))})
    return arrow.table(table)


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None
