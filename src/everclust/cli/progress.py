"""Progress, events and result of a run, as text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ..stream.blocks import Block
from ..stream.job import Run, Summary
from ..text import counted
from .console import Screen

if TYPE_CHECKING:
    from rich.progress import Progress

PAUSE = 0.1  # seconds between two updates of the line


@contextmanager
def progress(screen: Screen) -> Iterator[Callable[[Run, Block], None]]:
    """Show a progress line if standard error is a terminal; yields the function that updates it."""
    if screen.as_json or screen.log is not None or not screen.err.is_terminal:
        yield lambda job, block: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=screen.err, transient=True) as display:
        yield ProgressLine(display)


class ProgressLine:
    """Rows, speed and state of a run, on one line that is overwritten."""

    def __init__(self, display: Progress) -> None:
        self.display, self.task = display, display.add_task("", total=None)
        self.started, self.due = time.monotonic(), 0.0
        self.rows_before: int | None = None

    def __call__(self, job: Run, block: Block) -> None:
        """Update the line, at most once in PAUSE seconds."""
        now = time.monotonic()
        if self.rows_before is None:
            self.rows_before = job.rows - block.n_rows
        if now < self.due:
            return
        self.due = now + PAUSE
        speed = (job.rows - self.rows_before) / max(now - self.started, 1e-9)
        fraction = job.source.fraction(job.position)
        self.display.update(
            self.task,
            description=_state(job, speed),
            total=None if fraction is None else 1.0,
            completed=fraction or 0.0,
        )


def _state(job: Run, speed: float) -> str:
    words = f"{counted(job.rows, 'row')}, {speed:,.0f}/s"
    if job.keyed is not None:
        words += f", {counted(len(job.keyed.models), 'model')}"
    elif job.n_seen:
        now = job.model.snapshot()
        words += (
            f", {counted(len(now.usage), 'node')}, {counted(now.n_clusters, 'cluster')}, "
            f"interval {now.interval}, vigilance {now.vigilance:.3f}"
        )
    return words


def result_of(job: Run, summary: Summary) -> tuple[dict[str, Any], str]:
    """The result of a run, as a record and as a sentence."""
    read = counted(summary.rows, "row")
    if summary.resumed_at:
        read += f", {summary.resumed_at:,} of them before"
    if summary.skipped:
        read += f", {summary.skipped:,} skipped"
    if job.keyed is not None and job.keyed.n_unknown:
        read += f", {job.keyed.n_unknown:,} of keys without a model"
    if not job.n_seen and job.learns:
        return summary._asdict(), f"{read}; nothing was learnt."
    if job.keyed is not None:
        n_models = len(job.keyed.models)
        known_models = {"samples": job.n_seen, "models": n_models}
        known_models |= {} if job.learns else {"without_model": job.keyed.n_unknown}
        found = f"{counted(n_models, 'model')} in {job.keyed.folder}"
        return {**summary._asdict(), **known_models}, f"{read}; {found}; {summary.seconds:.1f} s."
    now = job.model.snapshot()
    known = {
        "samples": now.n_samples_seen,
        "nodes": len(now.usage),
        "clusters": now.n_clusters,
        "interval": now.interval,
        "vigilance": now.vigilance,
    }
    found = f"{counted(now.n_clusters, 'cluster')} from {counted(len(now.usage), 'node')}"
    return {**summary._asdict(), **known}, f"{read}; {found}; {summary.seconds:.1f} s."


class EventPrinter:
    """An event sink that prints one sentence for each event."""

    name = "-"

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Print events."""
        for event in events:
            when = f" ({event['time']})" if "time" in event else ""
            key = f"{event['key']}, " if "key" in event else ""
            typer.echo(f"{key}sample {event['sample']:,}{when}: {event['text']}")

    def mark(self) -> None:
        """Standard output has no position."""

    def rewind(self, mark: Any) -> None:
        """Lines that were printed cannot be taken back."""

    def finish(self) -> None:
        """Nothing to close."""

    def abort(self) -> None:
        """Nothing to close."""
