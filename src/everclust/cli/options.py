"""The options that the stream commands share, alone or in groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ..stream.defaults import BLOCK, EVERY

_data, _running, _results, _page = (
    partial(Option, rich_help_panel=panel) for panel in ("Data", "Running", "Results", "Page")
)

SourceUrl = Annotated[
    str,
    Argument(
        metavar="SOURCE",
        help="A file, a 'pattern*.csv', - for standard input, or kafka://, redis://, nats://, mqtt://…",
    ),
]
OptionalSource = Annotated[str | None, Argument(metavar="[SOURCE]", help="Samples to draw underneath.")]
ModelFile = Annotated[Path, Option("--model", "-m", metavar="FILE", help="File of the model.")]
ModelArgument = Annotated[Path, Argument(metavar="MODEL", help="File of the model.")]
OptionalModel = Annotated[
    Path | None, Option("--model", "-m", metavar="FILE", help="Go on with this model, and keep it.")
]
Force = Annotated[bool, Option("--force", help="Replace a model that is there.")]
Id = Annotated[str | None, _data("--id", help="Column with the name of a row; it is passed through.")]
Follow = Annotated[bool, _running("--follow", "-f", help="Wait for more when the file ends.")]
Limit = Annotated[int | None, _running("--limit", min=1, help="Stop after so many rows.")]
Json = Annotated[bool, _results("--json", help="Speak JSON.")]
Answers = Annotated[str, Option("--out", "-o", help="A .csv, .jsonl or .parquet file, or -.")]
Similarity = Annotated[bool, Option("--similarity", help="Add the similarity; low means novel.")]
TableFile = Annotated[Path | None, Option("--out", "-o", help="A .csv or .json file instead of the screen.")]
PictureFile = Annotated[Path, Option("--out", "-o", help="A .png, .svg or .pdf file.")]
GraphFile = Annotated[Path, Option("--out", "-o", help="A .graphml, .json or .csv file.")]
Drawn = Annotated[int, Option("--limit", min=1, help="Samples to draw, the first ones.")]


@dataclass
class Modes:
    """What kind of model a new one is."""

    clusters: Annotated[str, Option("--clusters", help="components or handover.")] = "components"
    metric: Annotated[str, Option("--metric", help="euclidean or capped.")] = "euclidean"
    max_nodes: Annotated[int | None, Option("--max-nodes", min=1, help="Nodes to keep at most.")] = None


@dataclass
class Reading:
    """Which columns of a source are read, and how."""

    columns: Annotated[str | None, _data("--columns", help="Columns to learn, a,b,c; all by default.")] = None
    exclude: Annotated[str | None, _data("--exclude", help="Columns to leave out, a,b,c.")] = None
    label: Annotated[str | None, _data("--label", help="Column with what a row is; it is not learnt.")] = None
    missing: Annotated[str, _data("--missing", help="Rows with missing values: skip or error.")] = "skip"
    format: Annotated[str | None, _data("--format", help="csv, tsv, jsonl, parquet, arrow, npy or npz.")] = (
        None
    )
    header: Annotated[
        bool | None,
        _data(
            "--header/--no-header",
            help="Does the first line name the columns? By default yes, but numbers alone are refused.",
        ),
    ] = None


@dataclass
class Stretch:
    """How much of a source is read."""

    follow: Follow = False
    limit: Limit = None
    idle: Annotated[
        float | None, _running("--idle", min=0.1, help="Stop after so many seconds without a row.")
    ] = None


@dataclass
class Keeping:
    """Where checkpoints are kept, and how often they are written."""

    checkpoint: Annotated[
        Path | None, _running("--checkpoint", metavar="DIR", help="Go on from here after a crash.")
    ] = None
    every: Annotated[
        str, _running("--every", help="Between checkpoints: rows (10000) or time (30s, 5m).")
    ] = f"{EVERY}"

    def rows_or_seconds(self) -> int | float:
        """`10000` is rows, `30s` or `5m` is time."""
        text, units = self.every, {"s": 1.0, "m": 60.0, "h": 3600.0}
        try:
            value = float(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text)
        except ValueError:
            value = 0
        if value <= 0:
            raise typer.BadParameter(
                f"{text!r} is neither a number of rows (10000) nor a time (30s, 5m, 1h)."
            )
        return value


@dataclass
class Results:
    """What is written while a stream is learnt."""

    block: Annotated[int, _running("--block", min=1, help="Rows learnt, then answered, together.")] = BLOCK
    predictions: Annotated[
        str | None,
        _results(
            "--predictions", "-p", metavar="FILE", help="Clusters of the rows: .csv, .jsonl, .parquet or -."
        ),
    ] = None
    events: Annotated[
        list[str],
        _results("--events", "-e", help="Events: a .jsonl file, -, redis://host/stream or https://…."),
    ] = field(default_factory=list)

    @property
    def take_stdout(self) -> bool:
        """Is standard output for them?"""
        return "-" in (self.predictions, *self.events)


@dataclass
class Showing:
    """How a stream is shown while it is learnt."""

    speed: Annotated[
        float | None, Option("--speed", min=0.01, help="Rows a second; as fast as can be by default.")
    ] = None
    wait: Annotated[
        bool | None,
        Option(
            "--wait/--no-wait", help="Begin when the page is opened? By default if the source has an end."
        ),
    ] = None
    stay: Annotated[bool, Option("--stay/--leave", help="Stay when the source ends?")] = True
    host: Annotated[
        str, _page("--host", help="Address to listen at; others than this machine need a token.")
    ] = "127.0.0.1"
    port: Annotated[int, _page("--port", min=0, max=65535, help="Port; a free one by default.")] = 0
    open_page: Annotated[bool, _page("--open", help="Open the page in the browser.")] = False


def split_names(*texts: str | None) -> list[str]:
    """The names in texts such as `a,b,c`."""
    return [name.strip() for text in texts for name in (text or "").split(",") if name.strip()]
