"""What every source gives: batches of rows that know where they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..optional import require

if TYPE_CHECKING:
    import pyarrow

#: Where a source can go on: whatever it likes, as long as JSON can hold it.
Position = Any


class StreamError(ValueError):
    """Something is wrong with a source, a sink or a checkpoint; the message is one sentence."""


class UnreachableError(StreamError):
    """A message system does not answer, or no longer."""


class UnwritableError(StreamError):
    """Something cannot be written: the disk is full, the folder read-only."""


class Batch(NamedTuple):
    """Rows, and for every number of them the position behind it."""

    table: pyarrow.Table
    position_after: Callable[[int], Position]


def nothing(position: Position = None) -> Batch:
    """No rows: nothing came for a moment."""
    return Batch(import_pyarrow().table({}), lambda n_rows: position)


class Source(Protocol):
    """Anything that rows come from."""

    #: Do its columns have names of their own? If not, they are called x0, x1, …
    named: bool
    #: Does it go on for ever?
    endless: bool
    #: Would it like a checkpoint now, because nothing more comes before one?
    wants_checkpoint: bool

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """All rows behind a position, or from the start. A live source gives an empty batch now and then."""

    def settle(self, position: Position) -> None:
        """Everything up to here is learnt and kept: it need not be delivered again."""

    def fraction(self, position: Position) -> float | None:
        """How much of it lies before a position, if it has an end."""

    def close(self) -> None:
        """Let go of files and connections."""


def import_pyarrow(submodule: str = "") -> Any:
    """The package pyarrow, or one of its submodules."""
    module = f"pyarrow.{submodule}" if submodule else "pyarrow"
    return require(module, extra="cli", purpose="streams")
