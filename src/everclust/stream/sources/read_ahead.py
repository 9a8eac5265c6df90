"""Reads batches ahead of their use in a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any

from ..batch import Batch, empty_batch

JOIN_SECONDS = 0.5  # for the thread to end; it may be waiting for standard input
QUEUE_SIZE = 4  # batches


def read_ahead(batches: Generator[Batch, None, None], stopped: threading.Event) -> Iterator[Batch]:
    """The same batches, read in a thread: parsing and learning run in parallel, as both release the GIL.

    While nothing arrives, it yields empty batches, so that the caller can check whether to stop.
    """
    ready: queue.Queue[Any] = queue.Queue(QUEUE_SIZE)

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
                yield empty_batch()
                continue
            if got is None:
                return
            if isinstance(got, BaseException):
                raise got
            yield got
    finally:
        stopped.set()
        worker.join(JOIN_SECONDS)


def _put(ready: queue.Queue[Any], item: Any, stopped: threading.Event) -> None:
    while not stopped.is_set():
        try:
            ready.put(item, timeout=0.2)
            return
        except queue.Full:
            continue
