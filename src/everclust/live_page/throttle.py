"""How fast a stream is let through: at full speed, so many rows a second, one step at a time, not at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from ..stream.batch import Batch, Position, Source

BLINK = 0.1  # seconds after which whoever waits is asked whether to stop
SLICE_SECONDS = 0.025  # of learning between two moments at which a picture can be taken
FEWEST, MOST = 16, 8_192  # rows in such a slice
SLICES_PER_SECOND = 30  # at a given speed, at most


class Pace:
    """The valve between a source and a model; any thread may turn it."""

    def __init__(self, rows_per_second: float | None = None, begin: threading.Event | None = None) -> None:
        self.rows_per_second = rows_per_second
        self.paused = False
        self._begin = begin
        self._steps = 0
        self._turned = threading.Condition()
        self._slice = 256
        self._last = time.monotonic()
        self._owed = 0.0

    @property
    def waiting(self) -> bool:
        """Has it not begun?"""
        return self._begin is not None and not self._begin.is_set()

    def pause(self, paused: bool) -> None:
        """Stop the stream, or let it go on."""
        with self._turned:
            self.paused, self._steps = paused, 0
            self._last, self._owed = time.monotonic(), 0.0
            self._turned.notify_all()

    def step(self, rows: int) -> None:
        """Let so many rows through, and pause."""
        with self._turned:
            self.paused = True
            self._steps += rows
            self._turned.notify_all()

    def set_speed(self, rows_per_second: float | None) -> None:
        """Let so many rows through a second, or as many as can be learnt."""
        with self._turned:
            self.rows_per_second = rows_per_second
            self._last, self._owed = time.monotonic(), 0.0
            self._turned.notify_all()

    def allowance(self, n_left: int) -> int:
        """How many rows may pass now; 0 after a moment in which none may."""
        if self._begin is not None and not self._begin.wait(BLINK):
            return 0
        with self._turned:
            if self.paused:
                n = self._stepped()
            elif self.rows_per_second is None:
                n = self._full_speed()
            else:
                n = self._measured(self.rows_per_second, n_left)
            if self.paused:  # it may have changed in between
                n = min(n, self._steps)
                self._steps -= min(n, n_left)
            return min(n, n_left)

    def _stepped(self) -> int:
        self._turned.wait_for(lambda: self._steps > 0 or not self.paused, BLINK)
        self._last = time.monotonic()
        return min(self._steps, MOST) if self.paused else 0

    def _full_speed(self) -> int:
        """As many as are learnt in a moment, going by the time the last ones took."""
        now = time.monotonic()
        took, self._last = now - self._last, now
        factor = min(max(SLICE_SECONDS / max(took, 1e-6), 0.5), 2.0)
        self._slice = int(min(max(self._slice * factor, FEWEST), MOST))
        return self._slice

    def _measured(self, speed: float, n_left: int) -> int:
        if self._owed < 1:
            least = max(1 / SLICES_PER_SECOND, (1 - self._owed) / speed)
            self._turned.wait(max(0.0, min(self._last + least - time.monotonic(), BLINK)))
        now = time.monotonic()
        most = max(speed * 2 * BLINK, 1.0)  # nobody catches up for ever
        self._owed = min(self._owed + (now - self._last) * speed, most)
        self._last = now
        n = min(int(self._owed), n_left, MOST)
        self._owed -= n
        return n


class PacedSource:
    """A source behind a valve."""

    def __init__(self, source: Source, pace: Pace) -> None:
        self._source, self._pace = source, pace
        self.named, self.endless = source.named, source.endless
        self.wants_checkpoint = source.wants_checkpoint

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """All rows behind a position, as many at a time as may pass."""
        for batch in self._source.batches(position):
            self.wants_checkpoint = self._source.wants_checkpoint
            if batch.table.num_rows == 0:
                yield batch
            start = 0
            while start < batch.table.num_rows:
                n = self._pace.allowance(batch.table.num_rows - start)
                yield _part(batch, start, n)
                start += n

    def acknowledge(self, position: Position) -> None:
        """Everything up to here is kept."""
        self._source.acknowledge(position)
        self.wants_checkpoint = self._source.wants_checkpoint

    def fraction(self, position: Position) -> float | None:
        """How much of it lies before a position."""
        return self._source.fraction(position)

    def close(self) -> None:
        """Let go of files and connections."""
        self._source.close()


def _part(batch: Batch, start: int, n_rows: int) -> Batch:
    def position_after(n: int) -> Any:
        return batch.position_after(start + n)

    return Batch(batch.table.slice(start, n_rows), position_after)
