"""The commands that look at a model: info, report, plot, export."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ..estimators.idat import IDAT
from ..stream.batch import StreamError
from ..stream.blocks import blocks
from ..stream.sources import open_source
from ..stream.urls import without_password
from ..stream.write_file import write_file
from ..view.export import write_export
from . import options as options
from .console import Screen, told
from .option_groups import spelt_out
from .setup import columns_for, loaded

DRAWN = 5_000  # samples at most
WIDTH = 60  # of a column in a report


def lines(record: dict[str, Any]) -> str:
    """A record for people to read."""
    width = max(map(len, record)) + 2
    return "\n".join(f"{name:{width}}{_shown(value)}" for name, value in record.items())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def info(model: options.ModelArgument, json: options.Json = False) -> None:
    """Say what a model is and what it has learnt."""
    screen = Screen(json)
    with told(screen):
        known = loaded(model)
        now = known.snapshot()
        record: dict[str, Any] = {
            "samples": now.n_samples_seen,
            "clusters": now.n_clusters,
            "nodes": len(now.usage),
            "active nodes": int(now.active.sum()),
            "edges": len(now.edges),
            "interval": now.interval,
            "vigilance": now.vigilance,
            "features": known.n_features_in_,
        }
        if hasattr(known, "feature_names_in_"):
            record["columns"] = [str(name) for name in known.feature_names_in_]
        modes = known.get_params()
        record |= {f"--{name.replace('_', '-')}": mode for name, mode in modes.items() if mode is not None}
        record["bytes"] = model.stat().st_size
        screen.result(record, lines(record))


def report(
    model: options.ModelArgument,
    out: options.TableFile = None,
    json: options.Json = False,
) -> None:
    """Show the clusters: size, nodes, spread, age, and what makes each different."""
    screen = Screen(json)
    with told(screen):
        frame = loaded(model).cluster_report().reset_index()
        if out is not None:
            is_csv = out.suffix == ".csv"
            text = frame.to_csv(index=False) if is_csv else frame.to_json(orient="records")
            write_file(out, text.encode())
        elif json:
            typer.echo(frame.to_json(orient="records"))
        else:
            _print_table(frame)


def _print_table(frame: Any) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    table = Table(*map(str, frame.columns), box=SIMPLE)
    for row in frame.itertuples(index=False):
        table.add_row(*(_cell(value) for value in row))
    Console().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (np.ndarray, list, tuple)):
        value = ", ".join(f"{x:.3g}" if isinstance(x, float) else str(x) for x in value)
    text = str(value)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


@spelt_out
def plot(
    model: options.ModelArgument,
    source: options.OptionalSource = None,
    *,
    out: options.PictureFile = Path("everclust.png"),
    limit: options.Drawn = DRAWN,
    id: options.Id = None,
    reading: options.Reading,
) -> None:
    """Draw the nodes, edges and clusters of a model."""
    with told(Screen(False)):
        known = loaded(model)
        X = None if source is None else _first_rows(known, source, limit, reading, id)
        write_file(out, _drawn(known, X, out))
        typer.echo(f"Written: {out}")


def _drawn(known: IDAT, X: np.ndarray | None, out: Path) -> bytes:
    from ..view.plots import TopologyDisplay, pyplot

    names = known.__dict__.pop("feature_names_in_", None)  # the samples come as a bare array
    if names is not None and X is None:
        known.feature_names_in_ = names
    pyplot().switch_backend("agg")
    display, picture = TopologyDisplay.from_estimator(known, X), io.BytesIO()
    try:
        display.figure_.savefig(picture, dpi=150, format=out.suffix.removeprefix(".") or None)
    except ValueError as error:
        raise StreamError(f"{out} cannot be drawn: {str(error).rstrip('.')}.") from None
    return picture.getvalue()


def _first_rows(known: IDAT, url: str, n_rows: int, reading: options.Reading, id: str | None) -> np.ndarray:
    columns = columns_for(known, reading, id)
    source = open_source(url, columns, format=reading.format, header=reading.header)
    parts: list[np.ndarray] = []
    with closing(source):
        for block in blocks(source, columns, None, n_rows, whole=False):
            parts += [] if block is None else [block.X]
            if sum(map(len, parts)) >= n_rows:
                break
    if not parts:
        raise StreamError(f"{without_password(url)} has no rows to draw.")
    return np.concatenate(parts)[:n_rows]


def export(
    model: options.ModelArgument,
    out: options.GraphFile,
) -> None:
    """Write nodes and edges as GraphML, JSON, or two CSV files (FILE_nodes.csv and FILE_edges.csv)."""
    with told(Screen(False)):
        known = loaded(model)
        for path in write_export(known, out):
            typer.echo(f"Written: {path}")
