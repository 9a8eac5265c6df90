"""Samples of river, dicts and DataFrames, as rows of numbers."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from ..model.rows import LARGEST

BLOCK = 128  # rows learnt at a time; on digits 13 µs a row, as in larger blocks, and 32 µs one by one

NUMBERS = "biuf"  # kinds of dtypes

Features = Mapping[Any, Any]


class Rows:
    """Dicts and DataFrames as rows of numbers, and a block of rows that wait to be learnt.

    Parameters
    ----------
    features : iterable
        The keys, in the order of the columns.
    waiting : sequence of shape (n_waiting, n_features), default=()
        Rows that wait, at most `BLOCK`.
    """

    def __init__(self, features: Iterable[Any], waiting: Any = ()) -> None:
        self.features = list(features)
        self.n_waiting = len(waiting)
        n = len(self.features)
        if n == 0:
            raise ValueError("The first sample has no features; pass at least one, because it fixes them.")
        self._get = itemgetter(*self.features) if n > 1 else self._get_leniently
        self._pack = struct.Struct(f"{n}d").pack_into  # faster than NumPy, and refuses strings
        self._memory = bytearray((BLOCK + 1) * n * 8)  # the last row is not one of those that wait
        self._table = np.frombuffer(self._memory).reshape(BLOCK + 1, n)
        if len(waiting):
            self._table[: len(waiting)] = waiting

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (self.features, self.waiting().copy())

    def add(self, x: Features) -> None:
        """Append a sample to those that wait, of which there are fewer than `BLOCK`."""
        self._write(x, self.n_waiting)
        self.n_waiting += 1

    def waiting(self) -> np.ndarray:
        """The rows that wait."""
        return self._table[: self.n_waiting]

    def drop(self, n: int) -> None:
        """Drop the first rows of those that wait."""
        rest = self._table[n : self.n_waiting].copy()
        self._table[: len(rest)] = rest
        self.n_waiting = len(rest)

    def of_dict(self, x: Features) -> np.ndarray:
        """A sample as a table of one row, which is valid until the next one."""
        self._write(x, BLOCK)
        return self._table[BLOCK:]

    def of_frame(self, X: Any) -> np.ndarray:
        """The rows of a DataFrame."""
        columns = list(X.columns)
        table = X.to_numpy() if columns == self.features else None
        if table is None or table.dtype.kind not in NUMBERS:
            zeros = np.zeros(len(X))
            table = np.column_stack(
                [_numbers(name, X[name]) if name in columns else zeros for name in self.features]
            )
        table = np.array(table, np.float64, order="C")
        valid = np.abs(table) <= LARGEST
        if not valid.all():
            i, j = np.argwhere(~valid)[0]
            raise _invalid(self.features[j], float(table[i, j]))
        return table

    def _write(self, x: Features, i: int) -> None:
        """Write a sample into a row of the table."""
        try:
            values = self._get(x)
        except KeyError:
            values = self._get_leniently(x)
        row = self._table[i]
        try:
            self._pack(self._memory, i * row.nbytes, *values)
        except (struct.error, OverflowError):
            raise self._explained(values) from None
        if not np.vdot(row, row) < LARGEST and not (np.abs(row) <= LARGEST).all():
            raise self._explained(values)

    def _get_leniently(self, x: Features) -> tuple[Any, ...]:
        return tuple(x.get(name, 0.0) for name in self.features)

    def _explained(self, values: Iterable[Any]) -> ValueError:
        return next(
            _invalid(name, value)
            for name, value in zip(self.features, values, strict=True)
            if not _is_valid(value)
        )


def _is_valid(value: Any) -> bool:
    try:
        return not isinstance(value, str) and abs(float(value)) <= LARGEST
    except (TypeError, OverflowError):
        return False


def _numbers(name: Any, column: Any) -> np.ndarray:
    """The values of a column of a DataFrame."""
    values = column.to_numpy()
    if values.dtype.kind in NUMBERS:
        return values
    try:
        return np.array(array("d", values.tolist()))
    except (TypeError, OverflowError):
        raise next(_invalid(name, value) for value in values.tolist() if not _is_valid(value)) from None


def _invalid(name: Any, value: Any) -> ValueError:
    return ValueError(
        f"Feature {name!r} is {value!r}, but values must be finite numbers up to {LARGEST:g}; "
        "impute missing values and encode words first."
    )
