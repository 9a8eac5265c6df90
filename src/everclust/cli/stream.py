"""The command line: learning and answering streams."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from ..estimators.idat import IDAT
from ..stream.job import Run, Summary
from ..stream.resume import resume
from ..stream.sinks.events import open_event_sink
from ..stream.sinks.rows import open_sink
from ..version import __version__
from . import model as model_commands
from . import options as options
from .bench import bench
from .console import EXIT_CODES, Screen, told
from .dominance import Dominance
from .option_groups import spelt_out
from .progress import Sentences
from .scoring import Tally
from .setup import (
    add_results,
    carry_out,
    checkpointed,
    heads_of,
    job_of,
    loaded,
    loaded_if_there,
    refuse_to_forget,
    refuse_to_replace,
)

HELP = f"""
**Clustering of data that keeps arriving.** Nothing to tune, nothing forgotten.

- `everclust fit points.csv --model m.everclust`
- `everclust update 'logs/*.parquet' -m m.everclust --checkpoint saved`
- `everclust predict new.csv -m m.everclust --id name > clusters.csv`
- `everclust watch kafka://localhost/readings -m m.everclust`

{EXIT_CODES}
"""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"everclust {__version__}")
        raise typer.Exit


@app.callback(help=HELP)
def everclust(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and leave."),
    ] = False,
) -> None:
    """The commands follow."""


@app.command()
@spelt_out
def fit(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    force: options.Force = False,
    modes: options.Modes,
    id: options.Id = None,
    reading: options.Reading,
    stretch: options.Stretch,
    keeping: options.Keeping,
    results: options.Results,
    json: options.Json = False,
) -> None:
    """Learn a new model from a stream."""
    screen = Screen(json, results.take_stdout)
    with told(screen):
        job = job_of(IDAT(**asdict(modes)), source, reading, stretch, id)
        job.model_path = model
        add_results(job, results)
        with checkpointed(job, keeping, screen):
            is_new = resume(job) is None
            if is_new:
                refuse_to_replace(model, force)
            carry_out(job, screen, Dominance(screen.warn) if is_new and modes.metric == "euclidean" else None)


@app.command()
@spelt_out
def update(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    id: options.Id = None,
    reading: options.Reading,
    stretch: options.Stretch,
    keeping: options.Keeping,
    results: options.Results,
    json: options.Json = False,
) -> None:
    """Go on learning with a model; columns are matched by name."""
    screen = Screen(json, results.take_stdout)
    with told(screen):
        known = loaded(model)
        job = job_of(known, source, reading, stretch, id)
        job.model_path = model
        add_results(job, results)
        with checkpointed(job, keeping, screen):
            if resume(job) is not None:
                refuse_to_forget(job, known)
            carry_out(job, screen)


@app.command()
@spelt_out
def watch(
    source: options.SourceUrl,
    *,
    model: options.OptionalModel = None,
    reading: options.Reading,
    stretch: options.Stretch,
    keeping: options.Keeping,
    json: options.Json = False,
) -> None:
    """Learn a stream and say what happens to the clusters, as it happens."""
    screen = Screen(json, stdout_taken=True)
    with told(screen):
        known = loaded_if_there(model)
        job = job_of(known or IDAT(), source, reading, stretch)
        job.model_path = model
        job.event_sinks = [open_event_sink("-") if json else Sentences()]
        with checkpointed(job, keeping, screen):
            if resume(job) is not None:
                refuse_to_forget(job, known)
            carry_out(job, screen)


@app.command()
@spelt_out
def predict(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    out: options.Answers = "-",
    similarity: options.Similarity = False,
    id: options.Id = None,
    reading: options.Reading,
    stretch: options.Stretch,
    keeping: options.Keeping,
    json: options.Json = False,
) -> None:
    """Say which cluster each row belongs to. The model does not change."""
    screen = Screen(json, out == "-")
    with told(screen):
        job = job_of(loaded(model), source, reading, stretch, id)
        job.learns, job.similarity = False, similarity
        heads = [*heads_of(job), *(["similarity"] if similarity else [])]
        job.answers = open_sink(out, heads, "jsonl" if json and out == "-" else None)
        with checkpointed(job, keeping, screen):
            resume(job)
            carry_out(job, screen)


@app.command()
@spelt_out
def score(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    reading: options.Reading,
    stretch: options.Stretch,
    json: options.Json = False,
) -> None:
    """Measure how well a model knows a stream, and, with --label, how well its clusters agree with it."""
    screen = Screen(json)
    with told(screen):
        known = loaded(model)
        job = job_of(known, source, reading, stretch)
        job.learns = False
        tally = Tally(known)

        def tell(job: Run, summary: Summary) -> tuple[dict[str, Any], str]:
            record = {"rows": summary.rows, "skipped": summary.skipped, **tally.result()}
            return record, model_commands.lines(record)

        carry_out(job, screen, tally, tell)


app.command(name="info")(model_commands.info)
app.command(name="report")(model_commands.report)
app.command(name="plot")(model_commands.plot)
app.command(name="export")(model_commands.export)
app.add_typer(bench, name="bench")
