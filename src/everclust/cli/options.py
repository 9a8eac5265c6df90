"""Options that several commands share, alone or in groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ..core.layout import SEED_NODES
from ..stream.defaults import BLOCK, EVERY
from .config import read_config

_data, _running, _results, _page = (
    partial(Option, rich_help_panel=panel) for panel in ("Data", "Running", "Results", "Page")
)

SourceUrl = Annotated[
    str,
    Argument(
        metavar="SOURCE",
        help="A file, a 'pattern*.csv', a folder of Parquet files, - for standard input, or kafka://, "
        "redis://, nats://, mqtt://…",
    ),
]
OptionalSource = Annotated[str | None, Argument(metavar="[SOURCE]", help="Samples to draw behind the nodes.")]
ModelPath = Annotated[
    Path, Option("--model", "-m", metavar="FILE", help="File of the model or, with --key, folder of models.")
]
ModelArgument = Annotated[Path, Argument(metavar="MODEL", help="File of the model, or folder of models.")]
Of = Annotated[str | None, Option("--of", metavar="KEY", help="The model of this key, from a folder.")]
KeyColumn = Annotated[
    str | None,
    Option("--key", help="Column of SOURCE with keys, for --of; by default the one that was learnt with."),
]
OptionalModel = Annotated[
    Path | None,
    Option("--model", "-m", metavar="FILE", help="Model to continue, if the file exists, and to save."),
]
Force = Annotated[bool, Option("--force", help="Replace an existing model.")]
Jobs = Annotated[
    int | None,
    _running("--jobs", help="Learn files on this many threads, or -1 for all cores; in order by default."),
]
Metrics = Annotated[
    str | None,
    _running("--metrics", metavar="HOST:PORT", help="Serve metrics for Prometheus, such as 127.0.0.1:9464."),
]
Config = Annotated[
    Path | None,
    _running(
        "--config",
        metavar="FILE",
        callback=read_config,
        is_eager=True,
        help="Options from a TOML file; those of the command line count more.",
    ),
]
LogFormat = Annotated[
    str | None,
    _running("--log-format", help="Log what happens, line by line on standard error: text or json."),
]
Id = Annotated[str | None, _data("--id", help="Column with row ids, copied to the output.")]
Follow = Annotated[bool, _running("--follow", "-f", help="Wait for more rows at the end of the file.")]
Limit = Annotated[int | None, _running("--limit", min=1, help="Stop after this many rows.")]
Json = Annotated[bool, _results("--json", help="Print JSON.")]
Answers = Annotated[str, Option("--out", "-o", help="A .csv, .jsonl or .parquet file, or -.")]
Rotate = Annotated[
    str | None,
    _results("--rotate", help="Begin a new file of predictions and events by size or time: 100MB, 1d."),
]
Similarity = Annotated[
    bool, Option("--similarity", help="Add the similarity to the nearest node; low means novel.")
]
Novel = Annotated[
    bool, Option("--novel", help="Add whether a row is new: it would found a node if it were learnt.")
]
TableFile = Annotated[
    Path | None, Option("--out", "-o", help="Write a .csv or .json file instead of printing.")
]
PictureFile = Annotated[Path, Option("--out", "-o", help="A .png, .svg or .pdf file.")]
GraphFile = Annotated[Path, Option("--out", "-o", help="A .graphml, .json or .csv file.")]
Drawn = Annotated[int, Option("--limit", min=1, help="Number of samples to draw, from the start.")]


@dataclass
class ModelOptions:
    """Algorithm and parameters of a new model."""

    algorithm: Annotated[
        str, Option("--algorithm", help="everclust, or idat for the algorithm as published.")
    ] = "everclust"
    metric: Annotated[
        str | None, Option("--metric", help="Distance of everclust: capped (the default) or euclidean.")
    ] = None
    max_nodes: Annotated[
        int | None,
        Option("--max-nodes", min=SEED_NODES, help="Maximum number of nodes; no limit by default."),
    ] = None


@dataclass
class KeyOptions:
    """One model for each value of a column."""

    key: Annotated[
        str | None,
        _data("--key", help="Column with keys: one model for each, in the folder that --model names."),
    ] = None
    keys_in_memory: Annotated[
        int | None,
        _running("--keys-in-memory", min=1, help="Models in memory with --key, 1000 by default."),
    ] = None


@dataclass
class ColumnOptions:
    """Which columns to read, and how."""

    columns: Annotated[list[str], _data("--columns", help="Columns to learn, as a,b,c; all by default.")] = (
        field(default_factory=list)
    )
    exclude: Annotated[list[str], _data("--exclude", help="Columns to leave out, as a,b,c.")] = field(
        default_factory=list
    )
    label: Annotated[
        str | None, _data("--label", help="Column with the true class; not used for learning.")
    ] = None
    time: Annotated[
        str | None,
        _data("--time", help="Column with the time of a row: ISO 8601, or seconds or ms since 1970."),
    ] = None
    time_format: Annotated[
        str | None,
        _data("--time-format", metavar="FORMAT", help="How --time is written, as '%d.%m.%Y %H:%M:%S'."),
    ] = None
    format: Annotated[str | None, _data("--format", help="csv, tsv, jsonl, parquet, arrow, npy or npz.")] = (
        None
    )
    header: Annotated[
        bool | None,
        _data(
            "--header/--no-header",
            help="The first line names the columns, or not; by default it does, and must not be all numbers.",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        _data("--delimiter", metavar="CHAR", help="What is between columns of CSV: one character, or tab."),
    ] = None
    decimal: Annotated[
        str | None, _data("--decimal", metavar="CHAR", help="Decimal separator in CSV: . (the default) or ,")
    ] = None
    encoding: Annotated[
        str | None,
        _data("--encoding", help="Encoding of text files, such as latin-1 or utf-16; UTF-8 by default."),
    ] = None


@dataclass
class BadRowOptions:
    """What to do with rows that cannot be learnt."""

    missing: Annotated[str, _data("--missing", help="Rows with missing values: skip or error.")] = "skip"
    on_bad_row: Annotated[
        str, _data("--on-bad-row", help="Rows that cannot be read, or hold no numbers: skip or error.")
    ] = "skip"
    max_rejects: Annotated[
        int | None, _data("--max-rejects", min=0, help="Stop if more rows than this have to be skipped.")
    ] = None
    rejects: Annotated[
        str | None,
        _data(
            "--rejects", metavar="FILE", help="Keep skipped rows, with position and reason, as JSON Lines."
        ),
    ] = None


@dataclass
class RangeOptions:
    """How much of a source to read."""

    follow: Follow = False
    limit: Limit = None
    idle: Annotated[
        float | None, _running("--idle", min=0.1, help="Stop after this many seconds without a row.")
    ] = None


@dataclass
class CheckpointOptions:
    """Where and how often to write checkpoints."""

    checkpoint: Annotated[
        Path | None,
        _running("--checkpoint", metavar="DIR", help="Folder of checkpoints, from which the run resumes."),
    ] = None
    every: Annotated[
        str, _running("--every", help="Interval between checkpoints: rows (10000) or time (30s, 5m).")
    ] = f"{EVERY}"

    def rows_or_seconds(self) -> int | float:
        """The interval: an int is rows (`10000`), a float seconds (`30s`, `5m`)."""
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
    """What to write while a stream is learnt."""

    block: Annotated[
        int, _running("--block", min=1, help="Rows that are learnt together, then predicted.")
    ] = BLOCK
    predictions: Annotated[
        str | None,
        _results(
            "--predictions", "-p", metavar="FILE", help="Write clusters of rows: .csv, .jsonl, .parquet or -."
        ),
    ] = None
    novel: Annotated[
        bool,
        _results("--novel", help="Add to --predictions whether a row was new when its block began."),
    ] = False
    events: Annotated[
        list[str],
        _results("--events", "-e", help="Write events: a .jsonl file, -, redis://host/stream or https://…"),
    ] = field(default_factory=list)

    webhook_header: Annotated[
        list[str],
        _results(
            "--webhook-header",
            metavar="'NAME: VALUE'",
            help="Send this header to webhooks, as 'Authorization: Bearer ${TOKEN}'.",
        ),
    ] = field(default_factory=list)
    rotate: Rotate = None

    @property
    def use_stdout(self) -> bool:
        """Whether one of them goes to standard output."""
        return "-" in (self.predictions, *self.events)


@dataclass
class AlertOptions:
    """What to alert on, and whom."""

    alert_on: Annotated[
        list[str],
        _results("--alert-on", help="Alert on events and shares of rows: born,split,novel>0.2,skipped>0.05"),
    ] = field(default_factory=list)
    alert_to: Annotated[
        list[str],
        _results("--alert-to", help="Where alerts go: https://…, a .jsonl file, or 'exec:command'."),
    ] = field(default_factory=list)


@dataclass
class PageOptions:
    """How to show a stream while it is learnt."""

    speed: Annotated[
        float | None, Option("--speed", min=0.01, help="Rows per second; unlimited by default.")
    ] = None
    wait: Annotated[
        bool | None,
        Option(
            "--wait/--no-wait", help="Start when the page is opened; the default for sources with an end."
        ),
    ] = None
    stay: Annotated[bool, Option("--stay/--leave", help="Keep the page when the source ends, or exit.")] = (
        True
    )
    host: Annotated[
        str,
        _page("--host", help="Address to listen on; if not of this machine, with a token (EVERCLUST_TOKEN)."),
    ] = "127.0.0.1"
    port: Annotated[
        int, _page("--port", min=0, max=65535, help="Port to listen on; a free one by default.")
    ] = 0
    view_only: Annotated[
        bool | None,
        _page(
            "--view-only/--controls",
            help="Viewers cannot, or can, pause and step; only those on this machine can by default.",
        ),
    ] = None
    open_page: Annotated[bool, _page("--open", help="Open the page in the browser.")] = False


def split_names(*texts: str) -> list[str]:
    """The names in texts such as `a,b,c`."""
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def split_columns(*texts: str) -> list[str]:
    """The names of columns in texts such as `a,b,c`; an empty text is the name of a column without one."""
    return [name for text in texts for name in (split_names(text) if text else [""])]
