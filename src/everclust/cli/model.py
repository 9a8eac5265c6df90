"""Commands that show what a model has learnt: info, report, plot, export."""

from __future__ import annotations

import io
import re
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options as options
from .console import Screen, exit_on_error, lines, print_table
from .option_groups import expand_groups

if TYPE_CHECKING:
    import numpy as np
    import pandas

    from ..estimators.clusterer import Clusterer

DRAWN = 5_000  # samples at most, by default


def info(model: options.ModelArgument, of: options.Of = None, json: options.Json = False) -> None:
    """Print the size, parameters and columns of a model, or of a folder of models."""
    screen = Screen(json)
    with exit_on_error(screen):
        is_set = model.is_dir() and of is None
        record = _set_record(model, whole=json) if is_set else _model_record(model, of)
        screen.result(record, lines(record))


def _model_record(path: Path, of: str | None) -> dict[str, Any]:
    from .load import load_one

    known = load_one(path, of)
    now = known.snapshot()
    record: dict[str, Any] = {
        "samples": now.n_samples_seen,
        "clusters": now.n_clusters,
        "nodes": len(now.usage),
        "active nodes": int(now.active.sum()),
        "edges": len(now.edges),
        "interval": now.interval,
        "vigilance": now.vigilance,
        **_columns_and_parameters(known),
    }
    return record if of is not None else {**record, "bytes": path.stat().st_size}


def _set_record(folder: Path, *, whole: bool) -> dict[str, Any]:
    """What is known of all models together, without reading any; all keys, or the first ones."""
    from ..many_models.model_folder import model_file
    from ..many_models.saved_models import SavedModels
    from ..stream.columns import SHOWN
    from ..stream.keyed import KeyedModels

    models = SavedModels(folder, 1)
    saved = KeyedModels(models).record
    keys = sorted(map(str, models.files))
    more = [f"and {len(keys) - SHOWN:,} more"] if len(keys) > SHOWN else []
    record: dict[str, Any] = {"models": len(models), "keys": keys if whole else [*keys[:SHOWN], *more]}
    if saved is not None:
        record |= {name: saved[name] for name in ("samples", "source", "rows", "skipped")}
    files = [model_file(folder, number) for number in models.files.values()]
    n_bytes = sum(file.stat().st_size for file in files if file.exists())  # a run may replace some just now
    return {**record, **_columns_and_parameters(models._template), "bytes": n_bytes}


def _columns_and_parameters(known: Clusterer) -> dict[str, Any]:
    record: dict[str, Any] = {"features": getattr(known, "n_features_in_", None)}
    if hasattr(known, "feature_names_in_"):
        record["columns"] = [str(name) for name in known.feature_names_in_]
    params = {"algorithm": known._algorithm} | known._saved_params()
    return record | {
        f"--{name.replace('_', '-')}": value for name, value in params.items() if value is not None
    }


def report(
    model: options.ModelArgument,
    of: options.Of = None,
    out: options.TableFile = None,
    json: options.Json = False,
) -> None:
    """Print the clusters: size, nodes, spread, age, and the features in which each differs.

    Centres are in JSON and in files.
    """
    screen = Screen(json)
    with exit_on_error(screen):
        from ..stream.batch import StreamError
        from ..stream.write_file import write_file
        from .load import load_one

        if out is not None and out.suffix not in (".csv", ".json"):
            raise StreamError(f"{out} has the unknown suffix {out.suffix!r}; use .csv or .json.")
        known = load_one(model, of)
        frame = known.cluster_report().reset_index()
        if out is not None:
            write_file(out, (_as_csv(frame, known) if out.suffix == ".csv" else _as_json(frame)).encode())
            screen.result({"written": str(out)}, f"Written: {out}")
        elif json:
            typer.echo(_as_json(frame))
        else:
            heads = ["cluster", "size", "nodes", "spread", *_ages(frame), "differs_by"]
            rows = ([_cell(value) for value in row] for row in frame[heads].itertuples(index=False))
            print_table(heads, rows, whole=True)


def _as_csv(frame: pandas.DataFrame, known: Clusterer) -> str:
    """A report as CSV, with a column of centres for each feature."""
    from ..model.report import feature_names

    place, centres = frame.columns.get_loc("centre"), frame.pop("centre")
    for k, name in enumerate(known._names() or feature_names(known.snapshot())):
        frame.insert(place + k, f"centre_{name}", [centre[k] for centre in centres])
    return frame.to_csv(index=False)


def _as_json(frame: pandas.DataFrame) -> str:
    """A report as JSON, with all digits."""
    records = frame.assign(centre=[centre.tolist() for centre in frame["centre"]]).to_dict("records")
    return dumps(records, separators=(",", ":"))


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
    of: options.Of = None,
    key: options.KeyColumn = None,
    out: options.PictureFile = Path("everclust.png"),
    limit: options.Drawn = DRAWN,
    id: options.Id = None,
    column_options: options.ColumnOptions,
) -> None:
    """Draw the nodes, edges and clusters of a model, and rows of a source; with --of, those of the key."""
    with exit_on_error(Screen(False)):
        from ..stream.write_file import write_file
        from .first_rows import first_rows, one_key
        from .load import load_one

        if key is not None and (of is None or source is None):
            raise typer.BadParameter(
                "--key names the column of the keys in SOURCE, for a model --of a folder."
            )
        known, X = load_one(model, of), None
        if source is not None:
            only = None if of is None else one_key(model, of, key)
            X = first_rows(known, source, limit, column_options, id, only)
        write_file(out, _drawn(known, X, out))
        typer.echo(f"Written: {out}")


def _drawn(known: Clusterer, X: np.ndarray | None, out: Path) -> bytes:
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
    of: options.Of = None,
) -> None:
    """Write nodes and edges as GraphML, JSON, or two CSV files (FILE_nodes.csv and FILE_edges.csv)."""
    with exit_on_error(Screen(False)):
        from ..view.export import write_export
        from .load import load_one

        for path in write_export(load_one(model, of), out):
            typer.echo(f"Written: {path}")
