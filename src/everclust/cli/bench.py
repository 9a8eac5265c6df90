"""The commands `bench …`: run, report, export, table, list, fetch, compare."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..text import counted
from . import bench_options as options
from .console import Screen, exit_on_error, print_table, terminable
from .option_groups import expand_groups
from .options import split_names

if TYPE_CHECKING:
    from ..benchmark.report.store_diff import Difference
    from ..benchmark.run.jobs import Job, Result
    from ..benchmark.run.registry import Algorithm
    from ..benchmark.run.runner import RunSummary

STORE = Path("everclust_bench.sqlite")
SHOWN = 5  # errors
LOG_SECONDS = 10.0  # between two lines of the log, without a terminal

bench = typer.Typer(no_args_is_help=True, help="Reproduce the paper's comparison.")

StorePath = Annotated[Path, typer.Option("--store", help="File of the results.")]
With = Annotated[list[Path], typer.Option("--with", help="File that registers algorithms or data sets.")]


@bench.command()
@expand_groups
def run(
    *,
    selection: options.Selection,
    tuning: options.Tuning,
    resources: options.Resources,
    store: StorePath = STORE,
    with_: With = [],  # noqa: B006
) -> None:
    """Run what is not in the store yet. A run that was stopped or killed continues where it was."""
    screen = Screen(False)
    with _exit_on_error(screen), terminable():
        from ..benchmark.run.plan import import_plugin, plan
        from ..benchmark.run.runner import remaining
        from ..benchmark.run.runner import run as run_jobs
        from ..benchmark.run.store import Store
        from ..benchmark.run.tuning import tuned

        take = tuning.take()
        resources.check()
        for file in with_:
            import_plugin(file)
        names = selection.in_full()
        planned = plan(
            split_names(*names.algorithms),
            split_names(*names.datasets),
            split_names(*names.settings),
            names.seeds,
            shuffles=names.shuffles,
        )
        _say_left_out(screen, split_names(*names.algorithms))
        with Store(store) as results:
            jobs = tuned(
                planned,
                results,
                trials=tuning.trials,
                limit_seconds=tuning.search_limit,
                n_jobs=resources.jobs,
                take=take,
                progress=lambda sentence: _log(screen, sentence),
            )
            with _progress(screen, remaining(jobs, results, retry=resources.retry)) as (progress, errors):
                summary = run_jobs(
                    jobs,
                    results,
                    n_jobs=resources.jobs,
                    limit_seconds=resources.limit,
                    limit_memory=resources.bytes(),
                    retry=resources.retry,
                    progress=progress,
                )
        _print_summary(screen, summary, errors)


@bench.command()
def report(
    store: StorePath = STORE,
    html: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("everclust_bench.html"),
    markdown: Annotated[Path | None, typer.Option(help="Markdown file to write as well.")] = None,
) -> None:
    """Write the tables and figures, ours beside the published numbers."""
    with _exit_on_error(Screen(False)):
        from ..benchmark.run.store import Store

        Store(store, create=False).close()
        from ..benchmark.report.report import write_report

        write_report(store, html, markdown)
        typer.echo(f"Written: {html}" + (f" and {markdown}" if markdown else ""))


@bench.command()
def export(
    store: StorePath = STORE,
    folder: Annotated[Path, typer.Option(help="Folder to write into.")] = Path("everclust_bench_export"),
    formats: Annotated[list[str], typer.Option(help="csv, json, latex, labels; all if none is given.")] = [],  # noqa: B006
) -> None:
    """Write cells and runs as CSV and JSON, tables as LaTeX, and the label vectors of all runs."""
    with _exit_on_error(Screen(False)):
        from ..benchmark.report.export.export import FORMATS
        from ..benchmark.report.export.export import export as export_store

        paths = export_store(store, folder, split_names(*formats) or FORMATS)
        typer.echo(f"Written: {', '.join(map(str, paths))}")


@bench.command()
def table(
    store: StorePath = STORE,
    algorithms: Annotated[
        list[str], typer.Option(help="Rows, instead of EverClust, IDAT and all references.")
    ] = [],  # noqa: B006
) -> None:
    """Print the table of the references as Markdown: who is told what, ARI, AMI and seconds."""
    with _exit_on_error(Screen(False)):
        from ..benchmark.report.report import reference_table

        typer.echo(reference_table(store, split_names(*algorithms)), nl=False)


@bench.command(name="list")
def list_(with_: With = []) -> None:  # noqa: B006
    """List the data sets, which of them are available, and the algorithms."""
    with _exit_on_error(Screen(False)):
        from ..benchmark.run.plan import import_plugin

        for file in with_:
            import_plugin(file)
        _print_data_sets()
        _print_algorithms()


@bench.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Data sets, or all.")],
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
) -> None:
    """Download data sets into the data folder."""
    with _exit_on_error(Screen(False)):
        from ..benchmark.data.fetch import fetch as fetch_data_set
        from ..benchmark.run.plan import fetchable

        for name in fetchable(split_names(*names)):
            typer.echo(f"{name}: {fetch_data_set(name, progress=progress)}")


@bench.command()
def compare(
    first: Path,
    second: Path,
    times: Annotated[bool, typer.Option("--times", help="Compare the CPU seconds of learning too.")] = False,
) -> None:
    """Show by how much the means of two stores differ."""
    with _exit_on_error(Screen(False)):
        from ..benchmark.report.store_diff import differences
        from ..benchmark.run.store import Store

        with Store(first, create=False) as one, Store(second, create=False) as other:
            found = differences(one.results(), other.results(), times=times)
        differing = [mean for mean in found if mean.difference != 0]
        if differing:
            heads = ["algorithm", "data set", "setting", "measure", "first", "second", "difference"]
            print_table(heads, map(_difference_row, differing))
        typer.echo(f"{len(differing)} of {counted(len(found), 'mean differs', 'means differ')}.")


def _difference_row(mean: Difference) -> list[str]:
    values = [f"{mean.first:.4g}", f"{mean.second:.4g}", f"{mean.difference:+.4g}"]
    return [mean.algorithm, mean.dataset, mean.setting, mean.measure, *values]


@contextmanager
def _exit_on_error(screen: Screen) -> Iterator[None]:
    """`exit_on_error` that also handles the errors of the benchmark."""
    from ..benchmark.data.datasets import DataSetError
    from ..benchmark.run.store import StoreError

    with exit_on_error(
        screen, DataSetError, StoreError, stopped="Stopped; the same command continues from here."
    ):
        yield


@contextmanager
def _progress(screen: Screen, todo: list[Job]) -> Iterator[tuple[Callable[[Result], None], Counter[str]]]:
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
            _log(
                screen,
                f"{done}; the last one was {job.algorithm}, {job.dataset}, {job.setting}, seed {job.seed}",
            )

    yield show


def _log(screen: Screen, words: str) -> None:
    screen.err.print(f"{datetime.now():%H:%M:%S} {words}", markup=False)


def _say_left_out(screen: Screen, names: list[str]) -> None:
    from ..benchmark.run.plan import left_out

    missing = left_out(names)
    for needs, extra in dict.fromkeys((algorithm.needs, algorithm.extra) for algorithm in missing):
        titles = ", ".join(algorithm.title for algorithm in missing if algorithm.needs == needs)
        screen.error(f"Left out: {titles}; {needs} is not installed: pip install 'everclust[{extra}]'.")


def _print_summary(screen: Screen, summary: RunSummary, errors: Counter[str]) -> None:
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


def _print_data_sets() -> None:
    from ..benchmark.data.catalogue import CATALOGUE
    from ..benchmark.data.datasets import at_hand, batteries_at_hand, battery, others_at_hand

    here = set(at_hand())
    rows = []
    for name, entry in CATALOGUE.items():
        state = "yes" if name in here else "no" if entry.recipe is None else "can be fetched"
        openml = [f"OpenML {entry.openml}"] if entry.openml and "OpenML" not in entry.source else []
        source = "; ".join([entry.source, *openml, entry.licence])
        rows.append([name, entry.shape, str(entry.n_classes), state, source])
    rows += [[name, "", "", "yes", "your own"] for name in others_at_hand()]
    for name in batteries_at_hand():
        rows.append([name, "", "", "yes", f"battery of {counted(len(battery(name)), 'data set')}"])
    print_table(["data set", "samples × features", "classes", "available", "source; licence"], rows)


def _print_algorithms() -> None:
    from ..benchmark.run.registry import ALGORITHMS

    rows = [
        [
            *(algorithm.name, algorithm.title, _settings_of(algorithm)),
            *(algorithm.told or "nothing", ", ".join(algorithm.space)),
        ]
        for algorithm in ALGORITHMS.values()
    ]
    print_table(["algorithm", "title", "settings", "is told", "to tune"], rows, unbroken=["algorithm"])


def _settings_of(algorithm: Algorithm) -> str:
    if algorithm.kind == "ablation":
        return "nonstationary (ablation)"
    return "both" if algorithm.incremental else "stationary"
