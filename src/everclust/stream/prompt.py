"""Rows that must not wait for a full block."""

from __future__ import annotations

import time
from collections.abc import Iterator

from .batch import Batch, Position, Source, empty_batch
from .wrapped import WrappedSource


class PromptSource(WrappedSource):
    """A source whose rows wait for a full block no longer than some seconds.

    Then it wants a checkpoint, for which the rows that have arrived are learnt and answered.

    Parameters
    ----------
    source : Source
    seconds : float
    """

    def __init__(self, source: Source, seconds: float) -> None:
        super().__init__(source)
        self._seconds = seconds

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """All rows after a position, and an empty batch when some have waited long enough."""
        since = None  # when the first of the rows that wait arrived
        for batch in self._source.batches(position):
            self.wants_checkpoint = self._source.wants_checkpoint
            yield batch
            n_rows = batch.table.num_rows
            if n_rows:
                position = batch.position_after(n_rows)
                since = time.monotonic() if since is None else since
            if since is not None and time.monotonic() - since >= self._seconds:
                self.wants_checkpoint, since = True, None
                yield empty_batch(position)
