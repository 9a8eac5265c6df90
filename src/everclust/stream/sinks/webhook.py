"""Events as HTTP requests, sent by a thread from a queue on the disk."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ...text import counted
from ..batch import StreamError, UnreachableError
from .event_queue import EventQueue, place_of

TIMEOUT = 5.0  # seconds
MAX_BATCH = 500  # events in a request: a body of some 100 kB
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0  # seconds between two attempts; each is twice the one before
QUIET_SECONDS = 5.0  # of an outage before a warning: short ones lose nothing
LAST_SECONDS = 10.0  # for which the end of a run waits until everything is sent


class Webhook:
    """Sends events in batches, each batch as a JSON array in one POST.

    `write` only adds events to a queue in a file, so that a slow receiver does not slow learning down and one
    that is down ends nothing: a thread sends a batch again until it is accepted. What could not be sent when
    the run ends stays in the file, and the next run of the same model sends it first. After a crash some
    events come again; `sample` and `number` identify them.

    The path may be a secret, so messages show the host only.

    Parameters
    ----------
    url : str
    queue : callable
        Returns the path of the file for a name.
    warn : callable
        Called with a sentence when the receiver stops to accept events, and when it accepts them again.
    """

    def __init__(self, url: str, queue: Callable[[str], Path], warn: Callable[[str], None]) -> None:
        parts = urlsplit(url)
        login, _, host = parts.netloc.rpartition("@")
        self.shown, self.warn = f"{parts.scheme}://{host}/…", warn
        if not url.isprintable() or " " in url:
            raise StreamError(f"{self.shown} was given with a blank; write it as %20.")
        mark = hashlib.sha256(url.encode()).hexdigest()[:8]
        self.name = f"{self.shown} {mark}"  # two webhooks may have the same host
        self.url = parts._replace(netloc=host).geturl()
        self.heads = {"Content-Type": "application/json"}
        if login:
            self.heads["Authorization"] = f"Basic {b64encode(unquote(login).encode()).decode()}"
        self.queue = EventQueue(queue(mark))
        self.last: list[int] | None = None  # sample and number of the last event
        self.trouble: str | None = None  # why the last request failed
        self._failing_since: float | None = None
        self._has_warned = False
        self._awake, self._ending, self._stopped = threading.Event(), threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def rewind(self, mark: Any) -> None:
        """Remove queued events after a mark, and begin to send those that an earlier run has left."""
        if mark is not None:
            self.last = mark
            self.queue.drop_after(*mark)
        self._thread = threading.Thread(target=self._send_all, name="everclust-webhook", daemon=True)
        self._thread.start()

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Add events to the queue."""
        if events:
            self.queue.append(events)
            self.last = list(place_of(events[-1]))
            self._awake.set()

    def mark(self) -> Any:
        """Sync the queue to the disk and return sample and number of the last event."""
        self.queue.sync()
        return self.last

    def finish(self) -> None:
        """Wait shortly until everything is sent; raise an error that says where the rest is kept."""
        self._ending.set()
        self._awake.set()
        deadline = time.monotonic() + LAST_SECONDS
        while (n_left := len(self.queue)) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.abort()
        if n_left:
            raise UnreachableError(
                f"{self.shown} does not accept events: {self.trouble or 'it is too slow'}; "
                f"{self.queue.path} keeps {counted(n_left, 'event')} for the next run of the model."
            )

    def abort(self) -> None:
        """Stop sending; what was not sent stays in the file."""
        for event in (self._stopped, self._ending, self._awake):
            event.set()
        if self._thread is not None:
            self._thread.join(TIMEOUT)
            self._thread = None
            self.queue.close()

    def _send_all(self) -> None:
        """Send batches until the run ends; a batch is sent again until it is accepted."""
        pause = FIRST_PAUSE
        while not self._stopped.is_set():
            self._awake.clear()
            batch = self.queue.first(MAX_BATCH)
            if not batch:
                self._awake.wait(FIRST_PAUSE if self._ending.is_set() else None)
            elif self._send(batch):
                self.queue.drop(len(batch))
                pause = FIRST_PAUSE
            else:
                self._rest(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _rest(self, seconds: float) -> None:
        """Wait before the next attempt, but not for long at the end of the run."""
        if self._ending.wait(seconds):
            self._stopped.wait(FIRST_PAUSE)

    def _send(self, batch: list[dict[str, Any]]) -> bool:
        sample, number = place_of(batch[0])
        key = f"{sample}-{number}-{len(batch)}"
        heads = {**self.heads, "Idempotency-Key": key}
        request = urllib.request.Request(self.url, json.dumps(batch).encode(), heads)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT):
                self._note_success()
                return True
        except (OSError, HTTPException) as error:
            self._note_failure(str(error))
            return False

    def _note_success(self) -> None:
        if self._has_warned:
            self.warn(f"{self.shown} accepts events again.")
        self.trouble, self._failing_since, self._has_warned = None, None, False

    def _note_failure(self, reason: str) -> None:
        self.trouble, now = reason, time.monotonic()
        self._failing_since = self._failing_since or now
        if now - self._failing_since >= QUIET_SECONDS and not self._has_warned and not self._ending.is_set():
            self.warn(f"{self.shown} does not accept events: {reason}; they are kept and sent later.")
            self._has_warned = True
