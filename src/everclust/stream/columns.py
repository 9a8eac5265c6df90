"""Which columns of a table are learnt, which are passed through, and which rows are complete."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..model.rows import LARGEST
from ..text import counted
from .batch import StreamError, import_pyarrow
from .reject import REASON, TEXT, Reject, marked_rejects
from .times import check_time_format, times_of

if TYPE_CHECKING:
    import pyarrow

SHOWN = 8  # names in a message
DELIMITERS = ";|\t"  # of CSV files, besides the comma


class Rows(NamedTuple):
    """Complete rows of a table."""

    X: np.ndarray
    kept: np.ndarray  # indices of the complete rows within the table
    ids: list[Any] | None
    labels: list[Any] | None
    times: np.ndarray | None  # seconds since 1970
    keys: list[str] | None
    rejects: dict[int, Reject]  # the other rows, by their index within the table


class Columns:
    """The choice of columns, made when the first table arrives.

    Parameters
    ----------
    features : sequence of str, optional
        Columns to learn, in this order; by default all others than those below.
    exclude : sequence of str
        Columns to leave out.
    label, id, time, key : str, optional
        Columns with the true class, with row ids, with times and with keys of models; they are never learnt.
    time_format : str, optional
        How times are written, in the codes of `datetime.strptime`; by default ISO 8601 or a number.
    expected : sequence of str, optional
        Columns that the model has learnt; they are found by name, in the model's order.
    width : int, optional
        Number of columns that the model has learnt, where they have no names.
    """

    def __init__(
        self,
        features: Sequence[str] | None = None,
        *,
        exclude: Sequence[str] = (),
        label: str | None = None,
        id: str | None = None,  # the name of the option
        time: str | None = None,
        time_format: str | None = None,
        key: str | None = None,
        expected: Sequence[str] | None = None,
        width: int | None = None,
    ) -> None:
        self.chosen = list(features) if features else None
        self.exclude = set(exclude)
        self.label, self.id, self.time, self.key = label, id, time, key
        if time_format is not None:
            check_time_format(time_format)
        self.time_format = time_format
        self.expected = None if expected is None else list(expected)
        self.width = width
        self.features: list[str] | None = None
        self.resumed = False  # whether the run had begun before
        #: Called with a sentence when a source or the choice of columns departs from what was expected.
        self.warn: Callable[[str], None] = lambda sentence: None

    @property
    def carried(self) -> list[str]:
        """Columns that are passed through as text, never learnt."""
        names = (self.id, self.label, self.time, self.key)
        return list(dict.fromkeys(name for name in names if name is not None))

    def mentions(self, names: Sequence[str]) -> bool:
        """Whether one of these names was chosen by the user or learnt by the model."""
        known = {*self.carried, *self.exclude, *(self.chosen or []), *(self.expected or [])}
        return not known.isdisjoint(names)

    def choose(self, schema: pyarrow.Schema, named: bool = True) -> list[str]:
        """Choose the features from the names and types of the first table, once."""
        if self.features is None:
            self._check_present(schema, [*self.carried, *self.exclude, *(self.chosen or [])])
            features = self._pick(schema, named)
            self._refuse_duplicates(schema, [*self.carried, *features])
            self._refuse_text(schema, features)
            self.features = features
        return self.features

    def _pick(self, schema: pyarrow.Schema, named: bool) -> list[str]:
        left_out = {*self.carried, *self.exclude, REASON, TEXT}
        features = self.chosen or [name for name in schema.names if name not in left_out]
        if self.expected is not None and named and self.chosen is None:
            self._check_expected(schema)
            self._warn_of_unknown(features)
            return self.expected
        if self.expected is not None and named and set(features) != set(self.expected):
            raise StreamError(
                f"The model has learnt the columns {listed(self.expected)}, but {listed(features)} "
                "were chosen; choose the same, or leave --columns out."
            )
        if self.expected is not None and named:
            return self.expected
        width = self.width if self.expected is None else len(self.expected)
        if width is not None and len(features) != width:
            raise StreamError(
                f"The model has learnt {counted(width, 'column')}, but "
                f"{counted(len(features), 'comes', 'come')} ({listed(features)}); "
                "choose as many with --columns or --exclude."
            )
        if not features:
            raise StreamError("No column is left to learn; choose some with --columns.")
        return features

    def _warn_of_unknown(self, features: Sequence[str]) -> None:
        known = set(self.expected or ())
        unknown = [name for name in features if name not in known]
        if unknown:
            are = "it is" if len(unknown) == 1 else "they are"
            self.warn(f"The model has not learnt {listed(unknown)}, so {are} left out.")

    def _check_present(self, schema: pyarrow.Schema, names: Sequence[str]) -> None:
        present = set(schema.names)
        absent = [name for name in names if name not in present]
        if absent:
            raise StreamError(
                f"There is no column {absent[0]!r}; there are {listed(schema.names)}; "
                f"{_delimiter_hint(schema) or 'check the name'}."
            )

    def _check_expected(self, schema: pyarrow.Schema) -> None:
        present = set(schema.names)
        absent = [name for name in self.expected or [] if name not in present]
        if absent:
            raise StreamError(
                f"The model has learnt the column {absent[0]!r}, which is missing; there are "
                f"{listed(schema.names)}; "
                f"{_delimiter_hint(schema) or 'give the columns the names that they had'}."
            )

    def _refuse_duplicates(self, schema: pyarrow.Schema, names: Sequence[str]) -> None:
        n_times = Counter(schema.names)
        for name in names:
            if n_times[name] > 1:
                raise StreamError(
                    f"{counted(n_times[name], 'column')} are called {name!r}; give each a name of its own, "
                    f"or leave them out with --exclude {name}."
                )

    def _refuse_text(self, schema: pyarrow.Schema, features: Sequence[str]) -> None:
        types = dict(zip(schema.names, schema.types, strict=True))
        split = _delimiter_hint(schema)
        empty = import_pyarrow().null()  # all rows had too many columns
        refused = [
            name for name in features if not is_number(types[name]) or (split and types[name] == empty)
        ]
        if not refused:
            return
        held = "no numbers" if types[refused[0]] == empty else types[refused[0]]
        what, them = f"Column {refused[0]!r} holds {held}", "it"
        if len(refused) > 1:
            what, them = f"Columns {listed(refused)} hold no numbers", "them"
        hint = split or (
            f"leave {them} out with --exclude {shlex.quote(','.join(refused))}, name {them} with --label, "
            f"--id, --time or --key, or encode {them} as numbers first"
        )
        raise StreamError(f"{what}, but distances need numbers; {hint}.")

    def take(self, table: pyarrow.Table, named: bool = True) -> Rows:
        """The complete rows of a table, and why the others are rejected."""
        rejects = marked_rejects(table)
        if self.features is None and set(table.column_names) <= {"", REASON, TEXT}:  # no row has a value
            return Rows(
                np.empty((0, 0)),
                np.empty(0, np.int64),
                None if self.id is None else [],
                None if self.label is None else [],
                None if self.time is None else np.empty(0),
                None if self.key is None else [],
                rejects,
            )
        features = self.choose(table.schema, named)
        X = _matrix(table, features)
        kept, rejects = self._complete(X, rejects)
        times = self._times(table)
        if times is not None:
            kept, rejects = self._with_time(table, times, kept, rejects)
        keys = _keys(table, self.key)
        if keys is not None:
            kept, rejects = self._with_key(keys, kept, rejects)
        if len(kept) < len(X):
            X, table = X[kept], table.take(kept)
        times = None if times is None else times[kept]
        keys = None if keys is None else [keys[row] for row in kept.tolist()]
        return Rows(X, kept, _values(table, self.id), _values(table, self.label), times, keys, rejects)

    def _times(self, table: pyarrow.Table) -> np.ndarray | None:
        if self.time is None:
            return None
        present = self.time in table.column_names
        if not present:
            return np.full(table.num_rows, np.nan)
        return times_of(table.column(self.time), self.time_format)

    def _with_time(
        self, table: pyarrow.Table, times: np.ndarray, kept: np.ndarray, rejects: dict[int, Reject]
    ) -> tuple[np.ndarray, dict[int, Reject]]:
        """The rows that have a time; the others are rejected, too."""
        reason = f"no time in column {self.time!r}"
        for row in kept[np.isnan(times[kept])].tolist():
            present = self.time in table.column_names
            value = table.column(self.time)[row].as_py() if present else None
            is_missing = value is None or value == ""
            rejects[row] = Reject(reason, "" if is_missing else str(value), is_missing)
        return kept[~np.isnan(times[kept])], rejects

    def _with_key(
        self, keys: list[str], kept: np.ndarray, rejects: dict[int, Reject]
    ) -> tuple[np.ndarray, dict[int, Reject]]:
        """The rows that have a key; the others are rejected, too."""
        reject = Reject(f"no key in column {self.key!r}", is_missing=True)
        without = {row: reject for row in kept.tolist() if not keys[row]}
        return np.array([row for row in kept.tolist() if keys[row]], np.int64), {**rejects, **without}

    def _complete(self, X: np.ndarray, marked: dict[int, Reject]) -> tuple[np.ndarray, dict[int, Reject]]:
        """Indices of rows that can be learnt, and the others with their reasons."""
        if not len(X) or (np.max(X) <= LARGEST and np.min(X) >= -LARGEST):  # neither holds for NaN
            complete, rejects = np.ones(len(X), bool), {}
        else:
            complete = np.isfinite(X).all(axis=1)
            rejects = self._missing(X, np.flatnonzero(~complete))
            large = complete & (np.abs(X) > LARGEST).any(axis=1)
            rejects |= self._too_large(X, np.flatnonzero(large))
            complete &= ~large
        complete[list(marked)] = False
        return np.flatnonzero(complete), rejects | marked

    def _missing(self, X: np.ndarray, rows: np.ndarray) -> dict[int, Reject]:
        where = np.argmin(np.isfinite(X[rows]), axis=1) if len(rows) else rows
        assert self.features is not None
        known = {
            k: Reject(f"no finite value in column {self.features[k]!r}", is_missing=True) for k in set(where)
        }
        return {row: known[k] for row, k in zip(rows.tolist(), where.tolist(), strict=True)}

    def _too_large(self, X: np.ndarray, rows: np.ndarray) -> dict[int, Reject]:
        assert self.features is not None
        found = {}
        for row in rows.tolist():
            k = int(np.argmax(np.abs(X[row])))
            found[row] = Reject(
                f"a magnitude over {LARGEST:g} in column {self.features[k]!r}", f"{X[row, k]:.6g}"
            )
        return found


def is_number(type_: Any) -> bool:
    """Whether distances can be computed from a type; a column of nulls may still turn out numeric."""
    types = import_pyarrow().types
    return bool(
        types.is_integer(type_)
        or types.is_floating(type_)
        or types.is_decimal(type_)
        or types.is_boolean(type_)
        or types.is_null(type_)
    )


def _delimiter_hint(schema: pyarrow.Schema) -> str:
    """What to do if the only column seems to be all columns of a CSV file with another delimiter."""
    names = [name for name in schema.names if name not in (REASON, TEXT)]
    found = [character for character in DELIMITERS if len(names) == 1 and character in names[0]]
    if not found:
        return ""
    option = "tab" if found[0] == "\t" else f"'{found[0]}'"
    return f"if these are several columns, say what is between them with --delimiter {option}"


def _matrix(table: pyarrow.Table, features: Sequence[str]) -> np.ndarray:
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


def _values(table: pyarrow.Table, name: str | None) -> list[Any] | None:
    if name is None:
        return None
    return table.column(name).to_pylist() if name in table.column_names else [None] * table.num_rows


def _keys(table: pyarrow.Table, name: str | None) -> list[str] | None:
    """Keys as text, so that they are the same whatever the format; empty where there is none."""
    values = _values(table, name)
    return None if values is None else ["" if value is None else str(value) for value in values]


def listed(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    shown = ", ".join(repr(name) for name in list(names)[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
