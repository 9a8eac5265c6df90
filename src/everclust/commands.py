"""The subcommands of `everclust`: from arguments to functions, and from results to the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from .benchmark.algorithms import ALGORITHMS
from .benchmark.catalogue import CATALOGUE
from .benchmark.comparison import differences
from .benchmark.datasets import DataSetError, at_hand, others_at_hand
from .benchmark.fetch import fetch as fetch_data_set
from .benchmark.jobs import Job, Result
from .benchmark.plan import PAPER_SEEDS, cost, plan, take_in
from .benchmark.runner import Summary, remaining, run as run_jobs
from .benchmark.search import LIMIT_SECONDS, TRIALS, tuned
from .benchmark.store import Store, StoreError

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Clustering of data that keeps arriving.")
bench = typer.Typer(no_args_is_help=True, help="Reproduce the paper's comparison.")
app.add_typer(bench, name="bench")

STORE = Path("everclust_bench.sqlite")
EXPECTED = (DataSetError, StoreError, ValueError, ImportError)  # their messages are sentences for the user
StoreOption = Annotated[Path, typer.Option("--store", help="File of the results.")]


@app.callback()
def _everclust() -> None:
    """Without it, a single group would not be a subcommand."""
