"""Rejected rows: why a row cannot be learnt, carried through a table until its block is processed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .batch import import_pyarrow

if TYPE_CHECKING:
    import pyarrow

#: Names of two columns that a table has if its source rejected rows; no file or message can use them.
REASON, TEXT = "\0reason", "\0text"
MAX_TEXT = 1_000  # characters that are kept of a rejected row


class Reject(NamedTuple):
    """Why a row was rejected, and the row as it came, where it is known."""

    reason: str
    text: str = ""
    is_missing: bool = False  # values are missing, but the row could be read


def mark_rejected(table: pyarrow.Table, rejects: Mapping[int, Reject]) -> pyarrow.Table:
    """Add to a table why some of its rows are rejected."""
    if not rejects:
        return table
    arrow = import_pyarrow()
    reasons: list[str | None] = [None] * table.num_rows
    texts: list[str | None] = [None] * table.num_rows
    for row, reject in rejects.items():
        reasons[row], texts[row] = reject.reason, reject.text[:MAX_TEXT]
    for name, values in ((REASON, reasons), (TEXT, texts)):
        table = table.append_column(name, arrow.array(values, arrow.string()))
    return table


def with_empty_rows(table: pyarrow.Table, rows: list[int]) -> pyarrow.Table:
    """Insert rows without values, which have these numbers in the result."""
    is_empty = np.zeros(table.num_rows + len(rows), bool)
    is_empty[rows] = True
    return table.take(import_pyarrow().array(np.cumsum(~is_empty) - 1, mask=is_empty))


def marked_rejects(table: pyarrow.Table) -> dict[int, Reject]:
    """The rejected rows of a table, as they were marked."""
    if REASON not in table.column_names:
        return {}
    pairs = zip(table.column(REASON).to_pylist(), table.column(TEXT).to_pylist(), strict=True)
    return {row: Reject(reason, text or "") for row, (reason, text) in enumerate(pairs) if reason is not None}
