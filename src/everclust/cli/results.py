"""What a run writes besides its model: predictions, events and alerts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import typer

from ..stream.alerts import WINDOW, Alerts, conditions_of, open_alert_sink
from ..stream.batch import StreamError
from ..stream.job import Run
from ..stream.secrets import expanded
from ..stream.sinks.events import length_until, open_event_sink, temporary_queue
from ..stream.sinks.json_lines import JsonLinesFile
from ..stream.sinks.rotating_file import Rotation, rotation_of
from ..stream.sinks.rows import ParquetSink, TextSink, open_sink
from ..stream.sinks.webhook import webhook_heads
from ..stream.write_file import refuse_missing_folder
from ..text import counted
from .console import Screen
from .options import AlertOptions, CheckpointOptions, Results


def add_results(job: Run, results: Results, screen: Screen, kept_in: Path | None) -> None:
    """Open the files, streams and webhooks that a run writes predictions and events to.

    `kept_in` is the checkpoint folder of a run that has one.
    """
    if results.novel and results.predictions is None:
        raise typer.BadParameter("--novel adds a column to --predictions, but there are no --predictions.")
    if results.predictions == "-" and "-" in results.events:
        raise typer.BadParameter(
            "--predictions and --events would both be written to standard output; write one to a file."
        )
    files = [results.predictions, *results.events]
    rotation = rotation_for(results.rotate, files, kept_in)
    if results.predictions is not None:
        job.novel, job.block = results.novel, results.block
        job.answers = open_sink(results.predictions, heads_of(job), rotation=rotation)
    queue = temporary_queue if job.model_path is None else partial(queue_beside, job.model_path)
    heads = webhook_heads(results.webhook_header)
    job.event_sinks = [open_event_sink(url, queue, screen.warn, rotation, heads) for url in results.events]


def rotation_for(text: str | None, files: Sequence[str | None], kept_in: Path | None) -> Rotation | None:
    """When to begin new files; `kept_in` is the folder of the checkpoints that they can be cut back to."""
    if text is None:
        return None
    if all(file in (None, "-") or "://" in str(file) for file in files):
        raise typer.BadParameter("--rotate begins new files of predictions or events, but there are none.")
    return rotation_of(text)._replace(start=_beside(kept_in, "rotation"))


def _beside(folder: Path | None, suffix: str) -> Path | None:
    """A file beside a folder of checkpoints: one of models holds nothing else."""
    return None if folder is None else folder.resolve().with_name(f"{folder.resolve().name}.{suffix}")


def refuse_astray_headers(headers: Sequence[str], targets: Sequence[str]) -> None:
    """Raise an error if headers go to no webhook, or to several hosts, because they may be secrets."""
    hosts = {
        urlsplit(expanded(target)).netloc.rpartition("@")[2] for target in targets if _is_webhook(target)
    }
    if headers and not hosts:
        raise typer.BadParameter("--webhook-header is for webhooks, but there is none.")
    if headers and len(hosts) > 1:
        raise typer.BadParameter(
            f"--webhook-header goes to all webhooks, but these are of {len(hosts)} hosts, and a header "
            "may be a secret; let a run have webhooks of one host, or put user and password into the URLs."
        )


def _is_webhook(target: str) -> bool:
    return expanded(target).startswith(("http://", "https://"))


def add_alerts(
    job: Run,
    alert_options: AlertOptions,
    checkpoint_options: CheckpointOptions,
    screen: Screen,
    headers: Sequence[str] = (),
) -> None:
    """Let a run alert; alerts wait beside the model or in the checkpoint folder until they are accepted."""
    if not alert_options.alert_to and not alert_options.alert_on:
        return
    if not alert_options.alert_to or not alert_options.alert_on:
        raise typer.BadParameter("--alert-on says when and --alert-to whom to alert; give both.")
    conditions = conditions_of(",".join(alert_options.alert_on))
    if conditions.limits and job.answers is None:  # shares are measured between two blocks
        job.block = min(job.block, WINDOW)
    queue: Callable[[str], Path] = temporary_queue
    if job.model_path is not None:
        queue = partial(queue_beside, job.model_path)
    elif checkpoint_options.checkpoint is not None:
        queue = partial(queue_beside, checkpoint_options.checkpoint / "alerts")
    heads = webhook_heads(headers)
    sinks = [open_alert_sink(target, queue, screen.warn, heads) for target in alert_options.alert_to]
    job.alerts = alerts = Alerts(conditions, sinks, _beside(checkpoint_options.checkpoint, "alerts"))
    job.event_sinks = [*job.event_sinks, alerts]


def queue_beside(model: Path, mark: str) -> Path:
    """The file beside a model that keeps events until a webhook accepts them."""
    return model.with_name(f"{model.name}.{mark}.queue")


def heads_of(job: Run) -> list[str]:
    """Names of the columns of the predictions."""
    more = [name for name, is_there in (("similarity", job.similarity), ("novel", job.novel)) if is_there]
    names = ["row" if job.columns.id is None else job.columns.id]
    names += [] if job.columns.key in (None, *names) else [str(job.columns.key)]
    return [*names, "cluster", *more]


def refuse_to_overwrite(job: Run, read: Sequence[Path] = ()) -> None:
    """Raise an error if a file that is written is also read, or written twice, or has no folder."""
    sources = [path for path in getattr(job.source, "paths", ()) if path != "-"]
    taken = {os.path.realpath(path): "read" for path in [*sources, *read]}
    for path in _written(job):
        place = os.path.realpath(path)
        if place in taken and not _is_device(place):
            raise StreamError(
                f"{path} would be written, but it is {taken[place]} in the same run; choose another file."
            )
        taken[place] = "written"
        refuse_missing_folder(path)


def _written(job: Run) -> list[str]:
    """Files that a run writes."""
    found = [] if job.model_path is None or not job.learns else [str(job.model_path)]
    sinks: list[Any] = [job.answers, job.bad_rows.file, *job.event_sinks, *getattr(job.alerts, "sinks", ())]
    files = [sink for sink in sinks if isinstance(sink, JsonLinesFile | TextSink | ParquetSink)]
    return [*found, *(sink.name for sink in files if sink.name != "-")]


def _is_device(place: str) -> bool:
    return os.path.exists(place) and not os.path.isfile(place) and not os.path.isdir(place)


def keep_old_events(job: Run, screen: Screen) -> None:
    """Let a run that continues a model add its events to those in the file; later ones are removed."""
    for sink in job.event_sinks:
        key = f"events {sink.name}"
        if key in job.marks or not isinstance(sink, JsonLinesFile) or not os.path.isfile(sink.name):
            continue
        job.marks[key], n_after = length_until(sink.name, job.n_seen)
        if n_after:
            screen.warn(
                f"{sink.name} held {counted(n_after, 'event')} after sample {job.n_seen:,}, the last one "
                "that the model has learnt; they were removed."
            )
