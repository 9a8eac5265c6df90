"""What was asked of fit, update or watch, and the run that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from ..estimators.clusterer import Clusterer
from ..stream.job import Run
from ..stream.sinks.events import EventSink, open_event_sink
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
from .progress import EventPrinter
from .results import add_alerts, add_results, refuse_astray_headers
from .setup import job_of


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

    @property
    def promised_model(self) -> Path | None:
        """The model that must be there afterwards; update has one before, and watch prints events."""
        return self.model if self.command == "fit" else None


def learning_job(asked: LearnRequest, model: Clusterer, screen: Screen) -> Run:
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


def refuse_checkpoints(checkpoints: CheckpointOptions) -> None:
    """Raise an error if a run of many models was given a checkpoint folder."""
    if checkpoints.checkpoint is not None:
        raise typer.BadParameter(
            "--checkpoint does not go with --key: the folder of the models holds the position, too; leave "
            "--checkpoint out."
        )


def _printed(screen: Screen) -> EventSink:
    """Events on standard output."""
    return open_event_sink("-") if screen.as_json else EventPrinter()
