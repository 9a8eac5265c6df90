"""What `everclust bench run` prints: what is left out, progress, and how the jobs ended."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from ..text import counted
from .console import Screen

if TYPE_CHECKING:
    from ..benchmark.run.jobs import Job, Result
    from ..benchmark.run.runner import RunSummary

SHOWN = 5  # errors
LOG_SECONDS = 10.0  # between two lines of the log, without a terminal


def say_left_out(screen: Screen, names: list[str]) -> None:
    """Print which algorithms of these names are left out because a package is not installed."""
    from ..benchmark.run.plan import left_out

    missing = left_out(names)
    for needs, extra in dict.fromkeys((algorithm.needs, algorithm.extra) for algorithm in missing):
        titles = ", ".join(algorithm.title for algorithm in missing if algorithm.needs == needs)
        screen.error(f'Left out: {titles}; {needs} is not installed: pip install "everclust[{extra}]".')


@contextmanager
def progress_of(screen: Screen, todo: list[Job]) -> Iterator[tuple[Callable[[Result], None], Counter[str]]]:
    """A progress bar, or a log: yields the function to call with each result, and a count of the errors."""
    errors: Counter[str] = Counter()
    with (_bar if screen.err.is_terminal else _log_lines)(screen, todo) as show:
        n_done = 0

        def progress(result: Result) -> None:
            nonlocal n_done
            n_done += 1
            if result.status != "ok":
                errors[f"{result.job.dataset}: {result.error}"] += 1
            show(f"{n_done} of {counted(len(todo), 'job')}", result.job)

        yield progress, errors


@contextmanager
def _bar(screen: Screen, todo: list[Job]) -> Iterator[Callable[[str, Job], None]]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from ..benchmark.run.plan import cost

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=screen.err, speed_estimate_period=600) as display:
        task = display.add_task(f"0 of {counted(len(todo), 'job')}", total=sum(map(cost, todo)))
        yield lambda done, job: display.update(
            task, advance=cost(job), description=f"{done}, now {job.dataset}"
        )


@contextmanager
def _log_lines(screen: Screen, todo: list[Job]) -> Iterator[Callable[[str, Job], None]]:
    """A line after the first job, then one every LOG_SECONDS."""
    due = 0.0

    def show(done: str, job: Job) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + LOG_SECONDS
            log_line(
                screen,
                f"{done}; the last one was {job.algorithm}, {job.dataset}, {job.setting}, seed {job.seed}",
            )

    yield show


def log_line(screen: Screen, words: str) -> None:
    """Print a line with the time."""
    screen.err.print(f"{datetime.now():%H:%M:%S} {words}", markup=False)


def print_summary(screen: Screen, summary: RunSummary, errors: Counter[str]) -> None:
    """Print how the jobs ended; exit with an error if one failed. N/A is no failure."""
    for error, n in errors.most_common(SHOWN):
        screen.error(f"{error} ({counted(n, 'job')})")
    if len(errors) > SHOWN:
        others = counted(len(errors) - SHOWN, "other reason, which is", "other reasons, which are")
        screen.error(f"… and {others} in the store.")
    counts = ", ".join(f"{n} {status}" for status, n in summary.statuses.items()) or "nothing to do"
    typer.echo(f"{counts}; {summary.skipped} done before; {summary.seconds:.1f} s.")
    if summary.statuses.get("failed"):
        raise typer.Exit(1)
