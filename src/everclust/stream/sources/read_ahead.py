"""Reads batches ahead of their use in a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any

from ..batch import Batch, empty_batch

JOIN_SECONDS = 0.5  # for the thread to end; it may be waiting for standard input
QUEUE_SIZE = 4  # batches


class ReadAhead:
    """The same batches, read in a thread: parsing and learning run in parallel, as both release the GIL.

    While nothing arrives, it yields empty batches, so that the caller can check whether to stop.
    """

    def __init__(self, batches: Generator[Batch, None, None]) -> None:
        self._batches = batches
        self._ready: queue.Queue[Any] = queue.Queue(QUEUE_SIZE)
        self._stopped = threading.Event()
        self._worker = threading.Thread(target=self._work, name="everclust source", daemon=True)

    def __iter__(self) -> Iterator[Batch]:
        self._worker.start()
        try:
            while True:
                try:
                    got = self._ready.get(timeout=0.2)
                except queue.Empty:
                    yield empty_batch()
                    continue
                if got is None:
                    return
                if isinstance(got, BaseException):
                    raise got
                yield got
        finally:
            self.close()

    def close(self) -> None:
        """Stop the thread: one that is still at work when Python ends would abort the process."""
        self._stopped.set()
        if self._worker.is_alive():
            self._worker.join(JOIN_SECONDS)

    def _work(self) -> None:
        try:
            for batch in self._batches:
                self._put(batch)
                if self._stopped.is_set():
                    return
            self._put(None)
        except BaseException as error:
            self._put(error)
        finally:
            self._batches.close()

    def _put(self, item: Any) -> None:
        while not self._stopped.is_set():
            try:
                self._ready.put(item, timeout=0.2)
                return
            except queue.Full:
                continue
