"""Events that a thread delivers from a queue on the disk, so that a receiver never delays learning."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ...text import counted
from ..batch import UnreachableError
from .event_queue import EventQueue, sort_key_of

MAX_BATCH = 500  # events at once: some 100 kB
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0  # seconds between two attempts; each is twice the one before
QUIET_SECONDS = 5.0  # of an outage before a warning: short ones lose nothing
LAST_SECONDS = 10.0  # for which the end of a run waits until everything is sent
JOIN_SECONDS = 5.0  # for an attempt that is under way


class UndeliveredError(Exception):
    """A receiver did not accept events; the message is the reason."""


class Receiver(Protocol):
    """Where events are delivered to."""

    #: Its name in messages, without secrets.
    shown: str
    #: The most events that it takes at once.
    max_batch: int

    def deliver(self, batch: list[dict[str, Any]]) -> None:
        """Deliver events, in a thread of their own; raises UndeliveredError."""

    def close(self) -> None:
        """Close connections."""


def mark_of(url: str) -> str:
    """A short name for a URL, which may be a secret."""
    return hashlib.sha256(url.encode()).hexdigest()[:8]


class QueuedEvents:
    """An event sink that adds events to a queue in a file, from which a thread delivers them.

    So a slow receiver does not slow learning down, and one that is down ends nothing: a batch is delivered
    again until it is accepted. What could not be delivered when the run ends stays in the file, and the next
    run of the same model delivers it first. After a crash some events come again; `sample` and `number`
    identify them.

    Parameters
    ----------
    receiver : Receiver
    name : str
        Under which a checkpoint holds the position.
    path : Path
        The file of the queue.
    warn : callable
        Called with a sentence when the receiver stops to accept events, and when it accepts them again.
    """

    def __init__(self, receiver: Receiver, name: str, path: Path, warn: Callable[[str], None]) -> None:
        self.receiver, self.name, self.warn = receiver, name, warn
        self.queue = EventQueue(path)
        self.last: list[int] | None = None  # place of the last event
        self.trouble: str | None = None  # why the last attempt failed
        self._failing_since: float | None = None
        self._has_warned = False
        self._awake, self._ending, self._stopped = threading.Event(), threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def rewind(self, mark: Any) -> None:
        """Remove queued events after a mark, and begin to deliver those that an earlier run has left."""
        if mark is not None:
            self.last = mark
            self.queue.drop_after(*mark)
        self._thread = threading.Thread(target=self._deliver_all, name="everclust-events", daemon=True)
        self._thread.start()

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Add events to the queue."""
        if events:
            self.queue.append(events)
            self.last = list(sort_key_of(events[-1]))
            self._awake.set()

    def mark(self) -> Any:
        """Sync the queue to the disk and return the place of the last event."""
        self.queue.sync()
        return self.last

    def finish(self) -> None:
        """Wait shortly until everything is delivered; raise an error that says where the rest is kept."""
        self._ending.set()
        self._awake.set()
        deadline = time.monotonic() + LAST_SECONDS
        while (n_left := len(self.queue)) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.abort()
        if n_left:
            raise UnreachableError(
                f"{self.receiver.shown} does not accept events: {self.trouble or 'it is too slow'}; "
                f"{self.queue.path} keeps {counted(n_left, 'event')} for the next run of the model."
            )

    def abort(self) -> None:
        """Stop delivering; what was not delivered stays in the file."""
        for event in (self._stopped, self._ending, self._awake):
            event.set()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)
            self._thread = None
            self.queue.close()
            self.receiver.close()

    def _deliver_all(self) -> None:
        """Deliver batches until the run ends; a batch is delivered again until it is accepted."""
        pause = FIRST_PAUSE
        while not self._stopped.is_set():
            self._awake.clear()
            batch = self.queue.first(self.receiver.max_batch)
            if not batch:
                self._awake.wait(FIRST_PAUSE if self._ending.is_set() else None)
            elif self._deliver(batch):
                self.queue.drop(len(batch))
                pause = FIRST_PAUSE
            else:
                self._rest(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _rest(self, seconds: float) -> None:
        """Wait before the next attempt, but not for long at the end of the run."""
        if self._ending.wait(seconds):
            self._stopped.wait(FIRST_PAUSE)

    def _deliver(self, batch: list[dict[str, Any]]) -> bool:
        try:
            self.receiver.deliver(batch)
        except UndeliveredError as error:
            self._note_failure(str(error).rstrip("."))
            return False
        self._note_success()
        return True

    def _note_success(self) -> None:
        if self._has_warned:
            self.warn(f"{self.receiver.shown} accepts events again.")
        self.trouble, self._failing_since, self._has_warned = None, None, False

    def _note_failure(self, reason: str) -> None:
        self.trouble, now = reason, time.monotonic()
        self._failing_since = self._failing_since or now
        if now - self._failing_since >= QUIET_SECONDS and not self._has_warned and not self._ending.is_set():
            self.warn(
                f"{self.receiver.shown} does not accept events: {reason}; they are kept and sent later."
            )
            self._has_warned = True
