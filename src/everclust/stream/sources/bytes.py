"""Bytes of text sources: files, compressed or not, and standard input."""

from __future__ import annotations

import os
import select
from pathlib import Path
from typing import Any, Protocol

from ..batch import import_pyarrow

PIECE = 2**22  # bytes read at a time; pieces of 2**20 take a tenth longer to parse
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


class Bytes(Protocol):
    """A readable stream of bytes."""

    def skip(self, n_bytes: int) -> bool:
        """Skip this many bytes from the start; False if there are fewer."""

    def read(self) -> bytes:
        """The next bytes; none at the end."""

    def close(self) -> None:
        """Close it."""


class FileBytes:
    """A file on the disk, compressed or not."""

    def __init__(self, path: Path) -> None:
        self.path, self._plain = path, path.suffix not in COMPRESSED
        self._file = import_pyarrow().input_stream(str(path)) if not self._plain else path.open("rb")
        self.inode = (os.fstat(self._file.fileno()) if self._plain else path.stat()).st_ino
        self._first = b""  # bytes of a compressed file

    def skip(self, n_bytes: int) -> bool:
        """Seek in a plain file; read a compressed one up to there."""
        if not self._plain:
            return _skip_by_reading(self, n_bytes)
        if self.size() < n_bytes:
            return False
        self._file.seek(n_bytes)
        return True

    def size(self) -> int:
        """Bytes of the open file, whatever its name is now."""
        return os.fstat(self._file.fileno()).st_size

    def left(self) -> int | None:
        """Bytes that were not read yet; None if the file is compressed or closed."""
        if not self._plain or self._file.closed:
            return None
        try:
            return max(self.size() - self._file.tell(), 0)
        except ValueError:  # the reading thread has just closed it
            return None

    def is_at_least(self, n_bytes: int) -> bool:
        """Whether a plain file has so many bytes; of a compressed one, this is found out by reading."""
        return not self._plain or self.size() >= n_bytes

    def head(self, n_bytes: int) -> bytes:
        """The first bytes as they are now; of a compressed file, at most as many as a piece has."""
        if self._plain and hasattr(os, "pread"):
            return os.pread(self._file.fileno(), n_bytes, 0)
        if self._plain:  # Windows, where an open file keeps its name
            with self.path.open("rb") as file:
                return file.read(n_bytes)
        return (self._first or self.read())[:n_bytes]

    def read(self, n_bytes: int = PIECE) -> bytes:
        """The next piece."""
        piece: bytes = self._file.read(n_bytes)
        if not self._plain and not self._first:
            self._first = piece[:PIECE]
        return piece

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class StandardInput:
    """Standard input, read as it arrives."""

    def skip(self, n_bytes: int) -> bool:
        """Read up to there: a pipe cannot seek, so a restart must feed it from the beginning."""
        return _skip_by_reading(self, n_bytes)

    def read(self, n_bytes: int = PIECE) -> bytes:
        """All bytes that have arrived, up to PIECE; waits for the first one."""
        pieces = [os.read(0, n_bytes)]  # sys.stdin has a lock, which this thread would hold at exit
        size = len(pieces[0])
        while pieces[-1] and size < n_bytes and _has_more():
            pieces.append(os.read(0, n_bytes - size))
            size += len(pieces[-1])
        return b"".join(pieces)

    def close(self) -> None:
        """Standard input stays open."""


def _has_more() -> bool:
    """Whether more bytes of standard input have arrived."""
    try:
        return bool(select.select([0], [], [], 0)[0])
    except OSError:  # Windows can tell of sockets only
        return False


def _skip_by_reading(stream: Any, n_bytes: int) -> bool:
    while n_bytes > 0:
        piece = stream.read(min(n_bytes, PIECE))
        if not piece:
            return False
        n_bytes -= len(piece)
    return True
