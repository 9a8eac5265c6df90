"""Waiting for a message system that is down, and reading on without a gap when it is back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from .batch import Batch, Position, UnreachableError, empty_batch

MAX_OUTAGE = 60.0  # seconds
PAUSE = 0.2  # seconds between two attempts

Client = TypeVar("Client")


class RefusedError(UnreachableError):
    """A message system answers, but refuses the connection: to wait for it is of no use."""


def wait_for_server(connect: Callable[[], Client], warn: Callable[[str], None]) -> Client:
    """Connect to a server; one that does not answer is waited for, up to MAX_OUTAGE seconds."""
    started, has_warned = time.monotonic(), False
    while True:
        try:
            return connect()
        except RefusedError:
            raise
        except UnreachableError as error:
            is_untrusted = "CERTIFICATE_VERIFY_FAILED" in str(error)  # which time does not change
            if is_untrusted or time.monotonic() - started >= MAX_OUTAGE:
                raise
            if not has_warned:
                warn(f"{str(error).rstrip('.')}; it is waited for, up to {MAX_OUTAGE:.0f} seconds.")
                has_warned = True
            time.sleep(PAUSE)


class Outage:
    """How long a server has not answered."""

    def __init__(self, url: str, *, has_answered: bool = True) -> None:
        self.url, self.has_answered = url, has_answered
        self.since: float | None = None
        #: Called when an outage begins and when it ends, for a log.
        self.log: Callable[..., None] = lambda event, sentence, level="info", **figures: None

    def check(self, reason: object) -> None:
        """The server does not answer: raise an error if this has lasted for MAX_OUTAGE seconds."""
        now = time.monotonic()
        if self.since is None:
            self.since = now
            self.log(
                "outage",
                f"{self.url} does not answer: {str(reason).rstrip('.') or 'it took too long'}; it is waited "
                f"for, up to {MAX_OUTAGE:.0f} seconds.",
                "warning",
            )
        if now - self.since > MAX_OUTAGE:
            more = " any more" if self.has_answered else ""
            raise UnreachableError(f"{self.url} does not answer{more}: {str(reason).rstrip('.')}.")

    def end(self) -> None:
        """The server answers again."""
        if self.since is not None:
            seconds = time.monotonic() - self.since
            self.log("outage-end", f"{self.url} answers again after {seconds:.1f} s.", seconds=seconds)
        self.since, self.has_answered = None, True


def with_reconnect(
    read: Callable[[Position], Iterator[Batch]],
    position: Position,
    outage: Outage,
    errors: tuple[type[Exception], ...],
) -> Iterator[Batch]:
    """Batches after a position; after each outage, read again from the last batch on."""
    while True:
        try:
            for batch in read(position):
                outage.end()
                position = batch.position_after(batch.table.num_rows)
                yield batch
        except errors as error:
            outage.check(error)
            time.sleep(PAUSE)
        yield empty_batch(position)
