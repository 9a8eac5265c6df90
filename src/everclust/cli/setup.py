"""From options to runs: what the stream commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ..estimators.idat import IDAT, load
from ..stream.batch import StreamError
from ..stream.blocks import Block, blocks
from ..stream.checkpoint import Checkpoints
from ..stream.columns import Columns
from ..stream.job import Run, Summary, let_go
from ..stream.run import run
from ..stream.sinks.events import open_event_sink
from ..stream.sinks.rows import open_sink
from ..stream.sources import open_source
from ..stream.urls import without_password
from ..text import quantity
from .console import Screen, leave_if_stopped, stoppable
from .options import Keeping, Reading, Results, Stretch, split_names
from .progress import progress, result_of

UNANSWERED_BLOCK = 8_192  # rows learnt at once when nobody waits for answers


def loaded(path: Path) -> IDAT:
    """The model in a file."""
    if not path.exists():
        raise StreamError(f"There is no model {path}; make one with everclust fit, or check the path.")
    return load(path)


def loaded_if_there(path: Path | None) -> IDAT | None:
    """The model in a file, if there is one yet."""
    return load(path) if path is not None and path.exists() else None


def columns_for(model: IDAT, reading: Reading, id: str | None = None) -> Columns:
    """The choice of columns; a model that has learnt some wants the same again."""
    if reading.missing not in ("skip", "error"):
        raise typer.BadParameter(f"--missing is {reading.missing!r}, but it must be skip or error.")
    names = getattr(model, "feature_names_in_", None)
    return Columns(
        split_names(reading.columns) or None,
        exclude=split_names(reading.exclude),
        label=reading.label,
        id=id,
        expected=None if names is None else [str(name) for name in names],
        width=getattr(model, "n_features_in_", None),
        missing=reading.missing,
    )


def job_of(model: IDAT, url: str, reading: Reading, stretch: Stretch, id: str | None = None) -> Run:
    """A run of a model over a source."""
    columns = columns_for(model, reading, id)
    source = open_source(url, columns, format=reading.format, header=reading.header, follow=stretch.follow)
    return Run(
        model,
        source,
        columns,
        url=without_password(url),
        block=UNANSWERED_BLOCK,
        limit=stretch.limit,
        idle=stretch.idle,
    )


def first_rows(model: IDAT, url: str, n_rows: int, reading: Reading, id: str | None) -> np.ndarray:
    """The first complete rows of a source."""
    columns = columns_for(model, reading, id)
    source = open_source(url, columns, format=reading.format, header=reading.header)
    parts: list[np.ndarray] = []
    with closing(source):
        for block in blocks(source, columns, None, n_rows, whole=False):
            parts += [] if block is None else [block.X]
            if sum(map(len, parts)) >= n_rows:
                break
    if not parts:
        raise StreamError(f"{without_password(url)} has no rows to draw.")
    return np.concatenate(parts)[:n_rows]


def add_results(job: Run, results: Results) -> None:
    """Let a run write answers and events."""
    if results.predictions is not None:
        job.answers, job.block = open_sink(results.predictions, heads_of(job)), results.block
    job.event_sinks = [open_event_sink(url) for url in results.events]


def heads_of(job: Run) -> list[str]:
    """What the columns of the answers are called."""
    return ["row" if job.columns.id is None else job.columns.id, "cluster"]


@contextmanager
def checkpointed(job: Run, keeping: Keeping, screen: Screen) -> Iterator[None]:
    """With a folder for checkpoints, if there is to be one; whatever happens, everything is closed."""
    job.every = keeping.rows_or_seconds()
    if job.answers is None and isinstance(job.every, int):
        job.block = min(job.block, job.every)
    try:
        if keeping.checkpoint is not None:
            job.checkpoints = Checkpoints(keeping.checkpoint, screen.warn)
            job.checkpoints.open()
        yield
    finally:
        let_go(job)


def refuse_to_replace(path: Path, force: bool) -> None:
    """A model that is there already may be precious."""
    if path.exists() and not force:
        raise StreamError(
            f"{path} is there already; go on with it with everclust update, or replace it with --force."
        )


def refuse_to_forget(job: Run, known: IDAT | None) -> None:
    """Somebody else may have gone on with the model since the checkpoint."""
    if known is not None and job.checkpoints is not None and known.n_samples_seen_ > job.n_seen:
        raise StreamError(
            f"{job.model_path} has learnt {quantity(known.n_samples_seen_, 'sample')}, but its checkpoint in "
            f"{job.checkpoints.folder} only {job.n_seen:,}: something else was learnt in between; "
            "choose another checkpoint folder."
        )


def carry_out(
    job: Run,
    screen: Screen,
    look: Callable[[Run, Block], None] | None = None,
    tell: Callable[[Run, Summary], tuple[dict[str, Any], str]] = result_of,
) -> None:
    """Run until the source ends or a signal comes, show how far it is, and tell what came of it."""
    with stoppable() as stopped, progress(screen) as show:

        def on_block(at: Run, block: Block) -> None:
            show(at, block)
            if look is not None:
                look(at, block)

        job.should_stop = lambda: bool(stopped())
        job.on_block = on_block
        summary = run(job)
    screen.result(*tell(job, summary))
    leave_if_stopped(stopped())
