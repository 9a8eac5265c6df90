"""What a run does with rejected rows: skip, count, report and keep them, or end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from ..text import counted
from .batch import StreamError
from .blocks import Block
from .reject import Reject
from .sinks.json_lines import JsonLinesFile

REPORT_SECONDS = 60.0  # at most between a rejected row and a report of it, while rows arrive
SHOWN = 5  # reasons in a report


class BadRows:
    """Rejected rows of a run, and what is done with them.

    Parameters
    ----------
    missing, on_bad_row : {"skip", "error"}
        What to do with rows in which values are missing, and with rows that cannot be read.
    max_rejects : int, optional
        The run ends when more rows are rejected.
    file : str, optional
        Where rejected rows are kept, as JSON Lines with their number, position and reason.
    """

    def __init__(
        self,
        *,
        missing: str = "skip",
        on_bad_row: str = "skip",
        max_rejects: int | None = None,
        file: str | None = None,
    ) -> None:
        self.missing, self.on_bad_row, self.max_rejects = missing, on_bad_row, max_rejects
        self.file = None if file is None else JsonLinesFile(file)
        self.reasons: Counter[str] = Counter()
        self.reported, self.reported_at = 0, time.monotonic()
        self.first: tuple[int, Reject] | None = None  # of this run
        self.is_restored = False  # whether rows were skipped before this run

    def refusal(self, block: Block, n_before: int) -> tuple[int, StreamError] | None:
        """The first row of a block that must not be skipped, and the error that names it."""
        n_rejected = self.reasons.total()
        for row, reject in sorted(block.rejects.items()):
            n_rejected += 1
            if (self.missing if reject.is_missing else self.on_bad_row) == "error":
                return row, _refused(n_before + row + 1, reject)
            if self.max_rejects is not None and n_rejected > self.max_rejects:
                return row, self._too_many(n_before + row + 1, reject)
        return None

    def _too_many(self, number: int, reject: Reject) -> StreamError:
        return StreamError(
            f"Row {number:,} of what was read has {described(reject)}, and --max-rejects "
            f"{self.max_rejects} rows were skipped before it; correct the rows, or allow more."
        )

    def take(self, block: Block, n_before: int) -> None:
        """Count the rejected rows of a block and keep them in the file."""
        for row, reject in sorted(block.rejects.items()):
            self.reasons[reject.reason] += 1
            if self.first is None:
                self.first = n_before + row + 1, reject
        if self.file is not None and block.rejects:
            self.file.write(_records(block, n_before))

    def report(self, warn: Callable[[str], None], *, at_end: bool = False) -> None:
        """Say how many rows were skipped: at the first, tenth, hundredth …, every minute, and at the end."""
        n_rejected = self.reasons.total()
        if n_rejected == self.reported:
            return
        is_due = time.monotonic() - self.reported_at >= REPORT_SECONDS
        has_grown = not self.reported or len(str(n_rejected)) > len(str(self.reported))
        if at_end or is_due or has_grown:
            warn(self.sentence())
            self.reported, self.reported_at = n_rejected, time.monotonic()

    def sentence(self) -> str:
        """How many rows were skipped, and why."""
        n_rejected = self.reasons.total()
        if n_rejected == 1 and self.first is not None:
            return f"Row {self.first[0]:,} was skipped: {described(self.first[1])}."
        first = "first since the restart, row" if self.is_restored else "first row"
        example = f" ({first} {self.first[0]:,}: {described(self.first[1])})" if self.first else ""
        return f"{counted(n_rejected, 'row')} were skipped so far: {self.summary()}{example}."

    def summary(self) -> str:
        """The most frequent reasons with their counts."""
        common = [f"{count:,} with {reason}" for reason, count in self.reasons.most_common(SHOWN)]
        others = self.reasons.total() - sum(count for _, count in self.reasons.most_common(SHOWN))
        return ", ".join(common) + (f", {others:,} for other reasons" if others else "")

    def restore(self, reasons: dict[str, int]) -> None:
        """Go on counting from a checkpoint."""
        self.reasons = Counter(reasons)
        self.reported = self.reasons.total()
        self.is_restored = self.reported > 0


def described(reject: Reject) -> str:
    """The reason of a rejected row and the row itself."""
    return f"{reject.reason}, {reject.text!r}" if reject.text else reject.reason


def _refused(number: int, reject: Reject) -> StreamError:
    option = "--missing" if reject.is_missing else "--on-bad-row"
    return StreamError(
        f"Row {number:,} of what was read has {described(reject)}; correct it, or skip such rows with "
        f"{option} skip."
    )


def _records(block: Block, n_before: int) -> list[dict[str, Any]]:
    """The rejected rows of a block, as they are kept."""
    return [
        {
            "row": n_before + row + 1,
            "position": block.position_after(row + 1),
            "reason": reject.reason,
            "text": reject.text,
        }
        for row, reject in sorted(block.rejects.items())
    ]
