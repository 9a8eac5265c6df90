"""Sinks of predictions: standard output, CSV, JSON Lines or Parquet; files can be rewound."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..batch import StreamError, import_pyarrow
from ..write_file import write_file
from .append_file import AppendFile
from .rotating_file import RotatingFile, Rotation


class RowSink(Protocol):
    """Receives rows of predictions."""

    name: str

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Write rows."""

    def mark(self) -> Any:
        """Sync to the disk and return the position."""

    def rewind(self, mark: Any) -> None:
        """Remove everything written after a mark; None is the start."""

    def finish(self) -> None:
        """Close after the last row."""

    def abort(self) -> None:
        """Close after an error."""


def open_sink(
    path: str, heads: Sequence[str], format: str | None = None, rotation: Rotation | None = None
) -> RowSink:
    """A sink for rows with these column names; `-` is standard output, the suffix names the format."""
    kind = format or ("csv" if path == "-" else Path(path).suffix.lower().removeprefix("."))
    if kind in ("jsonl", "ndjson"):
        return TextSink(path, JsonRows(heads), rotation)
    if kind in ("csv", ""):
        return TextSink(path, CsvRows(heads), rotation)
    if kind == "parquet" and rotation is not None:
        raise StreamError(
            f"--rotate does not go with {path}, because Parquet is written at the end; use .csv."
        )
    if kind == "parquet" and path != "-":
        return ParquetSink(Path(path), heads)
    raise StreamError(
        f"Predictions cannot be written to {path} as {kind!r}; choose csv, jsonl or, in a file, parquet."
    )


class CsvRows:
    """Rows as lines of CSV."""

    def __init__(self, heads: Sequence[str]) -> None:
        self.heads = heads

    def header(self) -> str:
        """The header line."""
        return self.text([self.heads])

    def text(self, rows: Iterable[Sequence[Any]]) -> str:
        """The lines of some rows."""
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows(rows)
        return lines.getvalue()


class JsonRows:
    """Rows as JSON objects, one on each line."""

    def __init__(self, heads: Sequence[str]) -> None:
        self.heads = heads

    def header(self) -> str:
        """JSON Lines have no header."""
        return ""

    def text(self, rows: Iterable[Sequence[Any]]) -> str:
        """The lines of some rows."""
        return "".join(
            json.dumps(dict(zip(self.heads, row, strict=True)), default=str) + "\n" for row in rows
        )


class TextSink:
    """Lines of text in a file or on standard output."""

    def __init__(self, path: str, rows: CsvRows | JsonRows, rotation: Rotation | None = None) -> None:
        self.name, self.rows = path, rows
        self.file: AppendFile | RotatingFile = AppendFile(path)
        if rotation is not None and path != "-":
            self.file = RotatingFile(path, rotation, rows.header().encode())

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Write rows."""
        self.file.append(self.rows.text(rows).encode())

    def mark(self) -> Any:
        """Sync to the disk and return the number of bytes."""
        return self.file.mark()

    def rewind(self, mark: Any) -> None:
        """Remove everything written after a mark."""
        if self.file.rewind(mark):
            self.file.append(self.rows.header().encode())

    def finish(self) -> None:
        """Close after the last row."""
        self.file.close()

    def abort(self) -> None:
        """Close after an error."""
        self.file.abort()


class ParquetSink:
    """A Parquet file. Parquet cannot be appended to: rows are collected as CSV and converted at the end."""

    def __init__(self, path: Path, heads: Sequence[str]) -> None:
        self.path, self.name = path, str(path)
        self.spool = path.with_name(path.name + ".part")
        self.collected = TextSink(str(self.spool), CsvRows(heads))
        self.heads = heads

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Write rows."""
        self.collected.write(rows)

    def mark(self) -> Any:
        """Sync to the disk and return the number of bytes."""
        return self.collected.mark()

    def rewind(self, mark: Any) -> None:
        """Remove everything written after a mark; a finished Parquet file is converted back to CSV."""
        if mark is not None and not self.spool.exists() and self.path.exists():
            self._restore_spool()
        self.collected.rewind(mark)

    def _restore_spool(self) -> None:
        parquet = import_pyarrow("parquet")
        again = TextSink(str(self.spool), CsvRows(self.heads))
        again.rewind(None)
        with parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches():
                again.write(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        again.finish()

    def abort(self) -> None:
        """Close after an error."""
        self.collected.abort()

    def finish(self) -> None:
        """Write the Parquet file from the collected rows."""
        self.collected.finish()
        arrow, csv, parquet = import_pyarrow(), import_pyarrow("csv"), import_pyarrow("parquet")
        kinds = {"cluster": arrow.int64(), "row": arrow.int64(), "similarity": arrow.float64()}
        types = {head: kinds.get(head, arrow.string()) for head in self.heads}
        out = arrow.BufferOutputStream()
        with (
            csv.open_csv(self.spool, convert_options=csv.ConvertOptions(column_types=types)) as reader,
            parquet.ParquetWriter(out, reader.schema) as writer,
        ):
            for batch in reader:
                writer.write_batch(batch)
        write_file(self.path, out.getvalue(), f"its rows are kept in {self.spool}")
        os.unlink(self.spool)
