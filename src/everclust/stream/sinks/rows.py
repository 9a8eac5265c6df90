"""Where answers go: standard output, CSV, JSON Lines or Parquet, each able to go back to a checkpoint."""

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
from .append_file import GrowingFile


class RowSink(Protocol):
    """Takes rows of answers."""

    name: str

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Take some more."""

    def mark(self) -> Any:
        """Put everything on the disk and return where it ends."""

    def rewind(self, mark: Any) -> None:
        """Forget all that came after a mark; None stands for the beginning."""

    def finish(self) -> None:
        """No more will come."""

    def let_go(self) -> None:
        """Something went wrong."""


def open_sink(path: str, heads: Sequence[str], format: str | None = None) -> RowSink:
    """A sink for rows with these heads, `-` being standard output; the format is told by the name."""
    kind = format or ("csv" if path == "-" else Path(path).suffix.lower().removeprefix("."))
    if kind in ("jsonl", "ndjson"):
        return TextSink(path, JsonRows(heads))
    if kind in ("csv", ""):
        return TextSink(path, CsvRows(heads))
    if kind == "parquet" and path != "-":
        return ParquetSink(Path(path), heads)
    raise StreamError(
        f"Answers cannot be written to {path} as {kind}; choose csv, jsonl or, in a file, parquet."
    )


class CsvRows:
    """Rows as lines of CSV."""

    def __init__(self, heads: Sequence[str]) -> None:
        self.heads = heads

    def heading(self) -> str:
        """The first line."""
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

    def heading(self) -> str:
        """There is none."""
        return ""

    def text(self, rows: Iterable[Sequence[Any]]) -> str:
        """The lines of some rows."""
        return "".join(
            json.dumps(dict(zip(self.heads, row, strict=True)), default=str) + "\n" for row in rows
        )


class TextSink:
    """Lines in a file, or on standard output, where nothing can be taken back."""

    def __init__(self, path: str, rows: CsvRows | JsonRows) -> None:
        self.name, self.rows = path, rows
        self.file = GrowingFile(path)

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Take some more."""
        self.file.append(self.rows.text(rows).encode())

    def mark(self) -> Any:
        """Put everything on the disk and return how many bytes there are."""
        return self.file.mark()

    def rewind(self, mark: Any) -> None:
        """Forget all that came after a mark."""
        self.file.rewind(mark)
        if mark is None:
            self.file.append(self.rows.heading().encode())

    def finish(self) -> None:
        """No more will come."""
        self.file.close()

    def let_go(self) -> None:
        """Something went wrong."""
        self.file.let_go()


class ParquetSink:
    """A Parquet file cannot grow: rows are collected as CSV beside it and turned into it at the end."""

    def __init__(self, path: Path, heads: Sequence[str]) -> None:
        self.path, self.name = path, str(path)
        self.spool = path.with_name(path.name + ".part")
        self.collected = TextSink(str(self.spool), CsvRows(heads))
        self.heads = heads

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Take some more."""
        self.collected.write(rows)

    def mark(self) -> Any:
        """Put everything on the disk and return how many bytes there are."""
        return self.collected.mark()

    def rewind(self, mark: Any) -> None:
        """Forget all that came after a mark; a finished file is taken apart again."""
        if mark is not None and not self.spool.exists() and self.path.exists():
            self._take_apart()
        self.collected.rewind(mark)

    def _take_apart(self) -> None:
        parquet = import_pyarrow("parquet")
        again = TextSink(str(self.spool), CsvRows(self.heads))
        again.rewind(None)
        with parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches():
                again.write(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        again.finish()

    def let_go(self) -> None:
        """Something went wrong."""
        self.collected.let_go()

    def finish(self) -> None:
        """Write the Parquet file from what was collected."""
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
