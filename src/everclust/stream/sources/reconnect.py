"""Servers that go away: they are waited for, but not for ever, and nothing is lost meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from ..batch import Batch, Position, UnreachableError, nothing

AWAY = 60.0  # seconds for which a server may be away
PAUSE = 0.2  # seconds between two looks whether it is back


class Absence:
    """How long a server has been away."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.since: float | None = None

    def lasts(self, reason: object) -> None:
        """It does not answer. If that has been so for too long, it is said."""
        now = time.monotonic()
        self.since = now if self.since is None else self.since
        if now - self.since > AWAY:
            raise UnreachableError(f"{self.url} does not answer any more: {str(reason).rstrip('.')}.")

    def is_over(self) -> None:
        """It answers."""
        self.since = None


def patiently(
    read: Callable[[Position], Iterator[Batch]],
    position: Position,
    absence: Absence,
    errors: tuple[type[Exception], ...],
) -> Iterator[Batch]:
    """All that is read behind a position; when the server was away, behind the last batch."""
    while True:
        try:
            for batch in read(position):
                absence.is_over()
                position = batch.position_after(batch.table.num_rows)
                yield batch
        except errors as error:
            absence.lasts(error)
            time.sleep(PAUSE)
        yield nothing(position)
