"""The loop: blocks of rows are learnt and answered, and now and then everything is put on the disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimator import IDAT
from ..persistence import write_atomically
from .batch import Position, Source, StreamError, UnwritableError
from .blocks import Block, blocks
from .checkpoint import Checkpoint, Checkpoints
from .columns import Columns
from .event_sinks import EventSink, numbered
from .sinks import RowSink

__all__ = ["Block", "Run", "Summary", "run"]

BLOCK = 1_000  # rows that are learnt, and then answered, together
EVERY = 10_000  # rows between two checkpoints


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
        It may be new. While the run lasts it has no feature names: rows come in the right order, and need
        not be looked at again.
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
    names: list[str] | None = None
    marks: dict[str, Any] = field(default_factory=dict)  # where the sinks were at the checkpoint

    @property
    def n_seen(self) -> int:
        """Samples that the model has learnt."""
        return int(getattr(self.model, "n_samples_seen_", 0))


def run(job: Run) -> Summary:
    """Learn, answer and keep until the source ends, or somebody wants to stop.

    Parameters
    ----------
    job : Run

    Returns
    -------
    summary : Summary
    """
    started = time.monotonic()
    resumed_at = job.rows
    clock = _Clock(job)
    job.names = _take_names(job.model)
    ended = "end"
    try:
        for name, sink in _sinks(job).items():
            sink.rewind(job.marks.get(name))
        for block in blocks(job.source, job.columns, job.position, job.block, whole=job.answers is not None):
            if block is not None:
                _take_in(job, block)
            ended = clock.ended(block) or "end"
            if ended != "end":
                break
            if (job.checkpoints is not None and clock.is_due()) or job.source.wants_checkpoint:
                keep(job)
                clock.kept()
        _finish(job)
    finally:
        let_go(job)
        _give_names(job.model, job.names)
    return Summary(job.rows, job.skipped, resumed_at, time.monotonic() - started, ended)


def _take_in(job: Run, block: Block) -> None:
    before = job.n_seen
    if job.limit is not None and job.rows + block.n_rows > job.limit:
        block = block.first(job.limit - job.rows)
    if job.learns and len(block.X):
        job.model.partial_fit(block.X)
    if job.names is None and job.source.named:
        job.names = _names_for(job)
    if job.answers is not None and len(block.X):
        job.answers.write(_answers(job, block))
    _tell_events(job, before)
    job.rows += block.n_rows
    job.skipped += block.n_rows - len(block.X)
    job.position = block.position
    if job.on_block is not None:
        job.on_block(job, block)


def _names_for(job: Run) -> list[str] | None:
    return job.columns.features if job.columns.expected is None and job.columns.width is None else None


def _answers(job: Run, block: Block) -> Iterator[tuple[Any, ...]]:
    names = block.ids if block.ids is not None else (job.rows + 1 + block.kept).tolist()
    columns = [names, job.model.predict(block.X).tolist()]
    if job.similarity:
        columns.append(job.model.score_samples(block.X).tolist())
    return zip(*columns, strict=True)


def _tell_events(job: Run, since: int) -> None:
    if job.event_sinks and job.n_seen > since:
        events = numbered(job.model.events(since=since))
        for sink in job.event_sinks:
            sink.write(events)


def keep(job: Run) -> None:
    """Write a checkpoint, then tell the source that it need not deliver again what came before."""
    if job.checkpoints is not None and job.n_seen:
        marks = {name: sink.mark() for name, sink in _sinks(job).items()}
        record = {
            "source": job.url,
            "position": job.position,
            "rows": job.rows,
            "skipped": job.skipped,
            "marks": marks,
            "settings": settings(job),
        }
        with _named(job):
            kept = job.checkpoints.write(job.model, record)
        if job.model_path is not None and job.learns:
            write_model_file(job.model_path, kept.read_bytes())
    elif job.model_path is not None and job.learns and job.n_seen:
        with _named(job):
            _saved(job.model, job.model_path)
    job.source.settle(job.position)


def _finish(job: Run) -> None:
    keep(job)
    for sink in _sinks(job).values():
        sink.finish()


def _saved(model: IDAT, path: Path) -> None:
    try:
        model.save(path)
    except OSError as error:
        raise UnwritableError(f"The model could not be written to {path}: {error.strerror}.") from None


def write_model_file(path: Path, data: bytes) -> None:
    """Put a model where it is expected."""
    try:
        write_atomically(path, [data])
    except OSError as error:
        raise UnwritableError(f"The model could not be written to {path}: {error.strerror}.") from None


def let_go(job: Run) -> None:
    """Close everything; what was finished before stays as it is."""
    job.source.close()
    for sink in _sinks(job).values():
        sink.let_go()
    if job.checkpoints is not None:
        job.checkpoints.close()


def resume(job: Run) -> Checkpoint | None:
    """Put a run back to its latest checkpoint, if it has one; sinks go back when it starts."""
    found = job.checkpoints.latest() if job.checkpoints is not None else None
    if found is not None:
        _check_same(job, found.record)
        job.model = found.model
        job.position = found.record["position"]
        job.rows, job.skipped = found.record["rows"], found.record["skipped"]
        job.marks = found.record["marks"]
    return found


def settings(job: Run) -> dict[str, Any]:
    """What must be the same when a run goes on."""
    columns = job.columns
    return {
        "learns": job.learns,
        "block": job.block if job.answers is not None else None,
        "parameters": job.model.get_params(),
        "columns": columns.chosen,
        "exclude": sorted(columns.exclude),
        "label": columns.label,
        "id": columns.id,
        "missing": columns.missing,
    }


def _check_same(job: Run, record: dict[str, Any]) -> None:
    assert job.checkpoints is not None
    now = {"source": job.url, **settings(job)}
    then = {"source": record["source"], **record["settings"]}
    for name in now:
        if now[name] != then.get(name):
            raise StreamError(
                f"The checkpoints in {job.checkpoints.folder} were made with {name} {then.get(name)!r}, but "
                f"it is {now[name]!r} now; go on as before, or choose another folder."
            )


def _sinks(job: Run) -> dict[str, Any]:
    found: dict[str, Any] = {f"events {sink.name}": sink for sink in job.event_sinks}
    if job.answers is not None:
        found[f"answers {job.answers.name}"] = job.answers
    return found


def _take_names(model: IDAT) -> list[str] | None:
    names = model.__dict__.pop("feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _give_names(model: IDAT, names: list[str] | None) -> None:
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)


@contextmanager
def _named(job: Run) -> Iterator[None]:
    """The model has its names while it is saved."""
    _give_names(job.model, job.names)
    try:
        yield
    finally:
        _take_names(job.model)


class _Clock:
    """When is a checkpoint due, and when is it over?"""

    def __init__(self, job: Run) -> None:
        self.job = job
        self.last_row = time.monotonic()
        self.kept()

    def kept(self) -> None:
        self.rows, self.time = self.job.rows, time.monotonic()

    def is_due(self) -> bool:
        if self.job.rows == self.rows:
            return False
        if isinstance(self.job.every, float):
            return time.monotonic() - self.time >= self.job.every
        return self.job.rows - self.rows >= self.job.every

    def ended(self, block: Block | None) -> str | None:
        """Why it is over, if it is."""
        job = self.job
        if block is not None:
            self.last_row = time.monotonic()
        if job.should_stop():
            return "stopped"
        if job.limit is not None and job.rows >= job.limit:
            return "limit"
        if job.idle is not None and time.monotonic() - self.last_row >= job.idle:
            return "idle"
        return None
