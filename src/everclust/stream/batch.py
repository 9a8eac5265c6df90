"""Batches of rows with their positions, the protocol of sources, and the errors of streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..optional import require

if TYPE_CHECKING:
    import pyarrow

#: Where a source can resume: any value of its own that JSON can hold.
Position = Any


class StreamError(ValueError):
    """An error of a source, a sink or a checkpoint; the message is one sentence for users."""


class UnreachableError(StreamError):
    """A message system does not answer."""


class UnwritableError(StreamError):
    """A file cannot be written: the disk is full, the folder read-only."""


class Batch(NamedTuple):
    """Rows, and for every number of them the position after it."""

    table: pyarrow.Table
    position_after: Callable[[int], Position]


def empty_batch(position: Position = None) -> Batch:
    """A batch without rows: nothing arrived for a moment."""
    return Batch(import_pyarrow().table({}), lambda n_rows: position)


class Source(Protocol):
    """Where rows come from."""

    #: Whether its columns have names of their own; if not, they are called x0, x1, …
    named: bool
    #: Whether it has no end.
    endless: bool
    #: True when the source delivers nothing more until a checkpoint is written (e.g. a full MQTT in-flight
    #: window).
    wants_checkpoint: bool

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """All rows after a position, or from the start; an empty batch while nothing arrives."""

    def acknowledge(self, position: Position) -> None:
        """Acknowledge all rows up to a position: a checkpoint holds them, so they need not come again."""

    def fraction(self, position: Position) -> float | None:
        """Share of the source that lies before a position; None if it has no end."""

    def lag(self) -> dict[str, int]:
        """How much of the source was not read yet, in `messages` or `bytes`; empty where it is unknown.

        Another thread may call it at any time.
        """

    def close(self) -> None:
        """Close files and connections."""


def import_pyarrow(submodule: str = "") -> Any:
    """The package pyarrow, or one of its submodules."""
    module = f"pyarrow.{submodule}" if submodule else "pyarrow"
    return require(module, extra="cli", purpose="streams")


def arrow_copy(data: bytes) -> Any:
    """A copy of bytes in memory of Arrow, whose threads may free it when Python has ended.

    Memory of Python may be freed by them, too, and they abort the process if Python is ending just then.
    """
    out = import_pyarrow().BufferOutputStream()
    out.write(data)
    return out.getvalue()
