"""A file to append to, which can be cut back to a checkpoint."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import BinaryIO

from ...text import counted
from ..batch import StreamError, UnwritableError
from ..write_file import HINT


class AppendFile:
    """Appends bytes; `mark` syncs them to the disk and returns their number; `rewind` cuts off all others.

    Standard output and devices cannot be rewound.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def append(self, data: bytes) -> None:
        """Append bytes."""
        try:
            self._opened().write(data)
            if self.path == "-":
                self._opened().flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._unwritable(error) from None

    def mark(self) -> int | None:
        """Sync the file to the disk and return its length."""
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
        """Cut the file back to a marked length; None is 0."""
        if self.path == "-":
            return
        if length is not None and (not os.path.exists(self.path) or os.path.getsize(self.path) < length):
            raise StreamError(
                f"{self.path} is shorter than the {counted(length, 'byte')} of the checkpoint; restore the "
                "old file, or choose another checkpoint folder."
            )
        try:
            if self._is_regular():
                file = self._opened()
                file.truncate(length or 0)
                file.seek(0, os.SEEK_END)
        except OSError as error:
            raise self._unwritable(error) from None

    def close(self) -> None:
        """Sync the file to the disk and close it."""
        if self._file is not None:
            self.mark()
            if self.path != "-":
                self._file.close()
            self._file = None

    def abort(self) -> None:
        """Close the file after an error; the last bytes may be lost."""
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
