"""The commands `bench …`: run, report, export, table, list, fetch, compare."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..text import counted
from . import bench_options as options
from .bench_list import print_algorithms, print_data_sets
from .bench_progress import log_line, print_summary, progress_of, say_left_out
from .console import Screen, exit_on_error, print_table, terminable
from .option_groups import expand_groups
from .options import split_names

if TYPE_CHECKING:
    from ..benchmark.report.store_diff import Difference

STORE = Path("everclust_bench.sqlite")

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
        from ..benchmark.run.plan import plan
        from ..benchmark.run.runner import remaining
        from ..benchmark.run.runner import run as run_jobs
        from ..benchmark.run.store import Store
        from ..benchmark.run.tuning import tuned

        take = tuning.take()
        resources.check()
        _register(with_)
        names = selection.in_full()
        planned = plan(
            split_names(*names.algorithms),
            split_names(*names.datasets),
            split_names(*names.settings),
            names.seeds,
            shuffles=names.shuffles,
        )
        say_left_out(screen, split_names(*names.algorithms))
        with Store(store) as results:
            jobs = tuned(
                planned,
                results,
                trials=tuning.trials,
                limit_seconds=tuning.search_limit,
                n_jobs=resources.jobs,
                take=take,
                progress=lambda sentence: log_line(screen, sentence),
            )
            with progress_of(screen, remaining(jobs, results, retry=resources.retry)) as (
                progress,
                errors,
            ):
                summary = run_jobs(
                    jobs,
                    results,
                    n_jobs=resources.jobs,
                    limit_seconds=resources.limit,
                    limit_memory=resources.bytes(),
                    retry=resources.retry,
                    progress=progress,
                )
        print_summary(screen, summary, errors)


@bench.command()
def report(
    store: StorePath = STORE,
    html: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("everclust_bench.html"),
    markdown: Annotated[Path | None, typer.Option(help="Markdown file to write as well.")] = None,
    with_: With = [],  # noqa: B006
) -> None:
    """Write the tables and figures, ours beside the published numbers."""
    with _exit_on_error(Screen(False)):
        _register(with_)
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
    with_: With = [],  # noqa: B006
) -> None:
    """Write cells and runs as CSV and JSON, tables as LaTeX, and the label vectors of all runs."""
    with _exit_on_error(Screen(False)):
        _register(with_)
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
    with_: With = [],  # noqa: B006
) -> None:
    """Print the table of the references as Markdown: who is told what, ARI, AMI and seconds."""
    with _exit_on_error(Screen(False)):
        _register(with_)
        from ..benchmark.report.report import reference_table

        typer.echo(reference_table(store, split_names(*algorithms)), nl=False)


@bench.command(name="list")
def list_(with_: With = []) -> None:  # noqa: B006
    """List the data sets, which of them are available, and the algorithms."""
    with _exit_on_error(Screen(False)):
        _register(with_)
        print_data_sets()
        print_algorithms()


@bench.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Data sets, or all.")],
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
    with_: With = [],  # noqa: B006
) -> None:
    """Download data sets into the data folder."""
    with _exit_on_error(Screen(False)):
        _register(with_)
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


def _register(files: list[Path]) -> None:
    """Import the files of `--with`, which register algorithms and data sets."""
    if files:
        from ..benchmark.run.plan import import_plugin

        for file in files:
            import_plugin(file)


@contextmanager
def _exit_on_error(screen: Screen) -> Iterator[None]:
    """`exit_on_error` that also handles the errors of the benchmark."""
    from ..benchmark.data.datasets import DataSetError
    from ..benchmark.run.store import StoreError

    with exit_on_error(
        screen, DataSetError, StoreError, stopped="Stopped; the same command continues from here."
    ):
        yield
