"""Console output and exit codes of the command line."""

from __future__ import annotations

import errno
import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ..stream.batch import UnreachableError, UnwritableError
from ..stream.secrets import masked
from .log import Log

if TYPE_CHECKING:
    from rich.console import Console

WRONG, USAGE, MISSING_EXTRA, UNWRITABLE, UNREACHABLE = 1, 2, 3, 4, 5
SIGNALLED = 128
WIDEST = 1_000  # characters in a line of a table
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

EXIT_CODES = """
**Exit codes**: 0 done · 1 an error in the data, the model or the checkpoint, or no rows for fit or score ·
2 wrong usage · 3 an optional package is missing · 4 a file cannot be written · 5 a message system does not
answer, or refuses the password · 129, 130 and 143 stopped by SIGHUP, by Ctrl-C and by SIGTERM; everything
learnt so far is saved.
"""


class Screen:
    """Results on standard output, warnings and errors on standard error; with `--json`, both as JSON.

    With a log, warnings, errors and results are lines of it.
    """

    def __init__(self, as_json: bool, stdout_taken: bool = False, log_format: str | None = None) -> None:
        self.as_json, self.stdout_taken = as_json, stdout_taken
        self.log = None if log_format is None else Log(log_format)

    @cached_property
    def err(self) -> Console:
        """Standard error, with colours where it is a terminal."""
        from rich.console import Console

        return Console(stderr=True, soft_wrap=True, highlight=False)

    def warn(self, sentence: str) -> None:
        """Print a warning."""
        self._print("warning", sentence, "yellow")

    def error(self, sentence: str) -> None:
        """Print an error."""
        self._print("error", sentence, "red")

    def _print(self, level: str, sentence: str, style: str) -> None:
        sentence = masked(sentence)
        if self.log is not None:
            self.log(level, sentence, level)
        elif self.as_json:
            sys.stderr.write(json.dumps({level: sentence}) + "\n")
        else:
            self.err.print(sentence, style=style, markup=False)

    def announce(self, record: dict[str, Any], sentence: str) -> None:
        """Print what users need at once, on standard error if standard output holds predictions."""
        typer.echo(masked(json.dumps(record) if self.as_json else sentence), err=self.stdout_taken)

    def result(self, record: dict[str, Any], sentence: str) -> None:
        """Print a result. If standard output holds predictions, it goes to a terminal on standard error."""
        text = masked(json.dumps(record) if self.as_json else sentence)
        if self.log is not None:
            self.log("end", sentence, **record)
        if not self.stdout_taken:
            typer.echo(text)
        elif self.log is None and (self.as_json or self.err.is_terminal):
            typer.echo(text, err=True)


@contextmanager
def exit_on_error(screen: Screen, *errors: type[Exception], stopped: str = "Stopped.") -> Iterator[None]:
    """Print an error as one sentence and exit with its code.

    Parameters
    ----------
    screen : Screen
    *errors : exception types
        Errors besides `ValueError` and `OSError` whose message is a sentence for users.
    stopped : str
        What to print on Ctrl-C, and on SIGTERM inside `terminable`.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        _exit(
            screen, stopped, SIGNALLED + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)
        )
    except errors as error:
        _exit(screen, error, WRONG)
    except BrokenPipeError:  # the reader of the answers, such as `head`, has enough
        sys.stderr.close()
        raise typer.Exit(0) from None
    except ImportError as error:
        _exit(screen, error, MISSING_EXTRA)
    except UnwritableError as error:
        _exit(screen, error, UNWRITABLE)
    except UnreachableError as error:
        _exit(screen, error, UNREACHABLE)
    except OSError as error:
        if error.filename is None and error.errno in FULL:  # all other files are written by name
            _exit(screen, f"Standard output cannot be written: {error.strerror}; make room.", UNWRITABLE)
        _exit(screen, f"{error.filename or 'Something'} cannot be used: {error.strerror}.", WRONG)
    except ValueError as error:  # StreamError is one
        _exit(screen, error, WRONG)


def _exit(screen: Screen, error: object, code: int) -> NoReturn:
    screen.error(" ".join(str(error).split()))
    raise typer.Exit(code) from None


class Terminated(KeyboardInterrupt):
    """SIGTERM has arrived."""


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM interrupt the work like Ctrl-C. A second one kills."""

    def handle(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise Terminated

    before = signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def stoppable() -> Iterator[Callable[[], int]]:
    """Yields a function: the number of the signal that asked to stop, or 0. A second signal kills."""
    got: list[int] = []

    def handle(number: int, frame: Any) -> None:
        got.append(number)
        signal.signal(number, signal.SIG_DFL)

    numbers = [signal.SIGTERM, signal.SIGINT]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as under nohup
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield lambda: got[0] if got else 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_if_stopped(number: int) -> None:
    """Exit with the code of a signal, if there was one."""
    if number:
        raise typer.Exit(SIGNALLED + number)


def lines(record: dict[str, Any]) -> str:
    """A record as text, one line for each field."""
    width = max(map(len, record)) + 2
    return "\n".join(f"{name:{width}}{_shown(value)}" for name, value in record.items())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, dict):
        value = [f"{name}: {_shown(count)}" for name, count in value.items()] or ["none"]
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def print_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], unbroken: Sequence[str] = (), whole: bool = False
) -> None:
    """Print a table on standard output.

    Cells of `unbroken` columns are never wrapped. A `whole` table wraps none and cuts nothing off, even if
    it is then wider than the terminal.
    """
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Column, Table

    table = Table(*(Column(head, no_wrap=head in unbroken) for head in heads), box=SIMPLE)
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False)
    if whole:
        needed = Measurement.get(console, console.options.update(max_width=WIDEST), table).maximum
        console.width = max(console.width, needed)
    console.print(table)
