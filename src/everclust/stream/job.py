"""A run as data: a model, where its rows come from, and where everything goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..estimators.idat import IDAT
from .batch import Position, Source
from .blocks import Block
from .checkpoint import Checkpoints
from .columns import Columns
from .defaults import BLOCK, EVERY
from .sinks.events import EventSink
from .sinks.rows import RowSink


class Summary(NamedTuple):
    """What a run did."""

    rows: int  # read, in this run and before it
    skipped: int  # of them, because a value was missing
    resumed_at: int  # rows that were not read again
    seconds: float
    ended: str  # "end", "limit", "idle" or "stopped"


@dataclass
class Run:
    """A model, where its rows come from, and where everything goes.

    Attributes
    ----------
    model : IDAT
        It may be new.
    source, columns : Source, Columns
        Rows, and what to take of them.
    url : str
        The name of the source, which a checkpoint remembers.
    learns : bool
        Or does it only answer?
    model_path : Path, optional
        Where the model is put at every checkpoint and at the end.
    answers : RowSink, optional
        Takes what every row is called, in the words of the model at the end of the row's block.
    similarity : bool
        Are answers followed by the similarity to the node that wins?
    event_sinks : list of EventSink
    checkpoints : Checkpoints, optional
    every : int or float
        Rows (int) or seconds (float) between two checkpoints. They are written between blocks.
    block : int
        Rows in a block. Without answers blocks may be smaller: the model does not depend on it.
    limit, idle : int, float, optional
        Stop after so many rows, or after so many seconds without one.
    on_block : callable, optional
        Called with the run and every block, after it was learnt.
    should_stop : callable
        Asked after every block, and now and then while nothing comes.
    """

    model: IDAT
    source: Source
    columns: Columns
    url: str = ""
    learns: bool = True
    model_path: Path | None = None
    answers: RowSink | None = None
    similarity: bool = False
    event_sinks: list[EventSink] = field(default_factory=list)
    checkpoints: Checkpoints | None = None
    every: int | float = EVERY
    block: int = BLOCK
    limit: int | None = None
    idle: float | None = None
    on_block: Callable[[Run, Block], None] | None = None
    should_stop: Callable[[], bool] = lambda: False

    position: Position = None
    rows: int = 0
    skipped: int = 0
    marks: dict[str, Any] = field(default_factory=dict)  # where the sinks were at the checkpoint

    @property
    def n_seen(self) -> int:
        """Samples that the model has learnt."""
        return int(getattr(self.model, "n_samples_seen_", 0))


def sinks_of(job: Run) -> dict[str, Any]:
    """Everything that is written to, by the name under which a checkpoint remembers how far it was."""
    found: dict[str, Any] = {f"events {sink.name}": sink for sink in job.event_sinks}
    if job.answers is not None:
        found[f"answers {job.answers.name}"] = job.answers
    return found


def let_go(job: Run) -> None:
    """Close everything; what was finished before stays as it is."""
    job.source.close()
    for sink in sinks_of(job).values():
        sink.let_go()
    if job.checkpoints is not None:
        job.checkpoints.close()
