"""Where a run spends its time, and when it last read, learnt and saved; metrics read it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from .blocks import Block

PHASES = ("reading", "learning", "predicting", "writing")


class Timing:
    """Seconds of a run by phase, and the clock time of what happened last.

    Attributes
    ----------
    seconds : dict of str to float
        With several jobs, "reading" is the time that learning waits for rows.
    answered_at, row_at, saved_at : float, optional
        Seconds since 1970 at which the source last answered, with rows or without, last had rows, and the
        model was last saved.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.answered_at: float | None = None
        self.row_at: float | None = None
        self.saved_at: float | None = None

    @contextmanager
    def spent(self, phase: str) -> Iterator[None]:
        """Count the time inside as that of a phase."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] += time.perf_counter() - start

    def reading(self, blocks: Iterator[Block | None]) -> Iterator[Block | None]:
        """The same blocks; the time until each comes is that of reading."""
        end = object()
        while True:
            with self.spent("reading"):
                block = next(blocks, end)
            if block is end:
                return
            self.answered_at = time.time()
            if block is not None:
                self.row_at = self.answered_at
            yield block  # type: ignore[misc]
