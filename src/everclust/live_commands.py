"""The command line: a stream that is learnt while somebody watches."""

from __future__ import annotations

import time
import webbrowser
from typing import Annotated

import typer

from . import stream_options as options
from .estimator import IDAT, load
from .live_page.control import Control
from .live_page.pace import Pace, PacedSource
from .live_page.show import LivePage
from .live_page.watcher import Watcher
from .stream.run import EVERY, Run, resume, run
from .stream_commands import (
    _checkpointed,
    _columns,
    _job,
    _leave_if_stopped,
    _record,
    _refuse_to_forget,
    _sentence,
)
from .stream_screen import Screen, stoppable, told

_PAGE = "Page"

Host = Annotated[
    str,
    typer.Option(
        "--host", help="Address to listen at; others than this machine need a token.", rich_help_panel=_PAGE
    ),
]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port; a free one by default.", rich_help_panel=_PAGE)
]
Speed = Annotated[
    float | None,
    typer.Option("--speed", min=0.01, help="Rows a second; as fast as can be by default."),
]
Wait = Annotated[
    bool | None,
    typer.Option(
        "--wait/--no-wait", help="Begin when the page is opened? By default if the source has an end."
    ),
]
Stay = Annotated[bool, typer.Option("--stay/--leave", help="Stay when the source ends?")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser.", rich_help_panel=_PAGE)]


def live(
    source: options.SourceUrl,
    model: options.OptionalModel = None,
    clusters: options.Clusters = "components",
    metric: options.Metric = "euclidean",
    max_nodes: options.MaxNodes = None,
    columns: options.ColumnNames = None,
    exclude: options.Exclude = None,
    label: options.Label = None,
    missing: options.Missing = "skip",
    format: options.Format = None,
    header: options.Header = True,
    follow: options.Follow = False,
    limit: options.Limit = None,
    checkpoint: options.CheckpointFolder = None,
    every: options.Every = str(EVERY),
    speed: Speed = None,
    wait: Wait = None,
    stay: Stay = True,
    host: Host = "127.0.0.1",
    port: Port = 0,
    open_page: Open = False,
    json: options.Json = False,
) -> None:
    """Learn a stream and show it on a page in the browser, where it can be paused and stepped through."""
    screen = Screen(json)
    with told(screen):
        known = load(model) if model is not None and model.exists() else None
        choice = _columns(columns, exclude, label, None, missing, known)
        new = IDAT(clusters=clusters, metric=metric, max_nodes=max_nodes)
        job = _job(known or new, source, choice, format=format, header=header, follow=follow)
        job.model_path, job.limit = model, limit
        with _checkpointed(job, checkpoint, every, screen):
            if resume(job) is not None and known is not None:
                _refuse_to_forget(job, known)
            page = _page(job, speed, job.source.endless if wait is None else not wait, host, port)
            with page:
                _announce(page, screen, open_page)
                _learn(job, page.control, screen, stay)


def _page(job: Run, speed: float | None, at_once: bool, host: str, port: int) -> LivePage:
    watcher = Watcher(job.model, lambda: job.columns.features)
    pace = Pace(speed, None if at_once else watcher.first_viewer)
    job.source = PacedSource(job.source, pace)
    return LivePage(Control(watcher, pace), job.url, host, port)


def _announce(page: LivePage, screen: Screen, open_page: bool) -> None:
    pace = page.control.pace
    begins = " Learning begins when it is opened." if pace is not None and pace.waiting else ""
    if screen.as_json:
        screen.result({"url": page.url}, "")
    else:
        typer.echo(f"The page is at {page.url}.{begins} Ctrl-C ends it.")
    if open_page:
        webbrowser.open(page.url)


def _learn(job: Run, control: Control, screen: Screen, stay: bool) -> None:
    with stoppable() as stopped:
        job.should_stop = lambda: bool(stopped())
        summary = run(job)
        control.end()
        screen.result(_record(job, summary), _sentence(job, summary))
        while stay and not stopped():
            time.sleep(0.1)
    if summary.ended == "stopped":
        _leave_if_stopped(stopped())
