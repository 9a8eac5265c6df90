"""The loop over blocks: learn, predict, write events, and write checkpoints."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from ..model.parallel import load_kernels, round_length
from ..model.times import SampleTimes
from ..text import counted
from .batch import StreamError, UnreachableError
from .blocks import Block, blocks, one_ahead
from .job import Run, Summary, close, sinks_of
from .resume import save_and_acknowledge
from .sinks.events import numbered
from .write_file import remove_leftovers


def run(job: Run) -> Summary:
    """Learn and predict until the source ends or `should_stop` says so; write checkpoints on the way.

    Parameters
    ----------
    job : Run

    Returns
    -------
    summary : Summary
    """
    started = time.monotonic()
    resumed_at = job.rows
    try:
        ended = _process_stream(job)
        _finish(job)
    finally:
        close(job)
    reasons = dict(job.bad_rows.reasons)
    return Summary(job.rows, job.skipped, resumed_at, time.monotonic() - started, ended, reasons)


def _written_files(job: Run) -> list[Path]:
    """Files that are written as a whole: the model and a Parquet file of predictions."""
    found = [job.model_path] if job.model_path is not None and job.learns else []
    return found if job.answers is None or job.answers.name == "-" else [*found, Path(job.answers.name)]


def _begin(job: Run) -> None:
    """Remove what killed runs have left, and set the sinks back to the checkpoint or to their start."""
    for path in _written_files(job):
        remove_leftovers(path)
    for name, sink in sinks_of(job).items():
        sink.rewind(job.marks.get(name))
    if job.alerts is not None:
        job.alerts.begin(job)


def _process_stream(job: Run) -> str:
    """Process blocks until the end; returns why it ended."""
    clock = _Clock(job)
    for block in _kept_on_error(job, _begun(job, job.timing.reading(_blocks(job)))):
        job.on_answer()
        if block is not None:
            _process_block(job, block)
        ended = clock.ended(block)
        if ended is not None:
            return ended
        # An endless source is acknowledged without checkpoints, too, or it would hold all rows for ever.
        keeps = job.checkpoints is not None or job.keyed is not None or job.source.endless
        if (keeps and clock.is_due()) or job.source.wants_checkpoint:
            save_and_acknowledge(job)
            clock.reset()
    return "end"


def _begun(job: Run, blocks: Iterator[Block | None]) -> Iterator[Block | None]:
    """The same blocks; the first one, or none, must be there before a file of an earlier run is emptied."""
    first = list(islice(blocks, 1))
    _begin(job)
    return chain(first, blocks)


def _kept_on_error(job: Run, blocks: Iterator[Block | None]) -> Iterator[Block | None]:
    """The same blocks; if the source fails in between, as a damaged file does, what came before is kept.

    A message system that does not answer was waited for already, and delivers what is not acknowledged again.
    """
    n_before = job.rows
    try:
        yield from blocks
    except StreamError as error:
        if job.rows > n_before and not isinstance(error, UnreachableError):
            _finish(job)
            raise _with_what_is_saved(job, error) from error
        raise


def _blocks(job: Run) -> Iterator[Block | None]:
    if job.jobs == 1:
        return blocks(job.source, job.columns, job.position, job.block, whole=job.answers is not None)
    size = partial(round_length, n_jobs=job.jobs)
    return one_ahead(blocks(job.source, job.columns, job.position, size, whole=True), load_kernels)


def _process_block(job: Run, block: Block) -> None:
    if job.limit is not None and job.rows + block.n_rows > job.limit:
        block = block.first(job.limit - job.rows)
    refused = job.bad_rows.refusal(block, job.rows)
    if refused is None:
        _process_rows(job, block)
        return
    row, error = refused
    _process_rows(job, block.first(row))
    _finish(job)  # what came before the row is learnt, and is kept
    raise _with_what_is_saved(job, error)


def _with_what_is_saved(job: Run, error: StreamError) -> StreamError:
    """The same error, which also says where to find what was learnt before it."""
    folder = next((kept.folder for kept in (job.keyed, job.checkpoints) if kept is not None), None)
    place, n_learnt = job.model_path or folder, job.rows - job.skipped
    if place is None or not job.learns or not n_learnt:
        return error
    learnt = counted(n_learnt, "row before it was", "rows before it were")
    are = "is" if n_learnt == 1 else "are"
    return StreamError(f"{str(error).removesuffix('.')}; {learnt} learnt and {are} saved in {place}.")


def _process_rows(job: Run, block: Block) -> None:
    before, events = job.n_seen, None
    if job.keyed is not None and not job.learns:
        job.keyed.note_unknown(block, job.columns.warn)
    novel = _novelty(job, block) if job.answers is not None and job.novel and len(block.X) else None
    if job.learns and len(block.X):
        _name_features(job)
        with job.timing.spent("learning"):
            events = _learn(job, block)
    if job.answers is not None and len(block.X):
        with job.timing.spent("predicting"):
            answers = _answers(job, block, novel)
        with job.timing.spent("writing"):
            job.answers.write(answers)
    _write_events(job, _events(job, before) if events is None else events)
    job.bad_rows.take(block, job.rows)
    job.rows += block.n_rows
    job.skipped += block.n_rows - len(block.X)
    job.position = block.position
    _report_skips(job)
    if job.alerts is not None:
        job.alerts.check(job)
    if job.on_block is not None:
        job.on_block(job, block)


def _learn(job: Run, block: Block) -> list[dict[str, Any]] | None:
    """Learn rows; models of many keys return their events at once."""
    if job.keyed is not None:
        return job.keyed.learn(block, wants_events=bool(job.event_sinks))
    _take_times(job, block)
    job.model._learn_rows(block.X)
    return None


def _take_times(job: Run, block: Block) -> None:
    """Keep the times of rows that are about to be learnt, so that events and reports can tell them."""
    if block.times is not None:
        if job.model._times is None:
            job.model._times = SampleTimes()
        job.model._times.add(job.n_seen, block.times)


def _report_skips(job: Run, *, at_end: bool = False) -> None:
    warn = job.columns.warn
    if job.log is not None:
        figures: dict[str, Any] = {
            "rows": job.rows,
            "skipped": job.skipped,
            "reasons": dict(job.bad_rows.reasons),
        }
        warn = partial(job.log, "skipped", level="warning", **figures)
    job.bad_rows.report(warn, at_end=at_end)


def _name_features(job: Run) -> None:
    """Give a new model the names of the columns that it learns; a model without names stays without."""
    is_new = job.columns.expected is None and job.columns.width is None
    if is_new and job.source.named and not hasattr(job.model, "feature_names_in_"):
        job.model.feature_names_in_ = np.array(job.columns.features, dtype=object)


def _novelty(job: Run, block: Block) -> list[bool]:
    """Whether rows are new to the model; to one that has learnt nothing, all are."""
    if job.keyed is not None:
        return job.keyed.novel(block)
    if not job.model.__sklearn_is_fitted__():
        return [True] * len(block.X)
    return job.model._novel_rows(block.X).tolist()


def _answers(job: Run, block: Block, novel: list[bool] | None) -> Iterator[tuple[Any, ...]]:
    names = block.ids if block.ids is not None else (job.rows + 1 + block.kept).tolist()
    if job.keyed is not None:
        keys = [] if job.columns.id == job.columns.key else [block.keys]
        columns = [names, *keys, job.keyed.predict(block)]
    else:
        columns = [names, job.model._predict_rows(block.X).tolist()]
    if job.similarity:
        keyed = job.keyed
        columns.append(job.model._score_rows(block.X).tolist() if keyed is None else keyed.similarity(block))
    if novel is not None:
        columns.append(novel)
    return zip(*columns, strict=True)


def _events(job: Run, since: int) -> list[dict[str, Any]]:
    if not job.event_sinks or job.n_seen == since:
        return []
    times = job.model._times if job.columns.time is not None else None
    return numbered(job.model.events(since=since), times)


def _write_events(job: Run, events: list[dict[str, Any]]) -> None:
    if events:
        with job.timing.spent("writing"):
            for sink in job.event_sinks:
                sink.write(events)


def _finish(job: Run) -> None:
    _report_skips(job, at_end=True)
    save_and_acknowledge(job)
    for sink in reversed(sinks_of(job).values()):  # predictions before webhooks, which may not answer
        sink.finish()
    if job.checkpoints is None:  # the server alone remembers, so a failure is an error
        job.source.acknowledge(job.position)


class _Clock:
    """Decides when a checkpoint is due and when the run ends."""

    def __init__(self, job: Run) -> None:
        self.job = job
        self.last_row = time.monotonic()
        self.reset()

    def reset(self) -> None:
        self.rows, self.time = self.job.rows, time.monotonic()

    def is_due(self) -> bool:
        if self.job.rows == self.rows:
            return False
        if isinstance(self.job.every, float):
            return time.monotonic() - self.time >= self.job.every
        return self.job.rows - self.rows >= self.job.every

    def ended(self, block: Block | None) -> str | None:
        """Why the run ends, or None if it continues."""
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
