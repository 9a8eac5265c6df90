"""The command `live`: a page in the browser that shows a model while it learns."""

from __future__ import annotations

import time
import webbrowser
from typing import TYPE_CHECKING

from ..stream.locks import only_writer
from . import options as options
from .console import Screen, exit_if_stopped, exit_on_error, stoppable
from .option_groups import expand_groups

if TYPE_CHECKING:
    from ..live_page.control import Control
    from ..live_page.page import LivePage
    from ..stream.job import Run


@expand_groups
def live(
    source: options.SourceUrl,
    *,
    model: options.OptionalModel = None,
    model_options: options.ModelOptions,
    id: options.Id = None,
    column_options: options.ColumnOptions,
    bad_row_options: options.BadRowOptions,
    follow: options.Follow = False,
    limit: options.Limit = None,
    checkpoint_options: options.CheckpointOptions,
    results: options.Results,
    page_options: options.PageOptions,
    config: options.Config = None,
    log_format: options.LogFormat = None,
    json: options.Json = False,
) -> None:
    """Learn a stream and show the model on a page in the browser, which can pause and step."""
    screen = Screen(json, results.use_stdout, log_format)
    with exit_on_error(screen), only_writer(model):
        from ..stream.resume import resume
        from . import setup
        from .load import load_model_if_exists, new_model
        from .refusals import refuse_to_forget
        from .results import add_results, keep_old_events, refuse_astray_headers

        known = load_model_if_exists(model)
        start, ranges = known or new_model(model_options), options.RangeOptions(follow, limit)
        job = setup.job_of(start, source, column_options, ranges, bad_row_options, id, warn=screen.warn)
        job.model_path = model
        refuse_astray_headers(results.webhook_header, results.events)
        add_results(job, results, screen, checkpoint_options.checkpoint)
        with setup.checkpointed(job, checkpoint_options, screen):
            if resume(job) is not None:
                refuse_to_forget(job, known)
            if known is not None:
                keep_old_events(job, screen)
            with _page(job, page_options) as page:
                _announce(page, screen, page_options.open_page)
                _learn(job, page.control, screen, page_options.stay)


def _page(job: Run, page_options: options.PageOptions) -> LivePage:
    from ..live_page.control import Control
    from ..live_page.page import LivePage
    from ..live_page.throttle import Throttle, ThrottledSource
    from ..live_page.watcher import Watcher

    at_once = job.source.endless if page_options.wait is None else not page_options.wait
    watcher = Watcher(job.model, lambda: job.columns.features)
    throttle = Throttle(page_options.speed, None if at_once else watcher.first_viewer)
    job.source = ThrottledSource(job.source, throttle)
    shown = page_options.host, page_options.port, page_options.view_only
    return LivePage(Control(watcher, throttle), job.url, *shown)


def _announce(page: LivePage, screen: Screen, open_page: bool) -> None:
    throttle = page.control.throttle
    begins = " Learning begins when it is opened." if throttle is not None and throttle.waiting else ""
    screen.announce({"url": page.shown}, f"The page is at {page.shown}.{begins} Ctrl-C ends it.")
    if open_page:
        webbrowser.open(page.url)


def _learn(job: Run, control: Control, screen: Screen, stay: bool) -> None:
    from ..stream.run import run
    from .log import begin_log
    from .progress import result_of
    from .refusals import refuse_empty
    from .systemd import notified

    with stoppable() as stopped, notified(job):
        job.should_stop = lambda: bool(stopped())
        begin_log(job, screen.log)
        summary = run(job)
        control.end()
        if not stopped():
            refuse_empty(job, summary)
        screen.result(*result_of(job, summary))
        while stay and not stopped():
            time.sleep(0.1)
    if summary.ended == "stopped":
        exit_if_stopped(stopped())
