"""The options that the stream commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_DATA, _RUN, _OUT = "Data", "Running", "Results"

SourceUrl = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file, a 'pattern*.csv', - for standard input, or kafka://, redis://, nats://, mqtt://…",
    ),
]
ModelFile = Annotated[Path, typer.Option("--model", "-m", metavar="FILE", help="File of the model.")]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="File of the model.")]
ColumnNames = Annotated[
    str | None,
    typer.Option("--columns", help="Columns to learn, a,b,c; all by default.", rich_help_panel=_DATA),
]
Exclude = Annotated[
    str | None, typer.Option("--exclude", help="Columns to leave out, a,b,c.", rich_help_panel=_DATA)
]
Label = Annotated[
    str | None,
    typer.Option("--label", help="Column with what a row is; it is not learnt.", rich_help_panel=_DATA),
]
Id = Annotated[
    str | None,
    typer.Option("--id", help="Column with the name of a row; it is passed through.", rich_help_panel=_DATA),
]
Missing = Annotated[
    str,
    typer.Option("--missing", help="Rows with missing values: skip or error.", rich_help_panel=_DATA),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="csv, tsv, jsonl, parquet, arrow, npy or npz.", rich_help_panel=_DATA),
]
Header = Annotated[
    bool,
    typer.Option("--header/--no-header", help="Does the first line name the columns?", rich_help_panel=_DATA),
]
Follow = Annotated[
    bool, typer.Option("--follow", "-f", help="Wait for more when the file ends.", rich_help_panel=_RUN)
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Stop after so many rows.", rich_help_panel=_RUN)
]
Idle = Annotated[
    float | None,
    typer.Option("--idle", min=0.1, help="Stop after so many seconds without a row.", rich_help_panel=_RUN),
]
CheckpointFolder = Annotated[
    Path | None,
    typer.Option("--checkpoint", metavar="DIR", help="Go on from here after a crash.", rich_help_panel=_RUN),
]
Every = Annotated[
    str,
    typer.Option(
        "--every", help="Between checkpoints: rows (10000) or time (30s, 5m).", rich_help_panel=_RUN
    ),
]
BlockRows = Annotated[
    int,
    typer.Option("--block", min=1, help="Rows learnt, then answered, together.", rich_help_panel=_RUN),
]
Predictions = Annotated[
    str | None,
    typer.Option(
        "--predictions",
        "-p",
        metavar="FILE",
        help="Clusters of the rows: .csv, .jsonl, .parquet or -.",
        rich_help_panel=_OUT,
    ),
]
Events = Annotated[
    list[str],
    typer.Option(
        "--events",
        "-e",
        help="Events: a .jsonl file, -, redis://host/stream or https://….",
        rich_help_panel=_OUT,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Speak JSON.", rich_help_panel=_OUT)]
Clusters = Annotated[str, typer.Option("--clusters", help="components or handover.")]
Metric = Annotated[str, typer.Option("--metric", help="euclidean or capped.")]
MaxNodes = Annotated[int | None, typer.Option("--max-nodes", min=1, help="Nodes to keep at most.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a model that is there.")]
OptionalModel = Annotated[
    Path | None, typer.Option("--model", "-m", metavar="FILE", help="Go on with this model, and keep it.")
]
Answers = Annotated[str, typer.Option("--out", "-o", help="A .csv, .jsonl or .parquet file, or -.")]
Similarity = Annotated[bool, typer.Option("--similarity", help="Add the similarity; low means novel.")]
TableFile = Annotated[
    Path | None, typer.Option("--out", "-o", help="A .csv or .json file instead of the screen.")
]
PictureFile = Annotated[Path, typer.Option("--out", "-o", help="A .png, .svg or .pdf file.")]
GraphFile = Annotated[Path, typer.Option("--out", "-o", help="A .graphml, .json or .csv file.")]
OptionalSource = Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="Samples to draw underneath.")]
Drawn = Annotated[int, typer.Option("--limit", min=1, help="Samples to draw, the first ones.")]
