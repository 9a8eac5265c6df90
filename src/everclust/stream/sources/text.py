"""CSV, TSV and JSON Lines, read in pieces of whole lines; a file that grows can be followed."""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..batch import Batch, Position, StreamError, import_pyarrow
from ..columns import Columns
from ..dialect import USUAL, UTF8, Dialect
from .bytes import COMPRESSED, Bytes, FileBytes
from .parsers import CsvParser, JsonParser, broken_line
from .quotes import Cut
from .rotation import HEAD, identity, was_replaced
from .tables import too_short

if TYPE_CHECKING:
    import pyarrow

PAUSE = 0.2  # seconds between two attempts to read a file that may have grown


class TextReader:
    """Rows of one text. A position is the byte at which a piece begins and a number of rows from there."""

    def __init__(
        self,
        origin: Bytes,
        name: str,
        kind: str,
        columns: Columns,
        *,
        header: bool | None = None,
        follow: bool = False,
        names: list[str] | None = None,
        dialect: Dialect = USUAL,
    ) -> None:
        self.names = names  # columns of the file before a rotation; its successor may come without a header
        self.truncated_at: Position = None  # where reading ended because the followed file was truncated
        self.origin, self.name, self.kind = origin, name, kind
        self.columns, self.follow, self.encoding = columns, follow, dialect.encoding
        self.parser = (
            JsonParser(columns) if kind == "jsonl" else CsvParser(columns, kind, header, name, dialect)
        )
        self._decoder = codecs.getincrementaldecoder(dialect.encoding or UTF8)("replace")
        self._n_read = 0  # bytes of the text in its own encoding

    def batches(self, position: Position) -> Iterator[Batch]:
        """All rows after a position, or from the start."""
        try:
            yield from self._batches(position)
        finally:
            self.origin.close()

    def _batches(self, position: Position) -> Iterator[Batch]:
        begin, skip = (position["byte"], position["rows"]) if position else (0, 0)
        n_before = self._start(begin, position)
        for start, text, is_broken in self._pieces(n_before):
            table = broken_line(text) if is_broken else self._parse(text)
            skipped = min(skip, table.num_rows)
            skip -= skipped
            yield _batch(table.slice(skipped), skipped, self._position(start, start + len(text)))
        if skip:
            raise too_short(self.name)

    def _position(self, start: int, end: int) -> dict[str, Any]:
        """The position at the start of a piece, with what identifies its file and how to read it."""
        position: dict[str, Any] = {"byte": start, "rows": 0}
        if isinstance(self.origin, FileBytes):
            position |= self._identity(end)
        if self.encoding is not None:  # "byte" counts those of UTF-8, "read" those of the file
            position["read"] = self._n_read
        return position if self.own_header else {**position, "names": self.names}

    def _identity(self, n_read: int) -> dict[str, Any]:
        if self._known is None or self._known["head"][0] < min(HEAD, n_read):
            assert isinstance(self.origin, FileBytes)
            self._known = identity(self.origin, n_read)
        return self._known

    _known: dict[str, Any] | None = None
    own_header = True  # False if the names of the columns are those of the file before it

    def _start(self, begin: int, position: Position) -> int:
        """Read the header, skip to the byte at which reading begins, and return that byte."""
        header = self._header(position) if self.parser.has_header else b""
        if begin > len(header):
            n_read = len(header) + len(self._rest)
            if begin < n_read:
                self._rest = self._rest[begin - len(header) :]
            else:
                self._rest = b""
                if not self._seek(begin, n_read):
                    raise too_short(self.name)
        return max(begin, len(header))

    def _header(self, position: Position) -> bytes:
        """Read the header; a file that was begun by a rotation may have none."""
        assert isinstance(self.parser, CsvParser)
        if position and "names" in position:
            self.parser.names = self.names = position["names"]
            self.own_header = False
            return b""
        line = self._first_line()
        if not line:
            return b""
        if self.names and not self.parser.is_header(line, self.names):
            self.parser.names, self.own_header = self.names, False
            self._rest = line + self._rest
            return b""
        self.parser.read_header(line)
        self.names = self.parser.names
        return line

    def _seek(self, byte: int, n_read: int) -> bool:
        if self.encoding is not None:
            return self._skip(byte - n_read)
        if isinstance(self.origin, FileBytes) and self.origin.path.suffix not in COMPRESSED:
            return self.origin.skip(byte)
        return self.origin.skip(byte - n_read)

    def _skip(self, n_bytes: int) -> bool:
        """Skip bytes of converted text by reading them; False if there are fewer."""
        while n_bytes > 0:
            piece = self._read()
            if not piece:
                return False
            self._rest = piece[n_bytes:]
            n_bytes -= len(piece)
        return True

    def _read(self) -> bytes:
        """The next bytes of the text in UTF-8; none at the end."""
        while piece := self.origin.read():
            self._n_read += len(piece)
            if self.encoding is None:
                return piece
            if text := self._decoder.decode(piece):
                return text.encode(UTF8, "replace")
        return b""

    def _first_line(self) -> bytes:
        """The line of the header; an empty text has none, and no rows either."""
        assert isinstance(self.parser, CsvParser)
        text, end = b"", 0
        while not end:
            piece = self._read()
            if not piece and not self.follow:
                break
            if not piece:
                time.sleep(PAUSE)
            text += piece
            end = self.parser.quotes.first_end(text)
        end = end or len(text)
        line, self._rest = text[:end], text[end:]
        if line and not line.strip():
            raise StreamError(f"{self.name} has no header in its first line; add one, or use --no-header.")
        return line

    _rest = b""

    def _pieces(self, start: int) -> Iterator[tuple[int, bytes, bool]]:
        """(byte at which it begins, whole records, whether it is a line whose quote is not closed); no
        records while a followed file does not grow.
        """
        rest, self._rest = self._rest, b""
        at_end = False
        while True:
            cut = self._cut(rest, at_end)
            if cut.end:
                yield start, rest[: cut.end], False
                start, rest = start + cut.end, rest[cut.end :]
            if cut.is_broken:
                line = rest.partition(b"\n")[0] + b"\n"
                yield start, rest[: len(line)], True
                start, rest = start + len(line), rest[len(line) :]
                continue
            if at_end:
                break
            piece = self._read()
            if self.follow and self._was_truncated(start + len(rest)):
                # What was read identifies the file, not what is in it now.
                self.truncated_at = self._position(start, 0)
                return
            if end := self._plain_end(rest, piece):
                text = b"".join((rest, memoryview(piece)[:end]))  # copied once
                yield start, text, False
                start, rest = start + len(text), piece[end:]
                continue
            rest += piece
            at_end = not piece and not self.follow
            if not piece and self.follow:
                if self._was_replaced():
                    rest += self._drained()
                    at_end = True
                    continue
                time.sleep(PAUSE)
                yield start, b"", False
        if rest.strip():
            yield start, rest, False

    def _plain_end(self, rest: bytes, piece: bytes) -> int:
        """The end of the last whole record in a piece, where no quotes have to be looked at; or 0."""
        if self.parser.quotes is not None and (b'"' in piece or b'"' in rest):
            return 0
        return piece.rfind(b"\n") + 1

    def _cut(self, text: bytes, at_end: bool) -> Cut:
        if self.parser.quotes is None:
            return Cut(text.rfind(b"\n") + 1)
        return self.parser.quotes.cut(text, at_end=at_end)

    def _was_truncated(self, n_read: int) -> bool:
        """Whether the followed file is shorter than what was read of it, or begins differently now."""
        origin = self.origin
        if not isinstance(origin, FileBytes) or origin.path.suffix in COMPRESSED:
            return False
        n_read = n_read if self.encoding is None else self._n_read
        if origin.size() < n_read or self._known is None:
            return origin.size() < n_read
        return identity(origin, self._known["head"][0]) != self._known

    def _was_replaced(self) -> bool:
        return isinstance(self.origin, FileBytes) and was_replaced(self.origin.path, self.origin)

    def _drained(self) -> bytes:
        """What was still written to a file before its successor was begun."""
        pieces = []
        while piece := self._read():
            pieces.append(piece)
        return b"".join(pieces)

    def _parse(self, text: bytes) -> pyarrow.Table:
        arrow = import_pyarrow()
        try:
            return self.parser.parse(text)
        except arrow.ArrowInvalid as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise StreamError(f"{self.name} cannot be read as {self.kind}: {reason}.") from None


def _batch(table: pyarrow.Table, skipped: int, position: dict[str, Any]) -> Batch:
    return Batch(table, lambda n_rows: {**position, "rows": skipped + n_rows})
