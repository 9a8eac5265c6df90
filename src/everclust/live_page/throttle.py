"""Throttles a stream: full speed, a number of rows per second, step by step, or paused."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from ..stream.batch import Batch, Position, Source
from ..stream.wrapped import WrappedSource

POLL_SECONDS = 0.1  # longest wait without an empty batch, at which a run checks whether to stop
SLICE_SECONDS = 0.025  # of learning between two moments at which the model can be captured
MIN_ROWS, MAX_ROWS = 16, 8_192  # of such a slice
SLICES_PER_SECOND = 30  # at a given speed, at most


class Throttle:
    """Decides how many rows may pass from a source to a model; safe to call from any thread."""

    def __init__(self, rows_per_second: float | None = None, begin: threading.Event | None = None) -> None:
        self.rows_per_second = rows_per_second
        self.paused = False
        self._begin = begin
        self._steps = 0
        self._changed = threading.Condition()
        self._slice = 256
        self._last = time.monotonic()
        self._credit = 0.0  # rows that may pass at the given speed (token bucket)

    @property
    def waiting(self) -> bool:
        """True until the `begin` event is set."""
        return self._begin is not None and not self._begin.is_set()

    def pause(self, paused: bool) -> None:
        """Pause or continue the stream."""
        with self._changed:
            self.paused, self._steps = paused, 0
            self._last, self._credit = time.monotonic(), 0.0
            self._changed.notify_all()

    def step(self, rows: int) -> None:
        """Let that many rows pass, then pause."""
        with self._changed:
            self.paused = True
            self._steps += rows
            self._changed.notify_all()

    def set_speed(self, rows_per_second: float | None) -> None:
        """Limit the rows per second; None is full speed."""
        with self._changed:
            self.rows_per_second = rows_per_second
            self._last, self._credit = time.monotonic(), 0.0
            self._changed.notify_all()

    def allowance(self, n_left: int) -> int:
        """Number of rows that may pass now; 0 after a wait of POLL_SECONDS in which none may."""
        if self._begin is not None and not self._begin.wait(POLL_SECONDS):
            return 0
        with self._changed:
            if self.paused:
                n = self._steps_left()
            elif self.rows_per_second is None:
                n = self._full_speed()
            else:
                n = self._at_speed(self.rows_per_second, n_left)
            if self.paused:  # another thread may have paused it during a wait
                n = min(n, self._steps)
                self._steps -= min(n, n_left)
            return min(n, n_left)

    def _steps_left(self) -> int:
        self._changed.wait_for(lambda: self._steps > 0 or not self.paused, POLL_SECONDS)
        self._last = time.monotonic()
        return min(self._steps, MAX_ROWS) if self.paused else 0

    def _full_speed(self) -> int:
        """Rows that are learnt in SLICE_SECONDS, estimated from the time that the last slice took."""
        now = time.monotonic()
        took, self._last = now - self._last, now
        factor = min(max(SLICE_SECONDS / max(took, 1e-6), 0.5), 2.0)
        self._slice = int(min(max(self._slice * factor, MIN_ROWS), MAX_ROWS))
        return self._slice

    def _at_speed(self, speed: float, n_left: int) -> int:
        if self._credit < 1:
            least = max(1 / SLICES_PER_SECOND, (1 - self._credit) / speed)
            self._changed.wait(max(0.0, min(self._last + least - time.monotonic(), POLL_SECONDS)))
        now = time.monotonic()
        max_credit = max(speed * 2 * POLL_SECONDS, 1.0)  # a slow learner does not catch up later
        self._credit = min(self._credit + (now - self._last) * speed, max_credit)
        self._last = now
        n = min(int(self._credit), n_left, MAX_ROWS)
        self._credit -= n
        return n


class ThrottledSource(WrappedSource):
    """A source whose rows pass a throttle."""

    def __init__(self, source: Source, throttle: Throttle) -> None:
        super().__init__(source)
        self._throttle = throttle

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """All rows after a position, in batches as large as the throttle allows."""
        for batch in self._source.batches(position):
            self.wants_checkpoint = self._source.wants_checkpoint
            if batch.table.num_rows == 0:
                yield batch
            start = 0
            while start < batch.table.num_rows:
                n = self._throttle.allowance(batch.table.num_rows - start)
                yield _part(batch, start, n)
                start += n


def _part(batch: Batch, start: int, n_rows: int) -> Batch:
    def position_after(n: int) -> Any:
        return batch.position_after(start + n)

    return Batch(batch.table.slice(start, n_rows), position_after)
