"""Commands that show what a model has learnt: info, report, plot, export."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options as options
from .console import Screen, lines, print_table, told
from .option_groups import spelt_out

if TYPE_CHECKING:
    import numpy as np

    from ..estimators.idat import IDAT

DRAWN = 5_000  # samples at most
WIDTH = 60  # of a column in a report


def info(model: options.ModelArgument, json: options.Json = False) -> None:
    """Say what a model is and what it has learnt."""
    screen = Screen(json)
    with told(screen):
        from .setup import loaded

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
        from ..stream.write_file import write_file
        from .setup import loaded

        frame = loaded(model).cluster_report().reset_index()
        if out is not None:
            is_csv = out.suffix == ".csv"
            text = frame.to_csv(index=False) if is_csv else frame.to_json(orient="records")
            write_file(out, text.encode())
        elif json:
            typer.echo(frame.to_json(orient="records"))
        else:
            rows = ([_cell(value) for value in row] for row in frame.itertuples(index=False))
            print_table(list(map(str, frame.columns)), rows)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if hasattr(value, "__iter__") and not isinstance(value, str):
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
        from ..stream.write_file import write_file
        from .setup import first_rows, loaded

        known = loaded(model)
        X = None if source is None else first_rows(known, source, limit, reading, id)
        write_file(out, _drawn(known, X, out))
        typer.echo(f"Written: {out}")


def _drawn(known: IDAT, X: np.ndarray | None, out: Path) -> bytes:
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
    with told(Screen(False)):
        from ..view.export import write_export
        from .setup import loaded

        for path in write_export(loaded(model), out):
            typer.echo(f"Written: {path}")
