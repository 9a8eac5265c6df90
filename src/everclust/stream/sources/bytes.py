"""Bytes of text sources: files, compressed or not, and standard input."""

from __future__ import annotations

import os
import select
from pathlib import Path
from typing import Any, Protocol

from ..batch import import_pyarrow

PIECE = 2**20  # bytes read at a time
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

    def skip(self, n_bytes: int) -> bool:
        """Seek in a plain file; read a compressed one up to there."""
        if not self._plain:
            return _skip_by_reading(self, n_bytes)
        if self.path.stat().st_size < n_bytes:
            return False
        self._file.seek(n_bytes)
        return True

    def read(self, n_bytes: int = PIECE) -> bytes:
        """The next piece."""
        return self._file.read(n_bytes)

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
        while pieces[-1] and size < n_bytes and select.select([0], [], [], 0)[0]:
            pieces.append(os.read(0, n_bytes - size))
            size += len(pieces[-1])
        return b"".join(pieces)

    def close(self) -> None:
        """Standard input stays open."""


def _skip_by_reading(stream: Any, n_bytes: int) -> bool:
    while n_bytes > 0:
        piece = stream.read(min(n_bytes, PIECE))
        if not piece:
            return False
        n_bytes -= len(piece)
    return True
