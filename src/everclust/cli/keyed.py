"""The commands fit, update and watch with `--key`: one model for each value of a column."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import typer

from ..model_folder import INDEX
from ..model_set import IN_MEMORY, ModelSet
from ..stream.batch import StreamError
from ..stream.job import Run
from ..stream.keyed import KeyedModels
from ..stream.metrics import served
from ..stream.resume import resume_keyed
from ..stream.sinks.events import EventSink
from .console import Screen
from .options import (
    AlertOptions,
    BadRowOptions,
    CheckpointOptions,
    ColumnOptions,
    KeyOptions,
    ModelOptions,
    RangeOptions,
    Results,
)
from .results import add_alerts, add_results, keep_old_events
from .setup import checkpointed, job_of, new_model, run_and_print


@dataclass
class KeyedRequest:
    """What was asked of a command, as far as runs of many models need it."""

    command: str
    source: str
    folder: Path | None
    keys: KeyOptions
    columns: ColumnOptions
    ranges: RangeOptions
    bad_rows: BadRowOptions
    checkpoints: CheckpointOptions
    model_options: ModelOptions | None = None  # None: the folder has them
    results: Results | None = None
    event_sinks: tuple[EventSink, ...] = ()
    id: str | None = None
    jobs: int | None = None
    force: bool = False
    metrics: str | None = None
    alerts: AlertOptions = field(default_factory=AlertOptions)


def run_keyed(asked: KeyedRequest, screen: Screen) -> None:
    """Learn one model for each key."""
    folder = _checked(asked)
    is_there = (folder / INDEX).exists()
    if asked.command == "update" and not is_there:
        raise StreamError(
            f"There are no models in {folder}; make some with everclust fit, or check the path."
        )
    model = None if is_there or asked.model_options is None else new_model(asked.model_options)
    in_memory = asked.keys.keys_in_memory or IN_MEMORY
    with closing(ModelSet(folder, model, in_memory=in_memory)) as models:
        job = _job(asked, models, screen)
        with checkpointed(job, asked.checkpoints, screen):
            _resume(job, asked, is_there, screen)
            with served(job, asked.metrics):
                run_and_print(job, screen)


def _checked(asked: KeyedRequest) -> Path:
    """The folder of the models; what does not go with `--key` is refused."""
    if asked.jobs is not None:
        raise typer.BadParameter("--jobs does not go with --key, whose models learn in order; leave it out.")
    if asked.checkpoints.checkpoint is not None:
        raise typer.BadParameter(
            "--checkpoint does not go with --key: the folder of the models holds the position, too; leave "
            "--checkpoint out."
        )
    if asked.folder is None:
        raise typer.BadParameter("--key needs --model, the folder of the models.")
    if asked.force:
        raise typer.BadParameter(
            f"--force does not go with --key; delete the folder {asked.folder}, or choose another one."
        )
    if asked.folder.exists() and not asked.folder.is_dir():
        raise StreamError(
            f"{asked.folder} is a file, but --key needs a folder of models; choose another path."
        )
    return asked.folder


def _job(asked: KeyedRequest, models: ModelSet, screen: Screen) -> Run:
    job = job_of(
        models._template,
        asked.source,
        asked.columns,
        asked.ranges,
        asked.bad_rows,
        asked.id,
        asked.keys.key,
        warn=screen.warn,
    )
    job.model_path, job.keyed = asked.folder, KeyedModels(models)
    if asked.results is not None:
        add_results(job, asked.results, screen, asked.folder)
    job.event_sinks = [*job.event_sinks, *asked.event_sinks]
    add_alerts(job, asked.alerts, asked.checkpoints, screen)
    return job


def _resume(job: Run, asked: KeyedRequest, is_there: bool, screen: Screen) -> None:
    if resume_keyed(job):
        return
    if is_there and asked.command == "fit":
        raise StreamError(
            f"{asked.folder} holds models of another source already; continue them with everclust update, or "
            "choose another folder."
        )
    if is_there:
        keep_old_events(job, screen)
