"""The command `live`: a page in the browser that shows a model while it learns."""

from __future__ import annotations

import time
import webbrowser
from typing import TYPE_CHECKING

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
    column_options: options.ColumnOptions,
    bad_row_options: options.BadRowOptions,
    follow: options.Follow = False,
    limit: options.Limit = None,
    checkpoint_options: options.CheckpointOptions,
    page_options: options.PageOptions,
    json: options.Json = False,
) -> None:
    """Learn a stream and show the model on a page in the browser, which can pause and step."""
    screen = Screen(json)
    with exit_on_error(screen):
        from ..stream.resume import resume
        from .setup import checkpointed, job_of, load_model_if_exists, new_model, refuse_to_forget

        known = load_model_if_exists(model)
        start = known or new_model(model_options)
        job = job_of(start, source, column_options, options.RangeOptions(follow, limit), bad_row_options)
        job.model_path = model
        with checkpointed(job, checkpoint_options, screen):
            if resume(job) is not None:
                refuse_to_forget(job, known)
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
    return LivePage(Control(watcher, throttle), job.url, page_options.host, page_options.port)


def _announce(page: LivePage, screen: Screen, open_page: bool) -> None:
    throttle = page.control.throttle
    begins = " Learning begins when it is opened." if throttle is not None and throttle.waiting else ""
    screen.result({"url": page.url}, f"The page is at {page.url}.{begins} Ctrl-C ends it.")
    if open_page:
        webbrowser.open(page.url)


def _learn(job: Run, control: Control, screen: Screen, stay: bool) -> None:
    from ..stream.run import run
    from .progress import result_of

    with stoppable() as stopped:
        job.should_stop = lambda: bool(stopped())
        summary = run(job)
        control.end()
        screen.result(*result_of(job, summary))
        while stay and not stopped():
            time.sleep(0.1)
    if summary.ended == "stopped":
        exit_if_stopped(stopped())
