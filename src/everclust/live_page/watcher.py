"""Captures a model while it learns: often while the page has viewers, once a second otherwise."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..estimators.clusterer import Clusterer
from .capture import Capture, capture_model
from .digest import MAX_AT_START, MAX_PER_CAPTURE, STRUCTURAL, count_kinds, digest
from .trace import Trace

CAPTURES_PER_SECOND = 10  # at most; the page animates between them
MAX_SHARE = 0.03  # of the time for which captures may lock the model
MAX_PAUSE = 0.4  # seconds between two captures, even if one took long
IDLE_SECONDS = 1.0  # between two captures without viewers: histories go on
MAX_EVENTS = 1_000
SHUTDOWN_SECONDS = 1.0  # to wait for viewers, and then for the thread


class Watcher:
    """Captures a model in a thread of its own and provides the latest capture.

    Slow viewers miss captures; the watcher never waits for them.
    """

    def __init__(self, model: Clusterer, names: Callable[[], Sequence[str] | None]) -> None:
        self.model, self.names = model, names
        self.capture: Capture | None = None
        self.version = 0  # of the capture
        self.n_notices = 0
        self.generation = 0  # of the model: every fit starts a new one
        self.trace, self.events = _empty_traces()
        self.counts: Counter[str] = Counter()  # of all events by kind, also of those not listed
        self.paused = False
        self.first_viewer = threading.Event()
        self.n_viewers = 0
        self._updating = threading.Lock()
        self._changed = threading.Condition()
        self._awake, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="everclust-live", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait shortly until viewers have been notified."""
        self._stopped.set()
        self._awake.set()
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.n_viewers == 0, SHUTDOWN_SECONDS)
        if self._thread.is_alive():
            self._thread.join(SHUTDOWN_SECONDS)  # it may be waiting for a long batch

    @property
    def stopped(self) -> bool:
        """True once `stop` was called."""
        return self._stopped.is_set()

    @contextmanager
    def viewing(self) -> Iterator[None]:
        """Count one more viewer within the context."""
        with self._changed:
            self.n_viewers += 1
        self.first_viewer.set()
        self._awake.set()
        try:
            yield
        finally:
            with self._changed:
                self.n_viewers -= 1
                self._changed.notify_all()

    def wait(self, version: int, n_notices: int, seconds: float) -> bool:
        """Wait for a newer capture or notice; False if none came in time."""

        def is_new() -> bool:
            return self.version > version or self.n_notices > n_notices or self.stopped

        with self._changed:
            return self._changed.wait_for(is_new, seconds)

    def notify(self) -> None:
        """Have every viewer sent a frame, though the capture is the same."""
        with self._changed:
            self.n_notices += 1
            self._changed.notify_all()

    def feature_names(self) -> list[str]:
        """Names of the features, or x0, x1, …; none before the first sample."""
        if self.capture is None:
            return []
        return list(self.names() or [f"x{j}" for j in range(self.capture.samples.shape[1])])

    def update(self) -> None:
        """Capture the model now, if it has changed."""
        with self._updating:
            if not self.model.__sklearn_is_fitted__():
                return
            before = self.capture.snapshot if self.capture is not None else None
            if before is None or self.model.n_samples_seen_ != before.n_samples_seen:
                self._publish(capture_model(self.model, before.n_samples_seen if before is not None else 0))

    def _publish(self, capture: Capture) -> None:
        now = capture.snapshot
        if self.capture is not None and now.n_samples_seen < self.capture.snapshot.n_samples_seen:
            capture = capture._replace(events=self.model.events())
            self.trace, self.events = _empty_traces()
            self.counts = Counter()
            self.generation += 1
        self._record(capture)
        with self._changed:
            self.capture = capture
            self.version += 1
            self._changed.notify_all()

    def _record(self, capture: Capture) -> None:
        now = capture.snapshot
        self.trace.add([now.n_samples_seen, now.interval, now.vigilance, len(now.usage), now.n_clusters])
        self.counts = self.counts + count_kinds(capture.events)  # a new object: viewers read the old one
        max_events = MAX_AT_START if self.capture is None else MAX_PER_CAPTURE
        for event in digest(capture.events, max_events):
            self.events.add([*event[:-1], event.words(), self.time(event.sample), event.centre])

    def time(self, sample: int) -> str | None:
        """When a sample happened, by the stream's own clock."""
        times = self.model._times
        return None if times is None else times.text(sample)

    def _run(self) -> None:
        while not self.stopped:
            started = time.monotonic()
            if not self.paused:
                self.update()
            self._sleep(started)

    def _sleep(self, started: float) -> None:
        if self.n_viewers:
            took = self.capture.took if self.capture is not None else 0.0
            pause = min(max(1 / CAPTURES_PER_SECOND, took / MAX_SHARE), MAX_PAUSE)
            self._stopped.wait(max(0.0, started + pause - time.monotonic()))
        else:
            self._awake.clear()
            if not self.n_viewers and not self.stopped:  # both may have changed before the clear
                self._awake.wait(IDLE_SECONDS)


def _empty_traces() -> tuple[Trace, Trace]:
    """(history, events)."""
    return Trace(), Trace(lambda k, event: event[1] in STRUCTURAL, MAX_EVENTS)
