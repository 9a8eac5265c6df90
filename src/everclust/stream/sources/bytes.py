"""Where the bytes of texts come from: files, compressed or not, and standard input."""

from __future__ import annotations

import os
import select
from pathlib import Path
from typing import Any, Protocol

from ..batch import import_pyarrow

PIECE = 2**20  # bytes read at a time
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


class Bytes(Protocol):
    """Where the bytes come from."""

    def skip(self, n_bytes: int) -> bool:
        """Go to this byte from the start; False if there are fewer."""

    def read(self) -> bytes:
        """Some more bytes; none at the end."""

    def close(self) -> None:
        """Let go of it."""


class FileBytes:
    """A file on the disk, compressed or not."""

    def __init__(self, path: Path) -> None:
        self.path, self._plain = path, path.suffix not in COMPRESSED
        self._file = import_pyarrow().input_stream(str(path)) if not self._plain else path.open("rb")

    def skip(self, n_bytes: int) -> bool:
        """Plain files are entered in the middle, compressed ones read up to there."""
        if not self._plain:
            return _read_over(self, n_bytes)
        if self.path.stat().st_size < n_bytes:
            return False
        self._file.seek(n_bytes)
        return True

    def read(self, n_bytes: int = PIECE) -> bytes:
        """The next piece."""
        return self._file.read(n_bytes)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class StandardInput:
    """A pipe: what is there is taken, nothing is waited for once there is something."""

    def skip(self, n_bytes: int) -> bool:
        """A pipe cannot be rewound: whoever starts again feeds it from the beginning."""
        return _read_over(self, n_bytes)

    def read(self, n_bytes: int = PIECE) -> bytes:
        """All that has arrived, up to a piece; waits for the first byte."""
        pieces = [os.read(0, n_bytes)]  # not sys.stdin: its lock would be held while the program ends
        size = len(pieces[0])
        while pieces[-1] and size < n_bytes and select.select([0], [], [], 0)[0]:
            pieces.append(os.read(0, n_bytes - size))
            size += len(pieces[-1])
        return b"".join(pieces)

    def close(self) -> None:
        """It is not ours to close."""


def _read_over(stream: Any, n_bytes: int) -> bool:
    while n_bytes > 0:
        piece = stream.read(min(n_bytes, PIECE))
        if not piece:
            return False
        n_bytes -= len(piece)
    return True
