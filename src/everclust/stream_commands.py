"""The command line: learning and answering streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import typer

from . import model_commands
from . import stream_options as options
from .commands import bench
from .estimator import IDAT, load
from .stream.batch import StreamError
from .stream.blocks import Block
from .stream.checkpoint import Checkpoints
from .stream.columns import Columns
from .stream.dominance import dominant_column
from .stream.event_sinks import open_event_sink
from .stream.messages import without_password
from .stream.run import BLOCK, EVERY, Run, Summary, let_go, resume, run
from .stream.sinks import open_sink
from .stream.sources import open_source
from .stream_screen import EXIT_CODES, SIGNALLED, Screen, progress, seconds_or_rows, stoppable, told

UNANSWERED_BLOCK = 8_192  # rows learnt at once when nobody waits for answers
LOOKED_AT = 100  # rows before a column can be said to dominate

HELP = f"""
**Clustering of data that keeps arriving.** Nothing to tune, nothing forgotten.

- `everclust fit points.csv --model m.everclust`
- `everclust update 'logs/*.parquet' -m m.everclust --checkpoint saved`
- `everclust predict new.csv -m m.everclust --id name > clusters.csv`
- `everclust watch kafka://localhost/readings -m m.everclust`

{EXIT_CODES}
"""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")


@app.callback(help=HELP)
def everclust() -> None:
    """The commands follow."""


@app.command()
def fit(
    source: options.SourceUrl,
    model: options.ModelFile,
    force: options.Force = False,
    clusters: options.Clusters = "components",
    metric: options.Metric = "euclidean",
    max_nodes: options.MaxNodes = None,
    columns: options.ColumnNames = None,
    exclude: options.Exclude = None,
    label: options.Label = None,
    id: options.Id = None,
    missing: options.Missing = "skip",
    format: options.Format = None,
    header: options.Header = True,
    follow: options.Follow = False,
    limit: options.Limit = None,
    idle: options.Idle = None,
    checkpoint: options.CheckpointFolder = None,
    every: options.Every = str(EVERY),
    block: options.BlockRows = BLOCK,
    predictions: options.Predictions = None,
    events: options.Events = [],  # noqa: B006
    json: options.Json = False,
) -> None:
    """Learn a new model from a stream."""
    screen = Screen(json, predictions == "-" or "-" in events)
    with told(screen):
        choice = _columns(columns, exclude, label, id, missing)
        new = IDAT(clusters=clusters, metric=metric, max_nodes=max_nodes)
        job = _job(new, source, choice, format=format, header=header, follow=follow)
        job.model_path, job.limit, job.idle = model, limit, idle
        _add_results(job, predictions, events, block)
        with _checkpointed(job, checkpoint, every, screen):
            fresh = resume(job) is None
            if fresh:
                _refuse_to_replace(model, force)
            _carry_out(job, screen, Dominance(screen) if fresh and metric == "euclidean" else None)


@app.command()
def update(
    source: options.SourceUrl,
    model: options.ModelFile,
    label: options.Label = None,
    columns: options.ColumnNames = None,
    exclude: options.Exclude = None,
    id: options.Id = None,
    missing: options.Missing = "skip",
    format: options.Format = None,
    header: options.Header = True,
    follow: options.Follow = False,
    limit: options.Limit = None,
    idle: options.Idle = None,
    checkpoint: options.CheckpointFolder = None,
    every: options.Every = str(EVERY),
    block: options.BlockRows = BLOCK,
    predictions: options.Predictions = None,
    events: options.Events = [],  # noqa: B006
    json: options.Json = False,
) -> None:
    """Go on learning with a model; columns are matched by name."""
    screen = Screen(json, predictions == "-" or "-" in events)
    with told(screen):
        known = _loaded(model)
        choice = _columns(columns, exclude, label, id, missing, known)
        job = _job(known, source, choice, format=format, header=header, follow=follow)
        job.model_path, job.limit, job.idle = model, limit, idle
        _add_results(job, predictions, events, block)
        with _checkpointed(job, checkpoint, every, screen):
            if resume(job) is not None:
                _refuse_to_forget(job, known)
            _carry_out(job, screen)


@app.command()
def watch(
    source: options.SourceUrl,
    model: options.OptionalModel = None,
    columns: options.ColumnNames = None,
    exclude: options.Exclude = None,
    label: options.Label = None,
    missing: options.Missing = "skip",
    format: options.Format = None,
    header: options.Header = True,
    follow: options.Follow = False,
    limit: options.Limit = None,
    idle: options.Idle = None,
    checkpoint: options.CheckpointFolder = None,
    every: options.Every = str(EVERY),
    json: options.Json = False,
) -> None:
    """Learn a stream and say what happens to the clusters, as it happens."""
    screen = Screen(json, stdout_taken=True)
    with told(screen):
        known = load(model) if model is not None and model.exists() else None
        choice = _columns(columns, exclude, label, None, missing, known)
        job = _job(known or IDAT(), source, choice, format=format, header=header, follow=follow)
        job.model_path, job.limit, job.idle = model, limit, idle
        job.event_sinks = [open_event_sink("-") if json else model_commands.Sentences()]
        with _checkpointed(job, checkpoint, every, screen):
            if resume(job) is not None and known is not None:
                _refuse_to_forget(job, known)
            _carry_out(job, screen)


@app.command()
def predict(
    source: options.SourceUrl,
    model: options.ModelFile,
    out: options.Answers = "-",
    similarity: options.Similarity = False,
    columns: options.ColumnNames = None,
    exclude: options.Exclude = None,
    label: options.Label = None,
    id: options.Id = None,
    missing: options.Missing = "skip",
    format: options.Format = None,
    header: options.Header = True,
    follow: options.Follow = False,
    limit: options.Limit = None,
    idle: options.Idle = None,
    checkpoint: options.CheckpointFolder = None,
    every: options.Every = str(EVERY),
    json: options.Json = False,
) -> None:
    """Say which cluster each row belongs to. The model does not change."""
    screen = Screen(json, out == "-")
    with told(screen):
        known = _loaded(model)
        choice = _columns(columns, exclude, label, id, missing, known)
        job = _job(known, source, choice, format=format, header=header, follow=follow)
        job.learns, job.similarity, job.limit, job.idle = False, similarity, limit, idle
        heads = ["row" if id is None else id, "cluster", *(["similarity"] if similarity else [])]
        job.answers = open_sink(out, heads, "jsonl" if json and out == "-" else None)
        with _checkpointed(job, checkpoint, every, screen):
            resume(job)
            _carry_out(job, screen)


@app.command()
def score(
    source: options.SourceUrl,
    model: options.ModelFile,
    columns: options.ColumnNames = None,
    exclude: options.Exclude = None,
    label: options.Label = None,
    missing: options.Missing = "skip",
    format: options.Format = None,
    header: options.Header = True,
    limit: options.Limit = None,
    idle: options.Idle = None,
    json: options.Json = False,
) -> None:
    """Measure how well a model knows a stream, and, with --label, how well its clusters agree with it."""
    screen = Screen(json)
    with told(screen):
        known = _loaded(model)
        choice = _columns(columns, exclude, label, None, missing, known)
        job = _job(known, source, choice, format=format, header=header, follow=False)
        job.learns, job.limit, job.idle, job.block = False, limit, idle, UNANSWERED_BLOCK
        tally = model_commands.Tally(known)
        with stoppable() as stopped, progress(screen) as show:
            job.should_stop = lambda: bool(stopped())

            def on_block(at: Run, block: Block) -> None:
                tally.add(at.model, block)
                show(at, block)

            job.on_block = on_block
            summary = run(job)
            _leave_if_stopped(stopped())
        record = {"rows": summary.rows, "skipped": summary.skipped, **tally.result()}
        screen.result(record, model_commands.lines(record))


app.command(name="info")(model_commands.info)
app.command(name="report")(model_commands.report)
app.command(name="plot")(model_commands.plot)
app.command(name="export")(model_commands.export)
app.add_typer(bench, name="bench")


def _columns(
    columns: str | None,
    exclude: str | None,
    label: str | None,
    id: str | None,
    missing: str,
    known: IDAT | None = None,
) -> Columns:
    if missing not in ("skip", "error"):
        raise typer.BadParameter(f"--missing is {missing!r}, but it must be skip or error.")
    names = getattr(known, "feature_names_in_", None)
    return Columns(
        _split(columns) or None,
        exclude=_split(exclude),
        label=label,
        id=id,
        expected=None if names is None else [str(name) for name in names],
        width=getattr(known, "n_features_in_", None),
        missing=missing,
    )


def _split(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def _loaded(path: Path) -> IDAT:
    if not path.exists():
        raise StreamError(f"There is no model {path}; make one with everclust fit, or check the path.")
    return load(path)


def _job(model: IDAT, url: str, columns: Columns, *, format: str | None, header: bool, follow: bool) -> Run:
    source = open_source(url, columns, format=format, header=header, follow=follow)
    return Run(model, source, columns, url=without_password(url), block=UNANSWERED_BLOCK)


def _add_results(job: Run, predictions: str | None, events: list[str], block: int) -> None:
    if predictions is not None:
        heads = ["row" if job.columns.id is None else job.columns.id, "cluster"]
        job.answers, job.block = open_sink(predictions, heads), block
    job.event_sinks = [open_event_sink(url) for url in events]


@contextmanager
def _checkpointed(job: Run, folder: Path | None, every: str, screen: Screen) -> Iterator[None]:
    """With a folder for checkpoints, if there is to be one; whatever happens, everything is closed."""
    job.every = seconds_or_rows(every)
    if job.answers is None and isinstance(job.every, int):
        job.block = min(job.block, job.every)
    try:
        if folder is not None:
            job.checkpoints = Checkpoints(folder, screen.warn)
            job.checkpoints.open()
        yield
    finally:
        let_go(job)


def _refuse_to_replace(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise StreamError(
            f"{path} is there already; go on with it with everclust update, or replace it with --force."
        )


def _refuse_to_forget(job: Run, known: IDAT) -> None:
    """Somebody else may have gone on with the model since the checkpoint."""
    if known.n_samples_seen_ > job.n_seen and job.checkpoints is not None:
        raise StreamError(
            f"{job.model_path} has learnt {known.n_samples_seen_} samples, but its checkpoint in "
            f"{job.checkpoints.folder} only {job.n_seen}: something else was learnt in between; "
            "choose another checkpoint folder."
        )


class Dominance:
    """Warns once, by the first rows, if a single column decides everything."""

    def __init__(self, screen: Screen) -> None:
        self.screen, self.seen = screen, [np.empty((0, 0))]

    def __call__(self, job: Run, block: Block) -> None:
        """Look at some more rows, until there are enough."""
        if not self.seen or not len(block.X):
            return
        self.seen = [part for part in self.seen if len(part)] + [block.X]
        if sum(map(len, self.seen)) < LOOKED_AT:
            return
        found = dominant_column(np.concatenate(self.seen), job.columns.features or [])
        self.seen = []
        if found is not None:
            self.screen.warn(
                f"Column {found[0]!r} makes up {found[1]:.1%} of all squared distances, so the others hardly "
                "count; rescale it, or learn with --metric capped."
            )


def _carry_out(job: Run, screen: Screen, look: Callable[[Run, Block], None] | None = None) -> None:
    with stoppable() as stopped, progress(screen) as show:

        def on_block(at: Run, block: Block) -> None:
            show(at, block)
            if look is not None:
                look(at, block)

        job.should_stop = lambda: bool(stopped())
        job.on_block = on_block
        summary = run(job)
    screen.result(_record(job, summary), _sentence(job, summary))
    _leave_if_stopped(stopped())


def _leave_if_stopped(number: int) -> None:
    if number:
        raise typer.Exit(SIGNALLED + number)


def _record(job: Run, summary: Summary) -> dict[str, Any]:
    known: dict[str, Any] = {}
    if job.n_seen:
        now = job.model.snapshot()
        known = {"samples": now.n_samples_seen, "nodes": len(now.usage), "clusters": now.n_clusters}
        known |= {"interval": now.interval, "vigilance": now.vigilance}
    return {**summary._asdict(), **known}


def _sentence(job: Run, summary: Summary) -> str:
    read = f"{summary.rows:,} rows" + (f", {summary.skipped:,} skipped" if summary.skipped else "")
    if summary.resumed_at:
        read += f", {summary.resumed_at:,} of them before"
    if not job.n_seen:
        return f"{read}; nothing was learnt."
    now = job.model.snapshot()
    return f"{read}; {now.n_clusters} clusters from {len(now.usage)} nodes; {summary.seconds:.1f} s."
