"""A file that only grows, except when it goes back to a checkpoint."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import BinaryIO

from ...text import quantity
from ..batch import StreamError, UnwritableError
from ..write_file import HINT


class GrowingFile:
    """Bytes are appended; `mark` says how many are safely on the disk; `rewind` cuts off all others.

    Standard output and devices take what they are given and cannot go back.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def append(self, data: bytes) -> None:
        """Add some bytes."""
        try:
            self._opened().write(data)
            if self.path == "-":
                self._opened().flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._unwritable(error) from None

    def mark(self) -> int | None:
        """Put everything on the disk and return the length."""
        try:
            file = self._opened()
            file.flush()
            if not self._is_regular():
                return None
            os.fsync(file.fileno())
            return file.tell()
        except OSError as error:
            raise self._unwritable(error) from None

    def rewind(self, length: int | None) -> None:
        """Go back to a length that was marked; None is the beginning."""
        if self.path == "-":
            return
        if length is not None and (not os.path.exists(self.path) or os.path.getsize(self.path) < length):
            raise StreamError(
                f"{self.path} is shorter than the {quantity(length, 'byte')} of the checkpoint; bring the "
                "old file back, or choose another checkpoint folder."
            )
        try:
            if self._is_regular():
                file = self._opened()
                file.truncate(length or 0)
                file.seek(0, os.SEEK_END)
        except OSError as error:
            raise self._unwritable(error) from None

    def close(self) -> None:
        """Put everything on the disk and let go of the file."""
        if self._file is not None:
            self.mark()
            if self.path != "-":
                self._file.close()
            self._file = None

    def let_go(self) -> None:
        """Close it after something went wrong, whatever becomes of the last bytes."""
        if self._file is not None and self.path != "-":
            with suppress(OSError):
                self._file.close()
        self._file = None

    def _opened(self) -> BinaryIO:
        if self._file is None:
            try:
                self._file = sys.stdout.buffer if self.path == "-" else open(self.path, "ab")  # noqa: SIM115
            except OSError as error:
                raise self._unwritable(error) from None
        return self._file

    def _is_regular(self) -> bool:
        return self.path != "-" and stat.S_ISREG(os.fstat(self._opened().fileno()).st_mode)

    def _unwritable(self, error: OSError) -> UnwritableError:
        where = "standard output" if self.path == "-" else self.path
        return UnwritableError(f"{where} cannot be written: {error.strerror}; {HINT}.")
