"""Numbers in columns of text, among values that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..batch import import_pyarrow

if TYPE_CHECKING:
    import pyarrow

PATTERNS = {
    "number": r"(?i)^[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|infinity|nan)$",
    "boolean": r"^(true|false|True|False|TRUE|FALSE)$",
}


def as_text(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """A column as text without space around it; bytes that are no UTF-8 are replaced."""
    arrow = import_pyarrow()
    try:
        text = column.cast(arrow.string())
    except arrow.ArrowInvalid:
        values = [None if value is None else value.decode(errors="replace") for value in column.to_pylist()]
        text = arrow.chunked_array([arrow.array(values, arrow.string())])
    return import_pyarrow("compute").utf8_trim_whitespace(text)


def is_mostly(kind: str, texts: pyarrow.ChunkedArray, decimal: str = ".") -> bool:
    """Whether more than half of the values that are there are numbers, or truth values."""
    n_fitting = _sum(import_pyarrow("compute").match_substring_regex(texts, _pattern(kind, decimal)))
    return 2 * n_fitting > len(texts) - _sum(_is_missing(texts))


def numbers_in(
    texts: pyarrow.ChunkedArray, is_boolean: bool = False, decimal: str = "."
) -> tuple[pyarrow.ChunkedArray, list[int]]:
    """A column of numbers, null where there is none, and the rows whose values are no numbers."""
    arrow, compute = import_pyarrow(), import_pyarrow("compute")
    missing = _is_missing(texts)
    if is_boolean:
        truths = compute.replace_substring_regex(compute.utf8_lower(texts), "^true$", "1")
        texts = compute.replace_substring_regex(truths, "^false$", "0")
    fits = compute.match_substring_regex(texts, _pattern("number", decimal))
    usable = compute.and_(fits, compute.invert(missing))
    digits = compute.replace_substring_regex(compute.if_else(usable, texts, None), r"^\+", "")
    digits = compute.replace_substring(digits, decimal, ".")
    wrong = compute.and_(compute.invert(fits), compute.invert(missing))
    rows = np.flatnonzero(compute.fill_null(wrong, False).to_numpy())
    return digits.cast(arrow.float64()), rows.tolist()


def _pattern(kind: str, decimal: str) -> str:
    return PATTERNS[kind].replace(r"\.", f"[{decimal}]")


def _is_missing(texts: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    arrow, compute = import_pyarrow(), import_pyarrow("compute")
    nulls = arrow.array(import_pyarrow("csv").ConvertOptions().null_values)
    return compute.or_(compute.is_null(texts), compute.is_in(texts, value_set=nulls))


def _sum(flags: pyarrow.ChunkedArray) -> int:
    return int(import_pyarrow("compute").sum(flags).as_py() or 0)
