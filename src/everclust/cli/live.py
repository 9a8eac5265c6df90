"""The command `live`: a page in the browser that shows a model while it learns."""

from __future__ import annotations

import time
import webbrowser
from dataclasses import asdict
from typing import TYPE_CHECKING

from . import options as options
from .console import Screen, leave_if_stopped, stoppable, told
from .option_groups import spelt_out

if TYPE_CHECKING:
    from ..live_page.control import Control
    from ..live_page.page import LivePage
    from ..stream.job import Run


@spelt_out
def live(
    source: options.SourceUrl,
    *,
    model: options.OptionalModel = None,
    modes: options.Modes,
    reading: options.Reading,
    follow: options.Follow = False,
    limit: options.Limit = None,
    keeping: options.Keeping,
    showing: options.Showing,
    json: options.Json = False,
) -> None:
    """Learn a stream and show it on a page in the browser, where it can be paused and stepped through."""
    screen = Screen(json)
    with told(screen):
        from ..estimators.idat import IDAT
        from ..stream.resume import resume
        from .setup import checkpointed, job_of, loaded_if_there, refuse_to_forget

        known = loaded_if_there(model)
        job = job_of(known or IDAT(**asdict(modes)), source, reading, options.Stretch(follow, limit))
        job.model_path = model
        with checkpointed(job, keeping, screen):
            if resume(job) is not None:
                refuse_to_forget(job, known)
            with _page(job, showing) as page:
                _announce(page, screen, showing.open_page)
                _learn(job, page.control, screen, showing.stay)


def _page(job: Run, showing: options.Showing) -> LivePage:
    from ..live_page.control import Control
    from ..live_page.page import LivePage
    from ..live_page.throttle import Pace, PacedSource
    from ..live_page.watcher import Watcher

    at_once = job.source.endless if showing.wait is None else not showing.wait
    watcher = Watcher(job.model, lambda: job.columns.features)
    pace = Pace(showing.speed, None if at_once else watcher.first_viewer)
    job.source = PacedSource(job.source, pace)
    return LivePage(Control(watcher, pace), job.url, showing.host, showing.port)


def _announce(page: LivePage, screen: Screen, open_page: bool) -> None:
    pace = page.control.pace
    begins = " Learning begins when it is opened." if pace is not None and pace.waiting else ""
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
        leave_if_stopped(stopped())
