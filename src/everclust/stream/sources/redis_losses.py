"""Reports of entries of a Redis stream that were deleted before they could be read."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...text import counted

REPORT_SECONDS = 60.0  # between two reports of lost entries


class Losses:
    """Counts entries that were deleted before they could be read, and reports them, once a minute at most."""

    def __init__(self, url: str, warn: Callable[[str], None]) -> None:
        self.url, self.warn = url, warn
        self.n_lost, self.due = 0, 0.0

    def add(self, n_lost: int) -> None:
        """Count lost entries."""
        self.n_lost += n_lost
        if time.monotonic() >= self.due:
            self.report()

    def report(self) -> None:
        """Report what was lost since the last report, if anything was."""
        if self.n_lost:
            self.warn(
                f"{counted(self.n_lost, 'entry', 'entries')} of {self.url} were deleted before they could be "
                "read (XTRIM, MAXLEN), so the model lacks them; let the stream keep more."
            )
            self.n_lost, self.due = 0, time.monotonic() + REPORT_SECONDS
