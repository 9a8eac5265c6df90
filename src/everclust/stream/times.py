"""Times in a column: ISO 8601, timestamps, or numbers of seconds, milliseconds … since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from .batch import StreamError, import_pyarrow

if TYPE_CHECKING:
    import pyarrow

#: From this number on, seconds since 1970 would be after the year 5138, so it counts milliseconds; a thousand
#: times as much counts microseconds, and so on.
MILLISECONDS = 1e11
PLAIN_CODES = frozenset("dmYHMS")  # of formats that pyarrow and Python read in the same way
FIRST = 100  # values among which one is looked for that is not missing
EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.0  # the years 1 to 9999


def times_of(column: pyarrow.ChunkedArray, format: str | None = None) -> np.ndarray:
    """Seconds since 1970; NaN where there is no time, or none that can be read. Without a zone it is UTC.

    `format` says how texts are written, in the codes of `datetime.strptime`.
    """
    arrow = import_pyarrow()
    types, kind = arrow.types, column.type
    if format is not None and (types.is_timestamp(kind) or types.is_date(kind)):
        raise StreamError("The column of times holds timestamps, not text; leave --time-format out.")
    if format is not None:
        return _in_range(_from_formatted_texts(column, format))
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
    return _with_zone(time).timestamp()


def _from_formatted_texts(column: pyarrow.ChunkedArray, format: str) -> np.ndarray:
    """Read a column by pyarrow, because that is fast, and by Python what pyarrow would write in another way.

    Of 31.02.2026, pyarrow makes the third of March.
    """
    arrow = import_pyarrow()
    found = np.full(len(column), np.nan)
    if set(_codes(format)) <= PLAIN_CODES and arrow.types.is_string(column.type):
        compute = import_pyarrow("compute")
        times = compute.strptime(column, format=format, unit="s", error_is_null=True)
        is_exact = compute.fill_null(compute.equal(compute.strftime(times, format=format), column), False)
        seconds = times.cast(arrow.int64()).cast(arrow.float64()).to_numpy()
        found = np.where(is_exact.to_numpy(), seconds, np.nan)
    for row in np.flatnonzero(np.isnan(found)).tolist():
        found[row] = _from_formatted(column[row].as_py(), format)
    return found


def _codes(format: str) -> list[str]:
    return re.findall(r"%(.)", format.replace("%%", ""))


def _from_formatted(value: Any, format: str) -> float:
    try:
        return _with_zone(datetime.strptime(str(value).strip(), format)).timestamp()
    except (ValueError, OverflowError):
        return float("nan")


def _with_zone(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def check_time_format(format: str) -> None:
    """Raise an error if no time can be read by a format, or none with a year."""
    codes = _codes(format)
    if not {"Y", "y"} & set(codes):
        raise StreamError(
            f"--time-format is {format!r}, but it must have a year, %Y or %y, as in '%d.%m.%Y %H:%M'."
        )
    if "Z" in codes:
        raise StreamError("--time-format has %Z, but names of zones are ambiguous; use %z for +01:00.")
    try:
        datetime.strptime(datetime(2026, 11, 18, 13, 30, tzinfo=UTC).strftime(format), format)
    except (ValueError, re.error) as error:
        raise StreamError(
            f"--time-format is {format!r}, by which no time can be read: {str(error).rstrip('.')}."
        ) from None


def _in_range(seconds: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.where((seconds >= EARLIEST) & (seconds <= LATEST), seconds, np.nan)
