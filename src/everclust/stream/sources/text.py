"""CSV, TSV and JSON Lines, in pieces of whole lines: files, growing files, standard input."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...text import quantity
from ..batch import Batch, StreamError, import_pyarrow
from ..columns import Columns
from .bytes import COMPRESSED, Bytes, FileBytes
from .parsers import DELIMITERS, JsonLines, Separated
from .tables import shorter

if TYPE_CHECKING:
    import pyarrow

PAUSE = 0.2  # seconds between two looks at a file that may have grown


class TextReader:
    """Rows of one text, each batch with the byte at which it begins and the rows taken from it.

    Lines end at line breaks, also within quotes: a value cannot hold one.
    """

    def __init__(
        self,
        origin: Bytes,
        name: str,
        kind: str,
        columns: Columns,
        *,
        header: bool | None = None,
        follow: bool = False,
    ) -> None:
        self.origin, self.name, self.kind = origin, name, kind
        self.columns, self.follow = columns, follow
        self.parser = JsonLines(columns) if kind == "jsonl" else Separated(columns, DELIMITERS[kind], header)

    def batches(self, position: dict[str, int] | None) -> Iterator[Batch]:
        """Rows behind the position: a byte at which a line begins, and a number of rows from there."""
        try:
            yield from self._batches(position)
        finally:
            self.origin.close()

    def _batches(self, position: dict[str, int] | None) -> Iterator[Batch]:
        begin, skip = (position["byte"], position["rows"]) if position else (0, 0)
        n_before = self._enter(begin)
        for start, text in self._pieces(n_before):
            table = self._parse(text)
            skipped = min(skip, table.num_rows)
            skip -= skipped
            yield _batch(table.slice(skipped), start, skipped)
        if skip:
            raise shorter(self.name)

    def _enter(self, begin: int) -> int:
        """Read the heading, go to the byte where it goes on, and return that byte."""
        heading = self._first_line() if self.parser.has_heading else b""
        self.parser.take_heading(heading)
        if begin > len(heading):
            n_read = len(heading) + len(self._rest)
            if begin < n_read:
                self._rest = self._rest[begin - len(heading) :]
            else:
                self._rest = b""
                if not self._go_to(begin, n_read):
                    raise shorter(self.name)
        return max(begin, len(heading))

    def _go_to(self, byte: int, n_read: int) -> bool:
        if isinstance(self.origin, FileBytes) and self.origin.path.suffix not in COMPRESSED:
            return self.origin.skip(byte)
        return self.origin.skip(byte - n_read)

    def _first_line(self) -> bytes:
        text = b""
        while b"\n" not in text:
            piece = self.origin.read()
            if not piece and not self.follow:
                break
            if not piece:
                time.sleep(PAUSE)
            text += piece
        line, newline, self._rest = text.partition(b"\n")
        if not line.strip():
            raise StreamError(
                f"{self.name} has no heading in its first line; give it one, or use --no-header."
            )
        return line + newline

    _rest = b""

    def _pieces(self, start: int) -> Iterator[tuple[int, bytes]]:
        """(byte at which it begins, whole lines); nothing at all while a growing file rests."""
        rest, self._rest = self._rest, b""
        while True:
            cut = rest.rfind(b"\n") + 1
            if cut:
                yield start, rest[:cut]
                start, rest = start + cut, rest[cut:]
            piece = self.origin.read()
            rest += piece
            if not piece and not self.follow:
                break
            if not piece:
                self._check_length(start + len(rest))
                time.sleep(PAUSE)
                yield start, b""
        if rest.strip():
            yield start, rest

    def _check_length(self, n_read: int) -> None:
        if isinstance(self.origin, FileBytes) and self.origin.path.stat().st_size < n_read:
            raise StreamError(
                f"{self.name} was cut short while it was read, to less than the {quantity(n_read, 'byte')} "
                "read so far; it may only grow."
            )

    def _parse(self, text: bytes) -> pyarrow.Table:
        arrow = import_pyarrow()
        try:
            return self.parser.parse(text)
        except arrow.ArrowInvalid as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise StreamError(f"{self.name} cannot be read as {self.kind}: {reason}.") from None


def _batch(table: pyarrow.Table, start: int, skipped: int) -> Batch:
    return Batch(table, lambda n_rows: {"byte": start, "rows": skipped + n_rows})
