"""A series of numbered files to append to; a new one begins by size or by time."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

from ..batch import StreamError, UnwritableError
from ..start_note import StartNote
from ..write_file import HINT
from .append_file import AppendFile
from .queued import mark_of

SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
TIMES = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Rotation(NamedTuple):
    """When a file is complete, and the next one begins.

    If files can be cut back to a checkpoint, this is decided when a checkpoint is written: then a file that
    has a successor never changes again.
    """

    size: float | None  # bytes
    seconds: float | None
    start: Path | None = None  # where a run notes its first file until a checkpoint holds it


def rotation_of(text: str) -> Rotation:
    """Parse `100MB`, `1d`, or both as `100MB,1d`."""
    found: dict[str, float] = {}
    for word in (part.strip() for part in text.split(",")):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", word)
        number, unit = (float(match[1]), match[2]) if match else (0.0, "")
        kind, units = ("size", SIZES) if unit in SIZES else ("seconds", TIMES)
        if unit not in units or not number or kind in found:
            raise StreamError(
                f"--rotate is {text!r}, but it takes a size ({', '.join(SIZES)}), a time "
                f"({', '.join(TIMES)}) or both, such as 100MB, 1d or 100MB,1d."
            )
        found[kind] = number * units[unit]
    return Rotation(found.get("size"), found.get("seconds"))


class RotatingFile:
    """Appends bytes to `name-000001.csv`, `name-000002.csv` and so on; files of earlier runs stay.

    A file is created when something is written to it, so that the one before is complete when it is there.

    Parameters
    ----------
    path : str
        Name of the files, without number.
    rotation : Rotation
    header : bytes
        Written at the start of every file.
    """

    def __init__(self, path: str, rotation: Rotation, header: bytes = b"") -> None:
        self.path, self.rotation, self.header = path, rotation, header
        self.number, self.since = 1, 0.0
        self._file = AppendFile(self._name(1))
        start = rotation.start
        self._is_cut_back = start is not None  # to a checkpoint
        self._note = StartNote(None if start is None else start.with_name(f"{start.name}-{mark_of(path)}"))

    def append(self, data: bytes) -> None:
        """Append bytes, with a header before the first ones of a file."""
        if not self._is_cut_back:
            self._rotate_if_due()
        if not self.length():
            self._file.append(self.header)
            self.since = time.time()
        self._file.append(data)

    def mark(self) -> dict[str, Any]:
        """Sync to the disk, and return where the next bytes go."""
        self._note.mark()
        place = self._file.mark() if self.length() else None
        if self._rotate_if_due():
            place = None
        return {"number": self.number, "since": self.since, "place": place}

    def rewind(self, mark: dict[str, Any] | int | None) -> bool:
        """Cut the series back to a mark, or begin behind all files that are there.

        It returns False: the files get their headers here.
        """
        numbers = self._numbers()
        if not isinstance(mark, dict) or "number" not in mark:
            if mark is not None:  # the run had not rotated its file before
                before = AppendFile(self.path)
                before.rewind(mark)
                before.close()
            self._begin(self._first_number(numbers))
            return False
        self._note.forget()
        self._begin(mark["number"])
        self.since = mark["since"]
        for number in numbers:
            if number > mark["number"] or (number == mark["number"] and mark["place"] is None):
                self._remove(number)
        if mark["place"] is not None:
            self._file.rewind(mark["place"])
        return False

    def close(self) -> None:
        """Sync the file to the disk and close it."""
        if self.length():
            self._file.close()
        self._note.forget()

    def abort(self) -> None:
        """Close the file after an error; the last bytes may be lost."""
        self._file.abort()

    def length(self) -> int:
        """Bytes in the present file."""
        return self._file.length()

    def _rotate_if_due(self) -> bool:
        size, seconds = self.rotation.size, self.rotation.seconds
        length = self.length()
        is_due = length > 0 and (
            (size is not None and length >= size)
            or (seconds is not None and time.time() - self.since >= seconds)
        )
        if is_due:
            self._file.close()
            self._begin(self.number + 1)
        return is_due

    def _first_number(self, numbers: list[int]) -> int:
        """Number of a new run's first file, behind all others.

        Before its first checkpoint a run writes one file only. If it was killed there, that file is removed.
        """
        killed = self._note.read()
        if killed in numbers:
            self._remove(killed)
            numbers = [number for number in numbers if number != killed]
        first = max(numbers, default=0) + 1
        self._note.write(first)
        return first

    def _begin(self, number: int) -> None:
        self.number, self._file = number, AppendFile(self._name(number))

    def _name(self, number: int) -> str:
        path = Path(self.path)
        return str(path.with_name(f"{path.stem}-{number:06d}{path.suffix}"))

    def _numbers(self) -> list[int]:
        path = Path(self.path)
        form = re.compile(re.escape(f"{path.stem}-") + r"(\d{6,})" + re.escape(path.suffix))
        try:
            names = os.listdir(path.parent)
        except FileNotFoundError:
            return []
        return [int(match[1]) for name in names if (match := form.fullmatch(name))]

    def _remove(self, number: int) -> None:
        try:
            os.unlink(self._name(number))
        except OSError as error:
            raise UnwritableError(
                f"{self._name(number)} cannot be removed: {error.strerror}; {HINT}."
            ) from None
