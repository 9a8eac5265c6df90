"""Looks at a learner from the side: often while somebody watches, now and then otherwise."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..estimators.idat import IDAT
from ..model.snapshot import Snapshot
from .capture import Picture, take_picture
from .digest import CHANGES, MOST_AT_ONCE, MOST_OF_THE_PAST, counted, headlines
from .trace import Trace

PICTURES_PER_SECOND = 10  # at most; the page moves smoothly between them
SHARE = 0.03  # of the time in which the model may have to hold still for a picture
LONGEST_PAUSE = 0.4  # seconds between two pictures, even if one took long
UNWATCHED_SECONDS = 1.0  # between two pictures when nobody watches: histories go on
MOST_EVENTS = 1_000
FAREWELL = 1.0  # seconds in which viewers and the thread should have left


class Watcher:
    """Takes pictures of a model in a thread of its own, and hands out the latest one.

    Whoever is slow misses pictures; nobody is waited for.
    """

    def __init__(self, model: IDAT, names: Callable[[], Sequence[str] | None]) -> None:
        self.model, self.names = model, names
        self.picture: Picture | None = None
        self.version = 0  # of the picture
        self.n_tellings = 0
        self.life = 0  # of the model: it begins anew with every fit
        self.trace, self.events = _empty_traces()
        self.counts: Counter[str] = Counter()  # of everything that has happened
        self.paused = False
        self.first_viewer = threading.Event()
        self.n_viewers = 0
        self._looking = threading.Lock()
        self._changed = threading.Condition()
        self._wanted, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name="everclust-live", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more; viewers are told."""
        self._stopped.set()
        self._wanted.set()
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.n_viewers == 0, FAREWELL)
        if self._thread.is_alive():
            self._thread.join(FAREWELL)  # it may be waiting for a long batch

    @property
    def stopped(self) -> bool:
        """Is it over?"""
        return self._stopped.is_set()

    @contextmanager
    def viewing(self) -> Iterator[None]:
        """While somebody watches."""
        with self._changed:
            self.n_viewers += 1
        self.first_viewer.set()
        self._wanted.set()
        try:
            yield
        finally:
            with self._changed:
                self.n_viewers -= 1
                self._changed.notify_all()

    def wait(self, version: int, n_tellings: int, seconds: float) -> bool:
        """Until there is a newer picture or something else to tell; was there, within so many seconds?"""

        def is_new() -> bool:
            return self.version > version or self.n_tellings > n_tellings or self.stopped

        with self._changed:
            return self._changed.wait_for(is_new, seconds)

    def tell(self) -> None:
        """Viewers should look again, though the picture is the same."""
        with self._changed:
            self.n_tellings += 1
            self._changed.notify_all()

    def feature_names(self) -> list[str]:
        """Names of the features, or x0, x1, …; none before the first sample."""
        if self.picture is None:
            return []
        return list(self.names() or [f"x{j}" for j in range(self.picture.samples.shape[1])])

    def look(self) -> None:
        """Take a picture now, if there is anything new."""
        with self._looking:
            if self.model.__sklearn_is_fitted__():
                self._look()

    def _look(self) -> None:
        before = self.picture.snapshot if self.picture is not None else None
        if before is None or self._has_changed(before):
            self._put_up(take_picture(self.model, before.n_samples_seen if before is not None else 0))

    def _has_changed(self, before: Snapshot) -> bool:
        return (self.model.n_samples_seen_, self.model.clusters) != (before.n_samples_seen, before.clusters)

    def _put_up(self, picture: Picture) -> None:
        now = picture.snapshot
        if self.picture is not None and now.n_samples_seen < self.picture.snapshot.n_samples_seen:
            picture = picture._replace(events=self.model.events())
            self.trace, self.events = _empty_traces()
            self.counts = Counter()
            self.life += 1
        self._note(picture)
        with self._changed:
            self.picture = picture
            self.version += 1
            self._changed.notify_all()

    def _note(self, picture: Picture) -> None:
        now = picture.snapshot
        self.trace.add([now.n_samples_seen, now.interval, now.vigilance, len(now.usage), now.n_clusters])
        self.counts = self.counts + counted(picture.events)  # never changed in place: viewers read it
        most = MOST_OF_THE_PAST if self.picture is None else MOST_AT_ONCE
        for event in headlines(picture.events, most):
            self.events.add([*event[:-1], event.words(), event.centre])

    def _watch(self) -> None:
        while not self.stopped:
            started = time.monotonic()
            if not self.paused:
                self.look()
            self._rest(started)

    def _rest(self, started: float) -> None:
        if self.n_viewers:
            took = self.picture.took if self.picture is not None else 0.0
            pause = min(max(1 / PICTURES_PER_SECOND, took / SHARE), LONGEST_PAUSE)
            self._stopped.wait(max(0.0, started + pause - time.monotonic()))
        else:
            self._wanted.clear()
            if not self.n_viewers and not self.stopped:  # it may have changed in between
                self._wanted.wait(UNWATCHED_SECONDS)


def _empty_traces() -> tuple[Trace, Trace]:
    """For the history, and for what has happened to clusters."""
    return Trace(), Trace(lambda k, event: event[1] in CHANGES, MOST_EVENTS)
