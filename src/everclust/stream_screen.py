"""What the stream commands say: progress, warnings, results, and why something is wrong."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from .stream.batch import UnreachableError, UnwritableError
from .stream.run import Block, Run

WRONG, USAGE, MISSING_EXTRA, UNWRITABLE, UNREACHABLE = 1, 2, 3, 4, 5
SIGNALLED = 128

EXIT_CODES = """
**Exit codes**: 0 done · 1 something is wrong with the data, the model or the checkpoint · 2 wrong usage ·
3 an optional package is missing · 4 something cannot be written · 5 a message system does not answer ·
130 and 143 stopped by Ctrl-C and by SIGTERM, everything learnt so far being kept.
"""


class Screen:
    """Standard error for people, standard output for results; with `--json` both for machines."""

    def __init__(self, as_json: bool, stdout_taken: bool = False) -> None:
        self.as_json, self.stdout_taken = as_json, stdout_taken
        self.err = Console(stderr=True, soft_wrap=True, highlight=False)

    def warn(self, sentence: str) -> None:
        """Something to know that stops nothing."""
        self._say({"warning": sentence}, sentence, "yellow")

    def complain(self, sentence: str) -> None:
        """Something that stops everything."""
        self._say({"error": sentence}, sentence, "red")

    def _say(self, record: dict[str, str], sentence: str, style: str) -> None:
        if self.as_json:
            sys.stderr.write(json.dumps(record) + "\n")
        else:
            self.err.print(sentence, style=style, markup=False)

    def result(self, record: dict[str, Any], sentence: str) -> None:
        """What came of it. If standard output is for answers, people read it beside them."""
        text = json.dumps(record) if self.as_json else sentence
        if not self.stdout_taken:
            typer.echo(text)
        elif self.as_json or self.err.is_terminal:
            typer.echo(text, err=True)


@contextmanager
def told(screen: Screen) -> Iterator[None]:
    """Tell in one sentence what is wrong, and leave with the code for it."""
    try:
        yield
    except BrokenPipeError:  # whoever read the answers has enough
        sys.stderr.close()
        raise typer.Exit(0) from None
    except ImportError as error:
        _leave(screen, error, MISSING_EXTRA)
    except UnwritableError as error:
        _leave(screen, error, UNWRITABLE)
    except UnreachableError as error:
        _leave(screen, error, UNREACHABLE)
    except OSError as error:
        _leave(screen, f"{error.filename or 'Something'} cannot be used: {error.strerror}.", WRONG)
    except ValueError as error:  # StreamError is one
        _leave(screen, error, WRONG)


def _leave(screen: Screen, error: object, code: int) -> None:
    screen.complain(" ".join(str(error).split()))
    raise typer.Exit(code) from None


@contextmanager
def stoppable() -> Iterator[Callable[[], int]]:
    """The number of the signal that asked to stop, or 0. A second signal ends everything at once."""
    got: list[int] = []

    def take(number: int, frame: Any) -> None:
        got.append(number)
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, take) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield lambda: got[0] if got else 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress(screen: Screen) -> Iterator[Callable[[Run, Block], None]]:
    """A line on standard error, if that is a terminal, and the function that brings it up to date."""
    if screen.as_json or not screen.err.is_terminal:
        yield lambda job, block: None
        return
    columns = BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=screen.err, transient=True) as display:
        task = display.add_task("", total=None)
        started, first = time.monotonic(), [None, 0.0]

        def show(job: Run, block: Block) -> None:
            now = time.monotonic()
            if first[0] is None:
                first[0] = job.rows - block.n_rows
            if now - float(first[1] or 0) < 0.1:
                return
            first[1] = now
            speed = (job.rows - (first[0] or 0)) / max(now - started, 1e-9)
            fraction = job.source.fraction(job.position)
            display.update(
                task,
                description=_state(job, speed),
                total=None if fraction is None else 1.0,
                completed=fraction or 0.0,
            )

        yield show


def _state(job: Run, speed: float) -> str:
    words = f"{job.rows:,} rows, {speed:,.0f}/s"
    if job.n_seen:
        now = job.model.snapshot()
        words += (
            f", {len(now.usage)} nodes, {now.n_clusters} clusters, interval {now.interval}, "
            f"vigilance {now.vigilance:.3f}"
        )
    return words


def seconds_or_rows(text: str) -> int | float:
    """`10000` is rows, `30s` or `5m` is time."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    try:
        value = float(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise typer.BadParameter(f"{text!r} is neither a number of rows (10000) nor a time (30s, 5m, 1h).")
    return value
