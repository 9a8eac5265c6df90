"""Batches that are read before they are wanted, by a thread of their own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any

from ..batch import Batch, nothing

GRACE = 0.5  # seconds for the reading thread to end; it may be waiting for standard input
AHEAD = 4  # batches read before they are wanted


def read_ahead(batches: Generator[Batch, None, None], stopped: threading.Event) -> Iterator[Batch]:
    """The same batches, read by a thread of their own: parsing and learning share no lock.

    While nothing comes there is an empty batch now and then, so that whoever waits can look up.
    """
    ready: queue.Queue[Any] = queue.Queue(AHEAD)

    def work() -> None:
        try:
            for batch in batches:
                _put(ready, batch, stopped)
                if stopped.is_set():
                    return
            _put(ready, None, stopped)
        except BaseException as error:
            _put(ready, error, stopped)
        finally:
            batches.close()

    worker = threading.Thread(target=work, name="everclust source", daemon=True)
    worker.start()
    try:
        while True:
            try:
                got = ready.get(timeout=0.2)
            except queue.Empty:
                yield nothing()
                continue
            if got is None:
                return
            if isinstance(got, BaseException):
                raise got
            yield got
    finally:
        stopped.set()
        worker.join(GRACE)


def _put(ready: queue.Queue[Any], item: Any, stopped: threading.Event) -> None:
    while not stopped.is_set():
        try:
            ready.put(item, timeout=0.2)
            return
        except queue.Full:
            continue
