"""A run as data: a model, the source of its rows, and the sinks of its results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..estimators.clusterer import Clusterer
from .bad_rows import BadRows
from .batch import Position, Source
from .blocks import Block
from .checkpoint import Checkpoints
from .columns import Columns
from .defaults import BLOCK, EVERY
from .dialect import USUAL, Dialect
from .sinks.events import EventSink
from .sinks.rows import RowSink
from .timing import Timing

if TYPE_CHECKING:
    from .keyed import KeyedModels  # imports scikit-learn


class Log(Protocol):
    """Called with what happened to a run: a word, a sentence and figures."""

    def __call__(self, event: str, sentence: str, level: str = ..., **fields: Any) -> None:
        """Write it."""


class BlockWatcher(Protocol):
    """Looks at a run after every block."""

    def begin(self, job: Run) -> None:
        """The run begins, or goes on."""

    def check(self, job: Run) -> None:
        """A block was processed."""


class Summary(NamedTuple):
    """What a run did."""

    rows: int  # read, in this run and before it was resumed
    skipped: int  # of them, because they could not be learnt
    resumed_at: int  # rows read before it was resumed
    seconds: float
    ended: str  # "end", "limit", "idle" or "stopped"
    reasons: dict[str, int]  # rows that were skipped, by reason


@dataclass
class Run:
    """A model, the source of its rows, and the sinks of its results.

    Attributes
    ----------
    model : EverClust or IDAT
        It may be new.
    source, columns : Source, Columns
        Rows, and which columns of them to learn.
    url : str
        The name of the source, which is written into checkpoints.
    dialect : Dialect
        How its text is written; checkpoints hold it, too.
    learns : bool
        Whether the model learns the rows, or only predicts.
    model_path : Path, optional
        Where the model is saved at every checkpoint and at the end.
    answers : RowSink, optional
        Receives the cluster of each row, as predicted after its block was learnt.
    similarity : bool
        Whether predictions include the similarity to what the model knows.
    novel : bool
        Whether predictions include whether a row was new to the model before its block was learnt.
    event_sinks : list of EventSink
    checkpoints : Checkpoints, optional
    every : int or float
        Rows (int) or seconds (float) between two checkpoints, which are written between blocks.
    block : int
        Rows in a block. Without predictions, blocks may be smaller; the model does not depend on it.
    jobs : int
        Threads that learn. If there are several, blocks are the rounds that they learn before they are
        merged, and the model depends on them.
    bad_rows : BadRows
        What happens with rows that cannot be learnt.
    limit, idle : int, float, optional
        Stop after this many rows, or after this many seconds without one.
    on_block : callable, optional
        Called with the run and each block, after the block was learnt.
    should_stop : callable
        Called after every block, and several times a second while nothing arrives.
    on_answer : callable
        Called when the source has answered, with rows or without, before they are learnt.
    keyed : KeyedModels, optional
        One model for each key; `model` then has the parameters and the columns of all of them.
    alerts : BlockWatcher, optional
        Alerts on shares of rows.
    log : callable, optional
        Called with every checkpoint and every report of skipped rows, for a log.
    """

    model: Clusterer
    source: Source
    columns: Columns
    url: str = ""
    dialect: Dialect = USUAL
    learns: bool = True
    model_path: Path | None = None
    answers: RowSink | None = None
    similarity: bool = False
    novel: bool = False
    event_sinks: list[EventSink] = field(default_factory=list)
    checkpoints: Checkpoints | None = None
    every: int | float = EVERY
    block: int = BLOCK
    jobs: int = 1
    bad_rows: BadRows = field(default_factory=BadRows)
    limit: int | None = None
    idle: float | None = None
    on_block: Callable[[Run, Block], None] | None = None
    should_stop: Callable[[], bool] = lambda: False
    on_answer: Callable[[], None] = lambda: None
    keyed: KeyedModels | None = None
    alerts: BlockWatcher | None = None
    log: Log | None = None

    position: Position = None
    rows: int = 0
    skipped: int = 0
    marks: dict[str, Any] = field(default_factory=dict)  # positions of the sinks at the checkpoint
    timing: Timing = field(default_factory=Timing)

    @property
    def n_seen(self) -> int:
        """Number of samples that the model has learnt, or all models together."""
        if self.keyed is not None:
            return self.keyed.n_seen
        return self.model.n_samples_seen_ if self.model.__sklearn_is_fitted__() else 0


def sinks_of(job: Run) -> dict[str, Any]:
    """All sinks, by the name under which a checkpoint holds their positions."""
    found: dict[str, Any] = {f"events {sink.name}": sink for sink in job.event_sinks}
    if job.answers is not None:
        found[f"answers {job.answers.name}"] = job.answers
    if job.bad_rows.file is not None:
        found[f"rejects {job.bad_rows.file.name}"] = job.bad_rows.file
    return found


def close(job: Run) -> None:
    """Close the source, the sinks and the checkpoint folder; sinks that were finished stay as they are."""
    job.source.close()
    for sink in sinks_of(job).values():
        sink.abort()
    if job.checkpoints is not None:
        job.checkpoints.close()
    if job.keyed is not None:
        job.keyed.models.close()
