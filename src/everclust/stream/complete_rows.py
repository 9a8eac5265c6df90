"""Which rows of a table can be learnt, as numbers, and why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..model.rows import LARGEST
from .batch import StreamError, import_pyarrow
from .reject import Reject

if TYPE_CHECKING:
    import pyarrow


class Rows(NamedTuple):
    """Complete rows of a table."""

    X: np.ndarray
    kept: np.ndarray  # indices of the complete rows within the table
    ids: list[Any] | None
    labels: list[Any] | None
    times: np.ndarray | None  # seconds since 1970
    keys: list[str] | None
    rejects: dict[int, Reject]  # the other rows, by their index within the table


def complete_rows(
    X: np.ndarray, features: Sequence[str], marked: dict[int, Reject]
) -> tuple[np.ndarray, dict[int, Reject]]:
    """Indices of rows that can be learnt, and the others with their reasons."""
    if not len(X) or (np.max(X) <= LARGEST and np.min(X) >= -LARGEST):  # neither holds for NaN
        complete, rejects = np.ones(len(X), bool), {}
    else:
        complete = np.isfinite(X).all(axis=1)
        rejects = _missing(X, features, np.flatnonzero(~complete))
        large = complete & (np.abs(X) > LARGEST).any(axis=1)
        rejects |= _too_large(X, features, np.flatnonzero(large))
        complete &= ~large
    complete[list(marked)] = False
    return np.flatnonzero(complete), rejects | marked


def _missing(X: np.ndarray, features: Sequence[str], rows: np.ndarray) -> dict[int, Reject]:
    where = np.argmin(np.isfinite(X[rows]), axis=1) if len(rows) else rows
    known = {k: Reject(f"no finite value in column {features[k]!r}", is_missing=True) for k in set(where)}
    return {row: known[k] for row, k in zip(rows.tolist(), where.tolist(), strict=True)}


def _too_large(X: np.ndarray, features: Sequence[str], rows: np.ndarray) -> dict[int, Reject]:
    found = {}
    for row in rows.tolist():
        k = int(np.argmax(np.abs(X[row])))
        found[row] = Reject(f"a magnitude over {LARGEST:g} in column {features[k]!r}", f"{X[row, k]:.6g}")
    return found


def with_time(
    table: pyarrow.Table, time: str, times: np.ndarray, kept: np.ndarray, rejects: dict[int, Reject]
) -> tuple[np.ndarray, dict[int, Reject]]:
    """The rows that have a time; the others are rejected, too."""
    reason = f"no time in column {time!r}"
    for row in kept[np.isnan(times[kept])].tolist():
        present = time in table.column_names
        value = table.column(time)[row].as_py() if present else None
        is_missing = value is None or value == ""
        rejects[row] = Reject(reason, "" if is_missing else str(value), is_missing)
    return kept[~np.isnan(times[kept])], rejects


def with_key(
    keys: list[str], key: str, kept: np.ndarray, rejects: dict[int, Reject]
) -> tuple[np.ndarray, dict[int, Reject]]:
    """The rows that have a key; the others are rejected, too."""
    reject = Reject(f"no key in column {key!r}", is_missing=True)
    without = {row: reject for row in kept.tolist() if not keys[row]}
    return np.array([row for row in kept.tolist() if keys[row]], np.int64), {**rejects, **without}


def matrix_of(table: pyarrow.Table, features: Sequence[str]) -> np.ndarray:
    """Columns as float64, missing values and columns as NaN."""
    places = {name: k for k, name in enumerate(table.column_names)}
    X = np.empty((table.num_rows, len(features)))
    for k, name in enumerate(features):
        if name in places:
            _put(_numbers(table.column(places[name]), name), X[:, k])
        else:
            X[:, k] = np.nan
    return X


def _numbers(column: pyarrow.ChunkedArray, name: str) -> pyarrow.ChunkedArray:
    """A column as float64."""
    arrow = import_pyarrow()
    try:
        if arrow.types.is_boolean(column.type):
            column = column.cast(arrow.uint8())
        return column if column.type == arrow.float64() else column.cast(arrow.float64(), safe=False)
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
        raise StreamError(f"Column {name!r} is not numeric: {str(error).rstrip('.')}.") from None


def _put(column: pyarrow.ChunkedArray, out: np.ndarray) -> None:
    """Write the numbers of a column, missing ones as NaN."""
    start = 0
    for chunk in column.chunks:
        # `to_numpy` imports pandas, which takes half a second.
        values = chunk.to_numpy(zero_copy_only=False) if chunk.null_count else np.from_dlpack(chunk)
        out[start : start + len(chunk)] = values
        start += len(chunk)


def values_of(table: pyarrow.Table, name: str | None) -> list[Any] | None:
    """The values of a column that is passed through; nothing where it is absent."""
    if name is None:
        return None
    return table.column(name).to_pylist() if name in table.column_names else [None] * table.num_rows


def keys_of(table: pyarrow.Table, name: str | None) -> list[str] | None:
    """Keys as text, so that they are the same whatever the format; empty where there is none."""
    values = values_of(table, name)
    return None if values is None else ["" if value is None else str(value) for value in values]
