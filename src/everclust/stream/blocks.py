"""Cuts a stream into blocks of equal length, whatever its batches are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from .batch import Position, Source
from .columns import Columns
from .reject import Reject

END = object()  # after the last block


class Block(NamedTuple):
    """Complete rows, the number of rows they were taken from, and the position after them."""

    X: np.ndarray
    kept: np.ndarray  # indices of the complete rows within the block
    ids: list[Any] | None
    labels: list[Any] | None
    times: np.ndarray | None  # seconds since 1970
    keys: list[str] | None
    rejects: dict[int, Reject]  # the other rows, by their index within the block
    n_rows: int
    position_after: Callable[[int], Position]

    @property
    def position(self) -> Position:
        """Where the source resumes after this block."""
        return self.position_after(self.n_rows)

    def first(self, n_rows: int) -> Block:
        """The first rows of the block."""
        return self.slice(0, n_rows)

    def slice(self, start: int, stop: int) -> Block:
        """The rows from `start` to `stop`, counted with incomplete ones."""
        low, high = np.searchsorted(self.kept, [start, stop])
        return Block(
            self.X[low:high],
            self.kept[low:high] - start,
            None if self.ids is None else self.ids[low:high],
            None if self.labels is None else self.labels[low:high],
            None if self.times is None else self.times[low:high],
            None if self.keys is None else self.keys[low:high],
            {row - start: why for row, why in self.rejects.items() if start <= row < stop},
            stop - start,
            lambda n_rows: self.position_after(start + n_rows),
        )


def blocks(
    source: Source, columns: Columns, position: Position, size: int | Callable[[int], int], *, whole: bool
) -> Iterator[Block | None]:
    """Blocks of `size` rows, the last one excepted; None when nothing arrived for a moment.

    The size may depend on the number of columns. If `whole`, the ends of blocks depend on the rows alone;
    otherwise a block is yielded as soon as a batch ends, so that rows do not wait.
    """
    held: list[Block] = []
    n_held = 0
    for batch in source.batches(position):
        if batch.table.num_rows == 0:
            if held and source.wants_checkpoint:  # no more rows arrive before one
                yield _joined(held)
                held, n_held = [], 0
            else:
                yield None
            continue
        rows = columns.take(batch.table, source.named)
        block = Block(*rows, batch.table.num_rows, batch.position_after)
        size, start = size if isinstance(size, int) else size(block.X.shape[1]), 0
        while block.n_rows - start >= size - n_held:
            stop = start + size - n_held
            yield _joined([*held, block.slice(start, stop)])
            held, n_held, start = [], 0, stop
        if start < block.n_rows:
            held.append(block.slice(start, block.n_rows))
            n_held += block.n_rows - start
            if not whole:
                yield _joined(held)
                held, n_held = [], 0
    if held:
        yield _joined(held)


def one_ahead(blocks: Iterator[Block | None], meanwhile: Callable[[], None]) -> Iterator[Block | None]:
    """The same blocks, of which the next one is read in a thread while this one is used.

    `meanwhile` is called while the first one is read; a None before its end is left out.
    """
    is_over = Event()

    def following() -> Any:
        while (block := next(blocks, END)) is None and not is_over.is_set():
            pass
        return block

    with ThreadPoolExecutor(1) as pool:
        coming: Future[Any] = pool.submit(following)
        meanwhile()
        is_over.set()
        while (block := coming.result()) is not END:
            coming = pool.submit(following)
            yield block


def _joined(parts: list[Block]) -> Block:
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(part.n_rows for part in parts[:-1])])
    last = parts[-1]
    return Block(
        np.concatenate([part.X for part in parts if len(part.X)] or [last.X]),
        np.concatenate([part.kept + start for part, start in zip(parts, starts, strict=True)]),
        _chained([part.ids for part in parts]),
        _chained([part.labels for part in parts]),
        None if last.times is None else np.concatenate([part.times for part in parts]),
        _chained([part.keys for part in parts]),
        {
            row + int(start): why
            for part, start in zip(parts, starts, strict=True)
            for row, why in part.rejects.items()
        },
        sum(part.n_rows for part in parts),
        lambda n_rows: _after(parts, n_rows) if n_rows else last.position_after(0),
    )


def _after(parts: list[Block], n_rows: int) -> Position:
    for part in parts:
        if n_rows <= part.n_rows:
            return part.position_after(n_rows)
        n_rows -= part.n_rows
    raise IndexError(n_rows)


def _chained(lists: list[list[Any] | None]) -> list[Any] | None:
    return None if lists[0] is None else [item for part in lists for item in part or ()]
