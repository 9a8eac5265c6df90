"""Which columns of a table are learnt, and which are passed through."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from ..text import counted
from .batch import StreamError, import_pyarrow
from .complete_rows import Rows, complete_rows, keys_of, matrix_of, values_of, with_key, with_time
from .reject import REASON, TEXT, marked_rejects
from .times import check_time_format, times_of

if TYPE_CHECKING:
    import pyarrow

SHOWN = 8  # names in a message
DELIMITERS = ";|\t"  # of CSV files, besides the comma


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
        if twice := [name for name, n in Counter(self.chosen or ()).items() if n > 1]:
            raise StreamError(f"Column {twice[0]!r} is named twice; a column can be learnt once only.")
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
            self._refuse_learnt_and_carried()
            self._check_present(schema)
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
        if self.chosen is None and "" in features:
            raise _unnamed(schema.names.index("") + 1)
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

    def _options(self) -> list[tuple[str, str]]:
        """(option, name) of all columns that the user has named."""
        carried = {"--id": self.id, "--label": self.label, "--time": self.time, "--key": self.key}
        return [
            *((option, name) for option, name in carried.items() if name is not None),
            *(("--exclude", name) for name in sorted(self.exclude)),
            *(("--columns", name) for name in self.chosen or []),
        ]

    def _refuse_learnt_and_carried(self) -> None:
        for option, name in self._options():
            if name in self.carried and name in (self.chosen or []):
                raise StreamError(
                    f"Column {name!r} is in --columns and also {option}, which is never learnt; leave it out "
                    "of one of them."
                )

    def _check_present(self, schema: pyarrow.Schema) -> None:
        present = set(schema.names)
        for option, name in self._options():
            if name not in present:
                raise StreamError(
                    f"There is no column {name!r} for {option}; there are {listed(schema.names)}; "
                    f"{_delimiter_hint(schema) or _spelling_hint(name, schema.names)}."
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
                leave_out = "" if name in self.carried else f", or leave them out with --exclude {name}"
                raise StreamError(
                    f"{counted(n_times[name], 'column')} are called {name!r}; give each a name of its own"
                    f"{leave_out}."
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
        X = matrix_of(table, features)
        kept, rejects = complete_rows(X, features, rejects)
        times = self._times(table)
        if self.time is not None and times is not None:
            kept, rejects = with_time(table, self.time, times, kept, rejects)
        keys = keys_of(table, self.key)
        if self.key is not None and keys is not None:
            kept, rejects = with_key(keys, self.key, kept, rejects)
        if len(kept) < len(X):
            X, table = X[kept], table.take(kept)
        times = None if times is None else times[kept]
        keys = None if keys is None else [keys[row] for row in kept.tolist()]
        return Rows(X, kept, values_of(table, self.id), values_of(table, self.label), times, keys, rejects)

    def _times(self, table: pyarrow.Table) -> np.ndarray | None:
        if self.time is None:
            return None
        present = self.time in table.column_names
        if not present:
            return np.full(table.num_rows, np.nan)
        return times_of(table.column(self.time), self.time_format)


def _unnamed(number: int) -> StreamError:
    """The error for a column without a name, which is hardly meant to be learnt."""
    if number == 1:
        what, instead = ", as pandas writes its index", "write the file with index=False"
    else:
        what, instead = "", "give it a name"
    return StreamError(f"Column {number} has no name{what}; leave it out with --exclude '', or {instead}.")


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


def _spelling_hint(name: str, present: Sequence[str]) -> str:
    """What to do about a name that no column has."""
    similar = get_close_matches(name, present, n=1)
    return f"perhaps you mean {similar[0]!r}" if similar else "check the name"


def listed(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    shown = ", ".join(repr(name) for name in list(names)[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
