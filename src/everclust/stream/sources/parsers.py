"""Parsers of whole lines of CSV, TSV or JSON; rows that cannot be read are marked as rejected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..batch import StreamError, arrow_copy, import_pyarrow
from ..columns import Columns, is_number, listed
from ..dialect import USUAL, Dialect
from ..reject import REASON, TEXT, Reject, mark_rejected, marked_rejects, with_empty_rows
from .messages import table_of
from .numerals import as_text, is_mostly, numbers_in
from .quotes import Quotes

if TYPE_CHECKING:
    import pyarrow

DELIMITERS = {"csv": ",", "tsv": "\t"}


class CsvParser:
    """Parser of CSV and TSV. The first piece decides the types; columns that are passed through stay text."""

    def __init__(
        self, columns: Columns, kind: str, header: bool | None, file: str, dialect: Dialect = USUAL
    ) -> None:
        delimiter = DELIMITERS[kind] if dialect.delimiter is None else dialect.delimiter
        self.file, self.decimal = file, dialect.decimal or "."
        self.csv, self.columns, self.has_header = import_pyarrow("csv"), columns, header is not False
        self.is_explicit = header is not None
        self.quotes = Quotes(delimiter)
        self.parsing = self.csv.ParseOptions(delimiter=delimiter, invalid_row_handler=self._skip_invalid)
        self.names: list[str] = []
        self.types: dict[str, Any] | None = None
        self.invalid: dict[int, Reject] = {}  # rows of the last text with another number of columns

    def _skip_invalid(self, row: Any) -> str:
        columns = f"{row.actual_columns} instead of {row.expected_columns} columns"
        self.invalid[row.number - 1] = Reject(columns, row.text)
        return "skip"

    def read_header(self, line: bytes) -> None:
        """Read the names of the columns."""
        if self.has_header:
            if b"\r" in line.rstrip(b"\r\n"):
                self._refuse_carriage_returns(line)
            self.names = self._names_in(line)
            if not self.is_explicit and not self.columns.mentions(self.names):
                self._refuse_numbers()

    def is_header(self, line: bytes, names: list[str]) -> bool:
        """Whether a first line names the columns to read, after a file with columns of these names."""
        wanted = {*self.columns.carried, *(self.columns.features or self.columns.expected or names)}
        return wanted <= set(self._names_in(line))

    def _names_in(self, line: bytes) -> list[str]:
        """The names in a first line, whose end may be the end of the file."""
        ended = line if line.endswith(b"\n") else line + b"\n"
        header = self.csv.read_csv(arrow_copy(ended), parse_options=self.parsing)
        return [name.removeprefix("\ufeff") for name in header.column_names]

    def _refuse_carriage_returns(self, line: bytes) -> None:
        """A carriage return outside of quotes ends a line only together with a newline."""
        unquoted = b"".join(line.rstrip(b"\r\n").split(b'"')[::2])
        if b"\r" in unquoted:
            raise StreamError(
                f"The first line of {self.file} has carriage returns (\\r) in it, but lines end with \\n or "
                "\\r\\n; convert the file, for example with tr '\\r' '\\n'."
            )

    def _refuse_numbers(self) -> None:
        """A first line of numbers is probably data, which would be lost as a header."""
        if all(_is_numeral(name.replace(self.decimal, ".")) for name in self.names):
            raise StreamError(
                f"The first line holds numbers only ({listed(self.names)}); use --no-header if they are "
                "data, or --header if they are names."
            )

    def parse(self, text: bytes) -> pyarrow.Table:
        """Parse whole lines into a table, in which every record is a row, also those that are rejected."""
        arrow = import_pyarrow()
        if _is_blank(text):
            return arrow.table({})
        if not self.names:
            self.names = [f"x{k}" for k in range(self._n_columns(text))]
        if self.types is None:
            self._choose(text)
        rejects: dict[int, Reject] = {}
        try:
            table = self._read(text, self.types, list(self.types or {}))
        except arrow.ArrowInvalid:
            table, rejects = self._repaired(text)
        if self.invalid:
            table, rejects = _with_invalid(table, rejects, self.invalid)
        return mark_rejected(table, rejects)

    def _n_columns(self, text: bytes) -> int:
        first = arrow_copy(text.lstrip().partition(b"\n")[0] + b"\n")
        numbered = self.csv.ReadOptions(autogenerate_column_names=True)
        return int(self.csv.read_csv(first, numbered, self.parsing).num_columns)

    def _choose(self, text: bytes) -> None:
        arrow = import_pyarrow()
        if self.names[-1] == "" and self._n_columns(text) == len(self.names) - 1:
            self.names.pop()  # the header ends with a delimiter, the rows do not
        table = self._read(text, {name: arrow.string() for name in self.columns.carried})
        schema = self._without_unnamed(self._numeric_schema(table))
        features = self.columns.choose(schema, self.has_header)
        self._check_later_file(features)
        kinds = dict(zip(schema.names, schema.types, strict=True))
        self.types = {name: arrow.string() for name in self.columns.carried}
        for name in features:
            self.types[name] = kinds[name] if arrow.types.is_boolean(kinds[name]) else arrow.float64()

    def _numeric_schema(self, table: pyarrow.Table) -> pyarrow.Schema:
        """The types of the columns, where text among numbers makes no text of a column."""
        arrow = import_pyarrow()
        known = set(self.columns.features or self.columns.expected or ())
        left_out = {*self.columns.carried, *self.columns.exclude}
        fields = []
        for field, column in zip(table.schema, table.columns, strict=True):
            if not is_number(field.type) and field.name not in left_out:
                texts = as_text(column)
                self._refuse_commas(field.name, texts)
                if is_mostly("boolean", texts):
                    field = field.with_type(arrow.bool_())
                elif field.name in known or is_mostly("number", texts, self.decimal):
                    field = field.with_type(arrow.float64())
            fields.append(field)
        return arrow.schema(fields)

    def _refuse_commas(self, name: str, texts: pyarrow.ChunkedArray) -> None:
        """Raise an error if a column to learn holds numbers with commas for points."""
        wanted = self.columns.features or self.columns.chosen or self.columns.expected or [name]
        if self.decimal == "," or self.parsing.delimiter == "," or name not in wanted:
            return
        if is_mostly("number", texts, ",") and not is_mostly("number", texts):
            example = next(text for text in texts.to_pylist() if text and "," in text)
            raise StreamError(
                f"Column {name!r} holds numbers with commas, such as {example!r}; if these are decimal "
                "commas, say so with --decimal ,; otherwise write the numbers without them."
            )

    def _without_unnamed(self, schema: pyarrow.Schema) -> pyarrow.Schema:
        """Leave out columns without a name and without values: delimiters at the ends of lines."""
        types = import_pyarrow().types
        if self.columns.mentions([""]):
            return schema
        kept = [field for field in schema if field.name or not types.is_null(field.type)]
        if len(kept) < len(schema):
            self.columns.warn(f"{self.file} has a column without name and values, which is left out.")
        return import_pyarrow().schema(kept)

    def _check_later_file(self, features: list[str]) -> None:
        """The columns were chosen in the first file, so a later one may lack some."""
        present = set(self.names)
        for name in [*self.columns.carried, *features]:
            if name not in present:
                raise StreamError(
                    f"{self.file} has no column {name!r}; there are {listed(self.names)}; "
                    "give its columns the names that they have in the other files."
                )

    def _read(self, text: bytes, types: Any, include: list[str] | None = None) -> pyarrow.Table:
        self.invalid = {}
        reading = self.csv.ReadOptions(column_names=self.names, block_size=len(text) + 1, use_threads=False)
        converting = self.csv.ConvertOptions(
            column_types=types, include_columns=include or None, decimal_point=self.decimal
        )
        return self.csv.read_csv(arrow_copy(text), reading, self.parsing, converting)

    def _repaired(self, text: bytes) -> tuple[pyarrow.Table, dict[int, Reject]]:
        """Read columns as bytes, and reject the rows with values that are no numbers."""
        arrow, types = import_pyarrow(), self.types or {}
        table = self._read(text, {name: arrow.binary() for name in types}, list(types))
        rejects: dict[int, Reject] = {}
        columns = {}
        for name, kind in types.items():
            texts = as_text(table.column(name))
            if name in self.columns.carried:
                columns[name] = texts
                continue
            columns[name], wrong = numbers_in(texts, arrow.types.is_boolean(kind), self.decimal)
            for row in wrong:
                rejects.setdefault(row, Reject(f"no number in column {name!r}", texts[row].as_py()))
        return arrow.table(columns), rejects


def broken_line(line: bytes) -> pyarrow.Table:
    """One row, rejected, for a line whose quote is not closed."""
    arrow, text = import_pyarrow(), line.decode(errors="replace").rstrip()
    return mark_rejected(arrow.table({"": arrow.nulls(1)}), {0: Reject("a quote that is not closed", text)})


def _with_invalid(
    table: pyarrow.Table, rejects: dict[int, Reject], invalid: dict[int, Reject]
) -> tuple[pyarrow.Table, dict[int, Reject]]:
    """Put the rows that the reader has skipped where they were."""
    whole = with_empty_rows(table, list(invalid))
    places = [k for k in range(whole.num_rows) if k not in invalid] if rejects else []
    return whole, {places[row]: reject for row, reject in rejects.items()} | invalid


class JsonParser:
    """Parser of JSON Lines; absent fields are missing values."""

    has_header, quotes = False, None

    def __init__(self, columns: Columns) -> None:
        self.json, self.columns = import_pyarrow("json"), columns
        self.schema: pyarrow.Schema | None = None

    def read_header(self, line: bytes) -> None:
        """JSON Lines have no header."""

    def parse(self, text: bytes) -> pyarrow.Table:
        """Parse whole lines into a table, in which every object is a row, also those that are rejected."""
        arrow = import_pyarrow()
        if _is_blank(text):
            return arrow.table({})
        try:
            if self.schema is None:
                self._choose(self._read(text, self.json.ParseOptions()).schema)
            return self._read(
                text, self.json.ParseOptions(explicit_schema=self.schema, unexpected_field_behavior="ignore")
            )
        except arrow.ArrowInvalid:
            return self._line_by_line(text)

    def _choose(self, schema: pyarrow.Schema) -> None:
        arrow = import_pyarrow()
        if self.columns.resumed:  # the first lines after a restart may lack a field
            absent = set(self.columns.expected or ()).difference(schema.names)
            schema = arrow.schema([*schema, *((name, arrow.float64()) for name in sorted(absent))])
        features = self.columns.choose(schema)
        kinds = dict(zip(schema.names, schema.types, strict=True))
        self.schema = arrow.schema(
            [(name, arrow.float64() if _becomes_float(kinds.get(name)) else kinds[name]) for name in features]
            + [(name, kinds.get(name, arrow.string())) for name in self.columns.carried]
        )

    def _line_by_line(self, text: bytes) -> pyarrow.Table:
        """Read the objects one by one, so that those that are broken can be told from the others."""
        rows: list[dict[str, Any]] = []
        broken: dict[int, Reject] = {}
        for line in text.splitlines():
            for value in _objects(line):
                if not isinstance(value, dict):
                    broken[len(rows)] = Reject("no JSON object", line.decode(errors="replace"))
                rows.append(value if isinstance(value, dict) else {})
        table = table_of(rows, self.columns)
        return _with_texts(table, broken)

    def _read(self, text: bytes, parsing: Any) -> pyarrow.Table:
        reading = self.json.ReadOptions(block_size=len(text) + 1, use_threads=False)
        return self.json.read_json(arrow_copy(text), reading, parsing)


def _objects(line: bytes) -> Iterator[Any]:
    """The values in a line; None for what is left of it when it is broken."""
    text, start = line.decode(errors="replace").strip(), 0
    decoder = json.JSONDecoder()
    while start < len(text):
        try:
            value, start = decoder.raw_decode(text, start)
        except ValueError:
            yield None
            return
        yield value
        while text[start : start + 1].isspace():
            start += 1


def _with_texts(table: pyarrow.Table, broken: dict[int, Reject]) -> pyarrow.Table:
    """The same table, in which broken lines are shown as they came."""
    rejects = marked_rejects(table) | broken
    names = [name for name in table.column_names if name not in (REASON, TEXT)]
    return mark_rejected(table.select(names), rejects)


def _becomes_float(kind: Any) -> bool:
    return kind is None or (is_number(kind) and not import_pyarrow().types.is_boolean(kind))


def _is_blank(text: bytes) -> bool:
    return not text or text.isspace()


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
