"""From options to runs, for the commands that read streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..estimators.clusterer import Clusterer, n_threads
from ..estimators.without_sklearn import HandoverClusterer
from ..stream.bad_rows import BadRows
from ..stream.batch import StreamError
from ..stream.blocks import Block
from ..stream.checkpoint import Checkpoints
from ..stream.columns import Columns
from ..stream.dialect import Dialect, dialect_of
from ..stream.job import Run, Summary, close
from ..stream.prompt import PromptSource
from ..stream.run import run
from ..stream.sources import open_source
from ..stream.urls import without_password
from .console import Screen, exit_if_stopped, stoppable
from .load import load_model
from .log import begin_log
from .options import (
    BadRowOptions,
    CheckpointOptions,
    ColumnOptions,
    KeyOptions,
    RangeOptions,
    split_columns,
)
from .progress import progress, result_of
from .refusals import refuse_empty, refuse_without_rows
from .results import refuse_to_overwrite
from .systemd import notified

if TYPE_CHECKING:
    from ..stream.keyed import KeyedModels

UNANSWERED_BLOCK = 8_192  # rows learnt at once when no predictions are written


def columns_for(
    model: Clusterer, column_options: ColumnOptions, id: str | None = None, key: str | None = None
) -> Columns:
    """The columns to read; a model that has learnt some gets the same ones again."""
    if column_options.time_format is not None and column_options.time is None:
        raise typer.BadParameter("--time-format says how --time is written, but there is no --time.")
    names = getattr(model, "feature_names_in_", None)
    return Columns(
        split_columns(*column_options.columns) or None,
        exclude=split_columns(*column_options.exclude),
        label=column_options.label,
        id=id,
        time=column_options.time,
        time_format=column_options.time_format,
        key=key,
        expected=None if names is None else [str(name) for name in names],
        width=getattr(model, "n_features_in_", None),
    )


def dialect_for(column_options: ColumnOptions) -> Dialect:
    """How the text of a source is written."""
    return dialect_of(column_options.delimiter, column_options.decimal, column_options.encoding)


def bad_rows_for(bad_row_options: BadRowOptions) -> BadRows:
    """What a run does with rows that cannot be learnt."""
    for option, value in (
        ("--missing", bad_row_options.missing),
        ("--on-bad-row", bad_row_options.on_bad_row),
    ):
        if value not in ("skip", "error"):
            raise typer.BadParameter(f"{option} is {value!r}, but it must be skip or error.")
    return BadRows(
        missing=bad_row_options.missing,
        on_bad_row=bad_row_options.on_bad_row,
        max_rejects=bad_row_options.max_rejects,
        file=bad_row_options.rejects,
    )


def job_of(
    model: Clusterer,
    url: str,
    column_options: ColumnOptions,
    range_options: RangeOptions,
    bad_row_options: BadRowOptions,
    id: str | None = None,
    key: str | None = None,
    *,
    warn: Callable[[str], None],
) -> Run:
    """A run of a model over a source."""
    bad_rows = bad_rows_for(bad_row_options)
    columns = columns_for(model, column_options, id, key)
    dialect = dialect_for(column_options)
    source = open_source(
        url,
        columns,
        format=column_options.format,
        header=column_options.header,
        follow=range_options.follow,
        **dialect._asdict(),
        warn=warn,
    )
    return Run(
        model,
        source,
        columns,
        url=without_password(url),
        dialect=dialect,
        block=UNANSWERED_BLOCK,
        bad_rows=bad_rows,
        limit=range_options.limit,
        idle=range_options.idle,
    )


def asking_job(
    path: Path,
    url: str,
    key_options: KeyOptions,
    column_options: ColumnOptions,
    range_options: RangeOptions,
    bad_row_options: BadRowOptions,
    id: str | None = None,
    *,
    warn: Callable[[str], None],
) -> Run:
    """A run that asks a model, or the model of each row's key, and learns nothing."""
    key = key_options.key
    keyed = None if key is None else _saved_models(path, key_options)
    model = load_model(path) if keyed is None else keyed.models._template
    job = job_of(model, url, column_options, range_options, bad_row_options, id, key, warn=warn)
    job.learns, job.keyed = False, keyed
    return job


def _saved_models(path: Path, key_options: KeyOptions) -> KeyedModels:
    from ..many_models.model_set import IN_MEMORY  # imports scikit-learn, which takes seconds
    from ..many_models.saved_models import SavedModels
    from ..stream.keyed import KeyedModels

    if not path.is_dir():
        is_there = "is a file" if path.exists() else "does not exist"
        raise StreamError(f"{path} {is_there}, but --key needs a folder of models; check the path.")
    return KeyedModels(SavedModels(path, key_options.keys_in_memory or IN_MEMORY))


def use_jobs(job: Run, jobs: int | None) -> None:
    """Let a run learn on several threads, unless its rows are wanted one after the other."""
    if jobs is None:
        return
    if not isinstance(job.model, HandoverClusterer):
        raise typer.BadParameter("--jobs does not go with --algorithm idat, which learns every row in order.")
    if job.source.endless:
        raise typer.BadParameter(
            "--jobs reads many rows before it learns them, but this source has no end; leave --jobs out."
        )
    if job.answers is not None:
        raise typer.BadParameter(
            "--predictions are made block by block, in order, but --jobs learns out of order; leave one of "
            "them out, or run everclust predict afterwards."
        )
    job.jobs = n_threads(jobs)
    job.model.n_jobs = job.jobs


@contextmanager
def checkpointed(
    job: Run, checkpoint_options: CheckpointOptions, screen: Screen, read: Sequence[Path] = ()
) -> Iterator[None]:
    """Open the checkpoint folder, if there is one; close everything at the end, also after an error.

    `read` are files besides the source that the run must not write.
    """
    refuse_to_overwrite(job, read)
    job.columns.warn = screen.warn
    job.every = checkpoint_options.rows_or_seconds()
    if job.answers is None and isinstance(job.every, int):
        job.block = min(job.block, job.every)
    if job.answers is not None and isinstance(job.every, float):
        job.source = PromptSource(job.source, job.every)
    try:
        if checkpoint_options.checkpoint is not None:
            job.checkpoints = Checkpoints(checkpoint_options.checkpoint, screen.warn)
            job.checkpoints.open()
        yield
    finally:
        close(job)


def run_and_print(
    job: Run,
    screen: Screen,
    on_block: Callable[[Run, Block], None] | None = None,
    summarise: Callable[[Run, Summary], tuple[dict[str, Any], str]] = result_of,
    *,
    promised: Path | None = None,
) -> None:
    """Run until the source ends or a signal comes; show the progress and print the result.

    `promised` is the model that must be there afterwards: that of fit, even if no row comes.
    """
    with stoppable() as stopped, progress(screen) as show_progress, notified(job):

        def after_block(at: Run, block: Block) -> None:
            show_progress(at, block)
            if on_block is not None:
                on_block(at, block)

        job.columns.warn = screen.warn
        job.should_stop = lambda: bool(stopped())
        job.on_block = after_block
        begin_log(job, screen.log)
        summary = run(job)
    if job.learns and not stopped():
        refuse_empty(job, summary)
        refuse_without_rows(job, promised)
    screen.result(*summarise(job, summary))
    exit_if_stopped(stopped())
