"""From options to runs, for the commands that read streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from ..estimators.algorithms import ALGORITHMS, load
from ..estimators.everclust import EverClust
from ..estimators.incremental import IncrementalClusterer, n_threads
from ..many_models.model_set import IN_MEMORY
from ..many_models.saved_models import SavedModels
from ..stream.bad_rows import BadRows
from ..stream.batch import StreamError
from ..stream.blocks import Block, blocks
from ..stream.checkpoint import Checkpoints
from ..stream.columns import Columns, listed
from ..stream.dialect import Dialect, dialect_of
from ..stream.job import Run, Summary, close
from ..stream.keyed import KeyedModels
from ..stream.prompt import PromptSource
from ..stream.run import run
from ..stream.sources import open_source
from ..stream.urls import without_password
from ..text import counted
from .console import Screen, exit_if_stopped, stoppable
from .log import begin_log
from .options import (
    BadRowOptions,
    CheckpointOptions,
    ColumnOptions,
    KeyOptions,
    ModelOptions,
    RangeOptions,
    split_names,
)
from .progress import progress, result_of
from .results import refuse_to_overwrite
from .systemd import notified

UNANSWERED_BLOCK = 8_192  # rows learnt at once when no predictions are written


def new_model(model_options: ModelOptions) -> IncrementalClusterer:
    """A model that has learnt nothing."""
    algorithm, metric = model_options.algorithm, model_options.metric
    if algorithm not in ALGORITHMS:
        raise typer.BadParameter(f"--algorithm is {algorithm!r}, but it must be {' or '.join(ALGORITHMS)}.")
    if metric is None:
        return ALGORITHMS[algorithm](max_nodes=model_options.max_nodes)
    if algorithm == "idat":
        raise typer.BadParameter("--metric does not go with --algorithm idat, which is always Euclidean.")
    return EverClust(metric=metric, max_nodes=model_options.max_nodes)


def load_model(path: Path) -> IncrementalClusterer:
    """Load a model that must exist."""
    if not path.exists():
        raise StreamError(f"There is no model {path}; make one with everclust fit, or check the path.")
    if path.is_dir():
        raise StreamError(
            f"{path} is a folder; if it holds models by key, name the column of the keys with --key of fit, "
            "update, watch, predict or score; info, report, plot and export show one of them with --of KEY."
        )
    return load(path)


def load_one(path: Path, key: str | None) -> IncrementalClusterer:
    """Load a model from its file or, by its key, from a folder of models."""
    if not path.is_dir():
        if key is not None:
            raise StreamError(f"--of chooses from a folder of models, but {path} is none; leave --of out.")
        return load_model(path)
    models = SavedModels(path, 1)
    found = None if key is None else models.model(key)
    if found is None:
        keys = sorted(map(str, models.files))
        what = f"{path} holds {counted(len(models), 'model')} by key"
        there = f"{what} and none of {key!r}" if key is not None else what
        raise StreamError(f"{there}; choose one with --of KEY, which may be {listed(keys)}.")
    return found


def load_model_if_exists(path: Path | None) -> IncrementalClusterer | None:
    """Load a model if its file exists."""
    return load_model(path) if path is not None and path.exists() else None


def columns_for(
    model: IncrementalClusterer, column_options: ColumnOptions, id: str | None = None, key: str | None = None
) -> Columns:
    """The columns to read; a model that has learnt some gets the same ones again."""
    if column_options.time_format is not None and column_options.time is None:
        raise typer.BadParameter("--time-format says how --time is written, but there is no --time.")
    names = getattr(model, "feature_names_in_", None)
    return Columns(
        split_names(column_options.columns) or None,
        exclude=split_names(column_options.exclude),
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
    model: IncrementalClusterer,
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
    if not path.is_dir():
        is_there = "is a file" if path.exists() else "does not exist"
        raise StreamError(f"{path} {is_there}, but --key needs a folder of models; check the path.")
    return KeyedModels(SavedModels(path, key_options.keys_in_memory or IN_MEMORY))


class OneKey(NamedTuple):
    """The key of one model of a folder, and the column that holds the keys."""

    column: str
    key: str


def one_key(folder: Path, key: str, column: str | None) -> OneKey:
    """A key, with the column that was named or else the one that the models were learnt with."""
    record = KeyedModels(SavedModels(folder, 1)).record
    column = column or (None if record is None else record["settings"]["key"])
    if column is None:
        raise StreamError(
            f"The models in {folder} were saved by a program of its own, so nothing says which column of the "
            "source holds the keys; name it with --key."
        )
    return OneKey(column, key)


def first_rows(
    model: IncrementalClusterer,
    url: str,
    n_rows: int,
    column_options: ColumnOptions,
    id: str | None,
    only: OneKey | None,
) -> np.ndarray:
    """The first complete rows of a source, or of one key in it."""
    columns = columns_for(model, column_options, id, None if only is None else only.column)
    source = open_source(
        url,
        columns,
        format=column_options.format,
        header=column_options.header,
        **dialect_for(column_options)._asdict(),
    )
    parts: list[np.ndarray] = []
    with closing(source):
        for block in blocks(source, columns, None, n_rows, whole=False):
            parts += [] if block is None else [_rows_of(block, only)]
            if sum(map(len, parts)) >= n_rows:
                break
    if not sum(map(len, parts)):
        whose = "" if only is None else f" of the key {only.key!r} in column {only.column!r}"
        raise StreamError(f"{without_password(url)} has no rows{whose} to draw; check the source.")
    return np.concatenate(parts)[:n_rows]


def _rows_of(block: Block, only: OneKey | None) -> np.ndarray:
    return block.X if only is None else block.X[[key == only.key for key in block.keys or []]]


def use_jobs(job: Run, jobs: int | None) -> None:
    """Let a run learn on several threads, unless its rows are wanted one after the other."""
    if jobs is None:
        return
    if not isinstance(job.model, EverClust):
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
    job.model.set_params(n_jobs=job.jobs)


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


def refuse_to_replace(path: Path, force: bool) -> None:
    """Raise an error instead of overwriting a model, unless `--force` was given."""
    if path.exists() and not force:
        raise StreamError(
            f"{path} exists already; continue it with everclust update, or replace it with --force."
        )


def refuse_to_replace_another(job: Run, force: bool) -> None:
    """Raise an error if a resumed run would replace a model that is not from its checkpoints."""
    path, checkpoints = job.model_path, job.checkpoints
    if path is None or checkpoints is None or force or not path.exists() or checkpoints.holds(path):
        return
    raise StreamError(
        f"{path} is not the model of the checkpoints in {checkpoints.folder}, so something else was learnt "
        "in between; choose another model or another checkpoint folder, or replace the model with --force."
    )


def refuse_to_forget(job: Run, known: IncrementalClusterer | None) -> None:
    """Raise an error if the model was trained further after its checkpoint was written."""
    if known is not None and job.checkpoints is not None and known.n_samples_seen_ > job.n_seen:
        raise StreamError(
            f"{job.model_path} has learnt {counted(known.n_samples_seen_, 'sample')}, but its checkpoint in "
            f"{job.checkpoints.folder} only {job.n_seen:,}: something else was learnt in between; "
            "choose another checkpoint folder."
        )


def refuse_empty(job: Run, summary: Summary) -> None:
    """Raise an error if every row was skipped: there is no model then."""
    if summary.skipped and not job.n_seen:
        hint = "correct the rows, or choose other columns"
        if any(reason.startswith("no time in column") for reason in job.bad_rows.reasons):
            hint += (
                "; times are written as 2026-11-18T01:30:00Z, as seconds since 1970 or as --time-format says"
            )
        raise StreamError(
            f"Nothing was learnt, because all {counted(summary.skipped, 'row')} were skipped: "
            f"{job.bad_rows.summary()}; {hint}."
        )


def run_and_print(
    job: Run,
    screen: Screen,
    on_block: Callable[[Run, Block], None] | None = None,
    summarise: Callable[[Run, Summary], tuple[dict[str, Any], str]] = result_of,
) -> None:
    """Run until the source ends or a signal comes; show the progress and print the result."""
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
    screen.result(*summarise(job, summary))
    exit_if_stopped(stopped())
