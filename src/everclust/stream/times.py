"""Times in a column: ISO 8601, timestamps, or numbers of seconds, milliseconds … since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from .batch import import_pyarrow

if TYPE_CHECKING:
    import pyarrow

#: From this number on, seconds since 1970 would be after the year 5138, so it counts milliseconds; a thousand
#: times as much counts microseconds, and so on.
MILLISECONDS = 1e11
FIRST = 100  # values among which one is looked for that is not missing
EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.0  # the years 1 to 9999


def times_of(column: pyarrow.ChunkedArray) -> np.ndarray:
    """Seconds since 1970; NaN where there is no time, or none that can be read. Without a zone it is UTC."""
    arrow = import_pyarrow()
    types, kind = arrow.types, column.type
    if types.is_timestamp(kind) or types.is_date(kind):
        return _seconds(column.cast(arrow.timestamp("us", "UTC" if getattr(kind, "tz", None) else None)))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind):
        return _from_numbers(column.cast(arrow.float64(), safe=False).to_numpy())
    return _from_texts(column)


def _from_texts(column: pyarrow.ChunkedArray) -> np.ndarray:
    """Read a whole column as its first value can be read, because that is fast, or else value by value."""
    arrow = import_pyarrow()
    first = next((str(value) for value in column[:FIRST].to_pylist() if value), "")
    zone = "UTC" if re.search(r"(Z|[+-]\d\d(:?\d\d)?)$", first[len("2026-01-01") :]) else None
    kind = arrow.timestamp("us", zone) if first[4:5] == "-" else arrow.float64()
    try:
        found = column.cast(kind)
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
        return np.array([_from_text(value) for value in column.to_pylist()], float)
    return _from_numbers(found.to_numpy()) if kind == arrow.float64() else _seconds(found)


def _seconds(column: pyarrow.ChunkedArray) -> np.ndarray:
    arrow = import_pyarrow()
    micros = column.cast(arrow.int64()).cast(arrow.float64(), safe=False).to_numpy()
    return _in_range(micros / 1e6)


def _from_numbers(numbers: np.ndarray) -> np.ndarray:
    size = np.abs(numbers)
    scale = np.ones(len(numbers))
    for power in range(3):
        scale[size >= MILLISECONDS * 1000.0**power] *= 1000.0
    return _in_range(numbers / scale)


def _from_text(value: Any) -> float:
    text = str(value).strip()
    try:
        if text[4:5] != "-":
            return float(_from_numbers(np.array([float(text)]))[0])
        time = datetime.fromisoformat(text)
    except ValueError:
        return float("nan")
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()


def _in_range(seconds: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.where((seconds >= EARLIEST) & (seconds <= LATEST), seconds, np.nan)
