"""The Typer application: every command of `everclust` is registered here.

Modules of commands import Typer and the standard library only. What a command needs, NumPy and all that
stands on it, is imported when the command runs, so that ``--help`` and shell completion answer at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ..version import __version__
from . import bench, live, model, stream
from .console import EXIT_CODES
from .one_source import OneSource

HELP = f"""
**Clustering of data that keeps arriving.** Nothing to tune, nothing forgotten.

- `everclust fit points.csv --model m.everclust`
- `everclust update 'logs/*.parquet' -m m.everclust --checkpoint saved`
- `everclust predict new.csv -m m.everclust --id name > clusters.csv`
- `everclust watch kafka://localhost/readings -m m.everclust`

{EXIT_CODES}
"""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"everclust {__version__}")
        raise typer.Exit


@app.callback(help=HELP)
def everclust(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """The commands follow."""


of_a_model = (model.info, model.report, model.export)  # without a source
for command in (stream.fit, stream.update, stream.watch, stream.predict, stream.score):
    app.command(cls=OneSource)(command)
for command in (model.info, model.report, model.plot, model.export, live.live):
    app.command(cls=None if command in of_a_model else OneSource)(command)
app.add_typer(bench.bench, name="bench")
