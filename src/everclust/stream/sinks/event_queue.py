"""A queue of events in a file: what was added and not yet sent survives a crash."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ..write_file import unwritable, write_file

MIN_SENT = 2**20  # bytes, from which on the part of the file that was sent is cut off


class EventQueue:
    """Events as JSON Lines, appended at the end and taken from the front; safe to use from two threads.

    The file is emptied when everything is sent, and its front is cut off when that is half of it, so that the
    rest is not written again too often. After a crash, no more than such a front is sent again. A queue that
    is empty when it is closed has no file.

    Parameters
    ----------
    path : Path
        The file. Events of an earlier run that it holds are the first ones.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self._sent = 0  # bytes at the front
        self._n_left = 0  # events behind them, known while the file is open
        self._closed = False

    def append(self, events: Sequence[dict[str, Any]]) -> None:
        """Add events at the end."""
        with self._lock:
            try:
                file = self._opened()
                file.seek(0, os.SEEK_END)
                file.write("".join(json.dumps(event) + "\n" for event in events).encode())
                file.flush()
                self._n_left += len(events)
            except OSError as error:
                raise unwritable(self.path, error) from None

    def first(self, n_events: int) -> list[dict[str, Any]]:
        """Up to `n_events` events from the front, which stay in the queue."""
        with self._lock:
            return [json.loads(line) for line in self._lines(n_events)]

    def drop(self, n_events: int) -> None:
        """Remove events from the front: they were sent."""
        with self._lock:
            if self._closed:  # a request that was answered after the end: its events are sent again
                return
            self._sent += sum(map(len, self._lines(n_events)))
            self._n_left -= n_events
            if not self._n_left:
                self._opened().truncate(0)
                self._sent = 0
            elif self._sent >= max(MIN_SENT, self._length() // 2):
                self._cut()

    def drop_after(self, sample: int, number: int) -> None:
        """Remove events after one of them: a run that resumes there adds them again."""
        with self._lock:
            lines = self._lines()
            kept = [line for line in lines if sort_key_of(json.loads(line)) <= (sample, number)]
            if len(kept) < len(lines):
                self._rewrite(b"".join(kept))

    def sync(self) -> None:
        """Sync the file to the disk."""
        with self._lock:
            if self._file is not None:
                os.fsync(self._file.fileno())

    def __len__(self) -> int:
        with self._lock:
            if self._file is None and self.path.exists():
                self._opened()
            return self._n_left

    def close(self) -> None:
        """Keep what was not sent, or delete the file if that is nothing."""
        n_left = len(self)
        with self._lock:
            if n_left:
                self._cut()
            if self._file is not None:
                self._file.close()
            self._file, self._closed = None, True
            if not n_left:
                self.path.unlink(missing_ok=True)

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._file = open(self.path, "a+b")  # noqa: SIM115
            self._end_line(self._file)
            self._n_left = len(self._lines())
        return self._file

    def _end_line(self, file: BinaryIO) -> None:
        """Cut off a last line that is incomplete: its run was killed in the midst of writing it."""
        file.seek(0)
        whole = sum(len(line) for line in file if line.endswith(b"\n"))
        file.truncate(whole)

    def _lines(self, most: int | None = None) -> list[bytes]:
        if self._file is None and not self.path.exists():
            return []
        file = self._opened()
        file.seek(self._sent)
        return list(islice(file, most))

    def _length(self) -> int:
        return os.fstat(self._opened().fileno()).st_size

    def _cut(self) -> None:
        if self._sent:
            self._rewrite(b"".join(self._lines()))

    def _rewrite(self, data: bytes) -> None:
        if self._file is not None:
            self._file.close()  # Windows replaces no file that is open
        self._file = None
        write_file(self.path, data)
        self._sent = 0


def sort_key_of(event: dict[str, Any]) -> tuple[int, int]:
    """What identifies an event, and grows from event to event: its sample, among those of all models, and
    its number.
    """
    return event.get("total", event["sample"]), event["number"]
