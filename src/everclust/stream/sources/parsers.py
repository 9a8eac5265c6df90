"""Parsers of whole lines of CSV, TSV or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..batch import StreamError, import_pyarrow
from ..columns import Columns, is_number, listed

if TYPE_CHECKING:
    import pyarrow

DELIMITERS = {"csv": ",", "tsv": "\t"}


class CsvParser:
    """Parser of CSV and TSV. The first piece decides the types; columns that are passed through stay text."""

    def __init__(self, columns: Columns, delimiter: str, header: bool | None, file: str) -> None:
        self.file = file
        self.csv, self.columns, self.has_header = import_pyarrow("csv"), columns, header is not False
        self.is_explicit = header is not None
        self.parsing = self.csv.ParseOptions(delimiter=delimiter)
        self.names: list[str] = []
        self.types: dict[str, Any] | None = None

    def read_header(self, line: bytes) -> None:
        """Read the names of the columns."""
        if self.has_header:
            header = self.csv.read_csv(import_pyarrow().py_buffer(line), parse_options=self.parsing)
            self.names = [name.removeprefix("\ufeff") for name in header.column_names]
            if not self.is_explicit and not self.columns.mentions(self.names):
                self._refuse_numbers()

    def _refuse_numbers(self) -> None:
        """A first line of numbers is probably data, which would be lost as a header."""
        if all(_is_numeral(name) for name in self.names):
            raise StreamError(
                f"The first line holds numbers only ({listed(self.names)}); use --no-header if they are "
                "data, or --header if they are names."
            )

    def parse(self, text: bytes) -> pyarrow.Table:
        """Parse whole lines into a table."""
        arrow = import_pyarrow()
        if not text.strip():
            return arrow.table({})
        if not self.names:
            first = arrow.py_buffer(text.lstrip().partition(b"\n")[0] + b"\n")
            numbered = self.csv.ReadOptions(autogenerate_column_names=True)
            n_columns = self.csv.read_csv(first, numbered, self.parsing).num_columns
            self.names = [f"x{k}" for k in range(n_columns)]
        if self.types is None:
            self._choose(self._read(text, {name: arrow.string() for name in self.columns.carried}).schema)
        return self._read(text, self.types, list(self.types or {}))

    def _choose(self, schema: pyarrow.Schema) -> None:
        arrow = import_pyarrow()
        features = self.columns.choose(schema, self.has_header)
        self._check_later_file(features)
        self.types = {name: arrow.string() for name in self.columns.carried}
        for name in features:
            kind = schema.field(name).type
            self.types[name] = kind if arrow.types.is_boolean(kind) else arrow.float64()

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
        reading = self.csv.ReadOptions(column_names=self.names, block_size=len(text) + 1, use_threads=False)
        converting = self.csv.ConvertOptions(column_types=types, include_columns=include or None)
        buffer = import_pyarrow().py_buffer(text)
        return self.csv.read_csv(buffer, reading, self.parsing, converting)


class JsonParser:
    """Parser of JSON Lines; absent fields are missing values."""

    has_header = False

    def __init__(self, columns: Columns) -> None:
        self.json, self.columns = import_pyarrow("json"), columns
        self.schema: pyarrow.Schema | None = None

    def read_header(self, line: bytes) -> None:
        """JSON Lines have no header."""

    def parse(self, text: bytes) -> pyarrow.Table:
        """Parse whole lines into a table."""
        arrow = import_pyarrow()
        if not text.strip():
            return arrow.table({})
        if self.schema is None:
            schema = self._read(text, self.json.ParseOptions()).schema
            features = self.columns.choose(schema)
            kinds = {name: schema.field(name).type for name in features}
            self.schema = arrow.schema(
                [(name, arrow.float64() if _becomes_float(kind) else kind) for name, kind in kinds.items()]
                + [schema.field(name) for name in self.columns.carried]
            )
        return self._read(
            text, self.json.ParseOptions(explicit_schema=self.schema, unexpected_field_behavior="ignore")
        )

    def _read(self, text: bytes, parsing: Any) -> pyarrow.Table:
        reading = self.json.ReadOptions(block_size=len(text) + 1, use_threads=False)
        return self.json.read_json(import_pyarrow().py_buffer(text), reading, parsing)


def _becomes_float(kind: Any) -> bool:
    return is_number(kind) and not import_pyarrow().types.is_boolean(kind)


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
