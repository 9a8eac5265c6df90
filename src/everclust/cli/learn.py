"""What fit, update and watch have in common: a request of the command line becomes a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from ..estimators.incremental import IncrementalClusterer
from ..stream.job import Run
from ..stream.metrics import served
from ..stream.resume import resume
from ..stream.sinks.events import EventSink, open_event_sink
from .console import Screen
from .dominance import Dominance
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
from .progress import EventPrinter
from .results import add_alerts, add_results, keep_old_events, refuse_astray_headers
from .setup import (
    checkpointed,
    job_of,
    load_model,
    load_model_if_exists,
    new_model,
    refuse_to_forget,
    refuse_to_replace,
    refuse_to_replace_another,
    run_and_print,
    use_jobs,
)


@dataclass
class LearnRequest:
    """What was asked of fit, update or watch."""

    command: str
    source: str
    model: Path | None  # a folder, with a key
    keys: KeyOptions
    columns: ColumnOptions
    bad_rows: BadRowOptions
    ranges: RangeOptions
    checkpoints: CheckpointOptions
    results: Results
    alerts: AlertOptions
    metrics: str | None = None
    model_options: ModelOptions | None = None  # None: the model has them
    id: str | None = None
    jobs: int | None = None
    force: bool = False


def learn(asked: LearnRequest, screen: Screen) -> None:
    """Learn one model, or one for each key."""
    if asked.command == "watch" and asked.results.use_stdout:
        raise typer.BadParameter(
            "watch prints events to standard output; write predictions to a file, and leave --events - out."
        )
    if asked.keys.key is not None:
        from .keyed import learn_by_key

        learn_by_key(asked, screen)
    else:
        _learn_one(asked, screen)


def _learn_one(asked: LearnRequest, screen: Screen) -> None:
    known = _known(asked)
    model = known or new_model(asked.model_options or ModelOptions())
    job = learning_job(asked, model, screen)
    use_jobs(job, asked.jobs)
    with checkpointed(job, asked.checkpoints, screen):
        is_resumed = resume(job) is not None
        _refuse(job, asked, known, is_resumed)
        if known is not None:
            keep_old_events(job, screen)
        is_plain = asked.command == "fit" and not is_resumed and job.model._metric == "euclidean"
        with served(job, asked.metrics):
            run_and_print(job, screen, Dominance(screen.warn) if is_plain else None)


def _known(asked: LearnRequest) -> IncrementalClusterer | None:
    """The model that goes on; fit begins a new one."""
    if asked.command == "fit":
        return None
    if asked.command == "watch":
        return load_model_if_exists(asked.model)
    assert asked.model is not None
    return load_model(asked.model)


def _refuse(job: Run, asked: LearnRequest, known: IncrementalClusterer | None, is_resumed: bool) -> None:
    """Raise an error where a model would be lost."""
    if is_resumed and asked.command != "fit":
        refuse_to_forget(job, known)
    elif is_resumed:
        refuse_to_replace_another(job, asked.force)
    elif asked.command == "fit" and asked.model is not None:
        refuse_to_replace(asked.model, asked.force)


def learning_job(asked: LearnRequest, model: IncrementalClusterer, screen: Screen) -> Run:
    """The run that was asked for, with everything that it writes."""
    job = job_of(
        model,
        asked.source,
        asked.columns,
        asked.ranges,
        asked.bad_rows,
        asked.id,
        asked.keys.key,
        warn=screen.warn,
    )
    job.model_path = asked.model
    kept_in = asked.model if asked.keys.key is not None else asked.checkpoints.checkpoint
    headers = asked.results.webhook_header
    refuse_astray_headers(headers, [*asked.results.events, *asked.alerts.alert_to])
    add_results(job, asked.results, screen, kept_in)
    if asked.command == "watch":
        job.event_sinks = [_printed(screen), *job.event_sinks]
    add_alerts(job, asked.alerts, asked.checkpoints, screen, headers)
    return job


def _printed(screen: Screen) -> EventSink:
    """Events on standard output."""
    return open_event_sink("-") if screen.as_json else EventPrinter()
