"""The subcommands of `everclust`: from arguments to functions, and from results to the screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column, Table

from ..benchmark.data.catalogue import CATALOGUE
from ..benchmark.data.datasets import DataSetError, at_hand, others_at_hand
from ..benchmark.data.fetch import fetch as fetch_data_set
from ..benchmark.report.store_diff import differences
from ..benchmark.run.jobs import Job, Result
from ..benchmark.run.plan import cost, fetchable, import_plugin, plan
from ..benchmark.run.registry import ALGORITHMS, Algorithm
from ..benchmark.run.runner import RunSummary, remaining
from ..benchmark.run.runner import run as run_jobs
from ..benchmark.run.store import Store, StoreError
from ..benchmark.run.tuning import tuned
from ..text import quantity
from . import bench_options as options
from .option_groups import spelt_out

STORE = Path("everclust_bench.sqlite")
SHOWN = 5  # errors
MISSING_EXTRA = 3  # as everywhere on the command line

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
bench = typer.Typer(no_args_is_help=True, help="Reproduce the paper's comparison.")
app.add_typer(bench, name="bench")

StorePath = Annotated[Path, typer.Option("--store", help="File of the results.")]
With = Annotated[list[Path], typer.Option("--with", help="File that registers algorithms or data sets.")]


@app.callback(help="Clustering of data that keeps arriving.")
def everclust() -> None:
    """With a callback, a single group is a subcommand."""


@bench.command()
@spelt_out
def run(
    *,
    wanted: options.Wanted,
    tuning: options.Tuning,
    effort: options.Effort,
    store: StorePath = STORE,
    with_: With = [],  # noqa: B006
) -> None:
    """Run what is not in the store yet. A run that was stopped, or killed, goes on where it was."""
    with _told():
        for file in with_:
            import_plugin(file)
        names = wanted.in_full()
        planned = plan(
            _split(names.algorithms),
            _split(names.datasets),
            _split(names.settings),
            names.seeds,
            shuffles=names.shuffles,
        )
        with Store(store) as results:
            jobs = tuned(
                planned,
                results,
                trials=tuning.trials,
                limit_seconds=tuning.search_limit,
                n_jobs=effort.jobs,
                as_in_paper=tuning.as_in_paper,
            )
            with _progress(remaining(jobs, results, retry=effort.retry)) as (progress, errors):
                summary = run_jobs(
                    jobs,
                    results,
                    n_jobs=effort.jobs,
                    limit_seconds=effort.limit,
                    limit_memory=effort.bytes(),
                    retry=effort.retry,
                    progress=progress,
                )
    _show(summary, errors)


@bench.command()
def report(
    store: StorePath = STORE,
    html: Annotated[Path, typer.Option(help="File to write.")] = Path("everclust_bench.html"),
    markdown: Annotated[Path | None, typer.Option(help="File to write besides.")] = None,
) -> None:
    """Write the tables and figures, ours beside the published numbers."""
    with _told():
        Store(store, create=False).close()
        from ..benchmark.report.report import write_report

        write_report(store, html, markdown)
    Console().print(f"Written: {html}" + (f" and {markdown}" if markdown else ""), soft_wrap=True)


@bench.command(name="list")
def list_(with_: With = []) -> None:  # noqa: B006
    """Show the data sets, and which are at hand, and the algorithms."""
    with _told():
        for file in with_:
            import_plugin(file)
        Console().print(_table_of_data_sets(), _table_of_algorithms())


@bench.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Data sets, or all.")],
    progress: Annotated[bool, typer.Option(help="Show how far it is.")] = True,
) -> None:
    """Download data sets into the data folder."""
    with _told():
        for name in fetchable(_split(names)):
            path = fetch_data_set(name, progress=progress)
            Console().print(f"{name}: {path}", soft_wrap=True)


@bench.command()
def compare(
    first: Path,
    second: Path,
    times: Annotated[bool, typer.Option("--times", help="Compare the training times too.")] = False,
) -> None:
    """Show by how much the means of two stores differ."""
    with _told():
        with Store(first, create=False) as one, Store(second, create=False) as other:
            found = differences(one.results(), other.results(), times=times)
        heads = "algorithm", "data set", "setting", "measure", "first", "second", "difference"
        table = Table(*heads, box=SIMPLE)
        for mean in (mean for mean in found if mean.difference != 0):
            values = (f"{mean.first:.4g}", f"{mean.second:.4g}", f"{mean.difference:+.4g}")
            table.add_row(mean.algorithm, mean.dataset, mean.setting, mean.measure, *values)
        if table.row_count:
            Console().print(table)
        differ = quantity(len(found), "mean differs", "means differ")
        Console().print(f"{table.row_count} of {differ}.", soft_wrap=True)


@contextmanager
def _told() -> Iterator[None]:
    """Tell in one sentence what is wrong, and leave with a code that is not 0."""
    try:
        yield
    except KeyboardInterrupt:
        _complain("Stopped; the same command goes on from here.")
        raise typer.Exit(130) from None
    except (DataSetError, StoreError, ValueError, ImportError) as error:
        _complain(str(error))
        raise typer.Exit(MISSING_EXTRA if isinstance(error, ImportError) else 1) from None


def _complain(sentence: str) -> None:
    Console(stderr=True).print(sentence, style="red", markup=False, highlight=False, soft_wrap=True)


def _split(names: list[str]) -> list[str]:
    return [name for text in names for name in text.split(",") if name]


@contextmanager
def _progress(todo: list[Job]) -> Iterator[tuple[Callable[[Result], None], Counter[str]]]:
    """A live display, the function to call with each result, and a count of what went wrong."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    errors: Counter[str] = Counter()
    done = Counter[str]()
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=600) as display:
        task = display.add_task(f"0 of {quantity(len(todo), 'job')}", total=sum(map(cost, todo)))

        def progress(result: Result) -> None:
            done[result.status] += 1
            if result.status != "ok":
                errors[f"{result.job.dataset}: {result.error}"] += 1
            words = f"{done.total()} of {quantity(len(todo), 'job')}, now {result.job.dataset}"
            display.update(task, advance=cost(result.job), description=words)

        yield progress, errors


def _show(summary: RunSummary, errors: Counter[str]) -> None:
    """Say what became of the jobs; failures are an error, N/A is not."""
    for error, n in errors.most_common(SHOWN):
        _complain(f"{error} ({quantity(n, 'job')})")
    if len(errors) > SHOWN:
        others = quantity(len(errors) - SHOWN, "other reason, which is", "other reasons, which are")
        _complain(f"… and {others} in the store.")
    counts = ", ".join(f"{n} {status}" for status, n in summary.statuses.items()) or "nothing to do"
    Console().print(f"{counts}; {summary.skipped} done before; {summary.seconds:.1f} s.", soft_wrap=True)
    if summary.statuses.get("failed"):
        raise typer.Exit(1)


def _table_of_data_sets() -> Table:
    table = Table("data set", "samples × features", "classes", "at hand", "source; licence", box=SIMPLE)
    here = set(at_hand())
    for name, entry in CATALOGUE.items():
        state = "yes" if name in here else "no" if entry.recipe is None else "can be fetched"
        table.add_row(name, entry.shape, str(entry.n_classes), state, f"{entry.source}; {entry.licence}")
    for name in others_at_hand():
        table.add_row(name, "", "", "yes", "your own")
    return table


def _table_of_algorithms() -> Table:
    table = Table(Column("algorithm", no_wrap=True), "title", "settings", "to tune", box=SIMPLE)
    for algorithm in ALGORITHMS.values():
        table.add_row(algorithm.name, algorithm.title, _settings_of(algorithm), ", ".join(algorithm.space))
    return table


def _settings_of(algorithm: Algorithm) -> str:
    if algorithm.kind == "ablation":
        return "nonstationary (ablation)"
    return "both" if algorithm.incremental else "stationary"
