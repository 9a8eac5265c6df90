"""Commands that show what a model has learnt: info, report, plot, export."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options as options
from .console import Screen, exit_on_error, lines, print_table
from .option_groups import expand_groups

if TYPE_CHECKING:
    import numpy as np
    import pandas

    from ..estimators.incremental import IncrementalClusterer

DRAWN = 5_000  # samples at most, by default


def info(model: options.ModelArgument, json: options.Json = False) -> None:
    """Print the size, parameters and columns of a model."""
    screen = Screen(json)
    with exit_on_error(screen):
        from .setup import load_model

        known = load_model(model)
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
        params = {"algorithm": known._algorithm} | known._saved_params()
        record |= {
            f"--{name.replace('_', '-')}": value for name, value in params.items() if value is not None
        }
        record["bytes"] = model.stat().st_size
        screen.result(record, lines(record))


def report(
    model: options.ModelArgument,
    out: options.TableFile = None,
    json: options.Json = False,
) -> None:
    """Print the clusters: size, nodes, spread, age, and the features in which each differs.

    Centres are in JSON and in files.
    """
    screen = Screen(json)
    with exit_on_error(screen):
        from ..stream.write_file import write_file
        from .setup import load_model

        frame = load_model(model).cluster_report().reset_index()
        if out is not None:
            is_csv = out.suffix == ".csv"
            text = frame.to_csv(index=False) if is_csv else frame.to_json(orient="records")
            write_file(out, text.encode())
        elif json:
            typer.echo(frame.to_json(orient="records"))
        else:
            heads = ["cluster", "size", "nodes", "spread", *_ages(frame), "differs_by"]
            rows = ([_cell(value) for value in row] for row in frame[heads].itertuples(index=False))
            print_table(heads, rows, whole=True)


def _ages(frame: pandas.DataFrame) -> list[str]:
    """Columns that say how old clusters are: times, if the stream had any."""
    return ["born_at", "last_seen_at"] if "born_at" in frame else ["age", "last_seen"]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    whole_seconds = re.sub(r"(:\d\d)\.\d+Z$", r"\1Z", str(value))
    return whole_seconds.replace(", ", "\n")  # a line for each feature


@expand_groups
def plot(
    model: options.ModelArgument,
    source: options.OptionalSource = None,
    *,
    out: options.PictureFile = Path("everclust.png"),
    limit: options.Drawn = DRAWN,
    id: options.Id = None,
    column_options: options.ColumnOptions,
) -> None:
    """Draw the nodes, edges and clusters of a model."""
    with exit_on_error(Screen(False)):
        from ..stream.write_file import write_file
        from .setup import first_rows, load_model

        known = load_model(model)
        X = None if source is None else first_rows(known, source, limit, column_options, id)
        write_file(out, _drawn(known, X, out))
        typer.echo(f"Written: {out}")


def _drawn(known: IncrementalClusterer, X: np.ndarray | None, out: Path) -> bytes:
    from ..stream.batch import StreamError
    from ..view.plots import TopologyDisplay, pyplot

    pyplot().switch_backend("agg")
    labels = None if X is None else known._predict_rows(X)
    display, picture = TopologyDisplay._of(known, X, labels).plot(), io.BytesIO()
    try:
        display.figure_.savefig(picture, dpi=150, format=out.suffix.removeprefix(".") or None)
    except ValueError as error:
        raise StreamError(f"{out} cannot be drawn: {str(error).rstrip('.')}.") from None
    return picture.getvalue()


def export(
    model: options.ModelArgument,
    out: options.GraphFile,
) -> None:
    """Write nodes and edges as GraphML, JSON, or two CSV files (FILE_nodes.csv and FILE_edges.csv)."""
    with exit_on_error(Screen(False)):
        from ..view.export import write_export
        from .setup import load_model

        for path in write_export(load_model(model), out):
            typer.echo(f"Written: {path}")
