"""A file to append to, which can be cut back to a checkpoint."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from ...text import counted
from ..batch import StreamError, UnwritableError
from ..write_file import unwritable


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

    def mark(self) -> dict[str, int] | None:
        """Sync the file to the disk and return its length and its inode, which renaming keeps."""
        try:
            file = self._opened()
            file.flush()
            if not self._is_regular():
                return None
            os.fsync(file.fileno())
            return {"length": file.tell(), "inode": os.fstat(file.fileno()).st_ino}
        except OSError as error:
            raise self._unwritable(error) from None

    def rewind(self, mark: dict[str, Any] | int | None) -> bool:
        """Cut the file back to a mark, where None is its start; returns whether the file begins anew.

        If it was renamed since, that file is cut back, and a new one is begun.
        """
        if self.path == "-":
            return mark is None
        if isinstance(mark, dict) and "number" in mark:
            raise StreamError(f"{self.path} was rotated before the checkpoint; go on with --rotate.")
        length, inode = (mark["length"], mark["inode"]) if isinstance(mark, dict) else (mark, None)
        is_whole = os.path.exists(self.path) and os.path.getsize(self.path) >= (length or 0)
        if length is None or is_whole:
            self._cut(length or 0)
            return length is None
        if not self._cut_renamed(length, inode):
            raise StreamError(
                f"{self.path} is shorter than the {counted(length, 'byte')} of the checkpoint; restore the "
                "old file, or choose another checkpoint folder."
            )
        self._cut(0)
        return True

    def _cut(self, length: int) -> None:
        try:
            if self._is_regular():
                file = self._opened()
                file.truncate(length)
                file.seek(0, os.SEEK_END)
        except OSError as error:
            raise self._unwritable(error) from None

    def _cut_renamed(self, length: int, inode: int | None) -> bool:
        """Cut the file of a mark back under its new name in the same folder; False if it is not there."""
        try:
            with os.scandir(os.path.dirname(os.path.realpath(self.path))) as entries:
                for entry in entries:
                    if entry.inode() == inode and entry.is_file() and entry.stat().st_size >= length:
                        os.truncate(entry.path, length)
                        return True
        except OSError as error:
            raise self._unwritable(error) from None
        return False

    def length(self) -> int:
        """Bytes in the file, with those that are not written yet; 0 if there is none."""
        if self._file is not None:
            return self._file.tell()
        return os.path.getsize(self.path) if os.path.exists(self.path) else 0

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
        return unwritable("standard output" if self.path == "-" else self.path, error)
