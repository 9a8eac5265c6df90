"""The commands that look at a model: info, report, plot, export."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from . import stream_options as options
from .estimator import IDAT, load
from .stream.batch import StreamError
from .stream.blocks import Block
from .stream.exports import write_export
from .stream.sources import open_source
from .stream_screen import Screen, told

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
        known = _loaded(model)
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
        frame = _loaded(model).cluster_report().reset_index()
        if out is not None and out.suffix == ".csv":
            out.write_text(frame.to_csv(index=False))
        elif out is not None:
            out.write_text(frame.to_json(orient="records"))
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


def plot(
    model: options.ModelArgument,
    source: options.OptionalSource = None,
    out: options.PictureFile = Path("everclust.png"),
    limit: options.Drawn = DRAWN,
    format: options.Format = None,
    header: options.Header = True,
    label: options.Label = None,
    id: options.Id = None,
) -> None:
    """Draw the nodes, edges and clusters of a model."""
    screen = Screen(False)
    with told(screen):
        known = _loaded(model)
        X = None if source is None else _first_rows(known, source, limit, format, header, label, id)
        _draw(known, X, out)
        typer.echo(f"Written: {out}")


def _draw(known: IDAT, X: np.ndarray | None, out: Path) -> None:
    from .view.plots import TopologyDisplay, pyplot

    names = known.__dict__.pop("feature_names_in_", None)  # the samples come as a bare array
    if names is not None and X is None:
        known.feature_names_in_ = names
    pyplot().switch_backend("agg")
    display = TopologyDisplay.from_estimator(known, X)
    try:
        display.figure_.savefig(out, dpi=150)
    except (OSError, ValueError) as error:
        raise StreamError(f"{out} cannot be drawn: {error}.") from None


def _first_rows(
    known: IDAT, url: str, n_rows: int, format: str | None, header: bool, label: str | None, id: str | None
) -> np.ndarray:
    from .stream.blocks import blocks
    from .stream.columns import Columns

    names = getattr(known, "feature_names_in_", None)
    expected = None if names is None else [str(name) for name in names]
    columns = Columns(label=label, id=id, expected=expected, width=known.n_features_in_)
    source = open_source(url, columns, format=format, header=header)
    parts: list[np.ndarray] = []
    for block in blocks(source, columns, None, n_rows, whole=False):
        parts += [] if block is None else [block.X]
        if sum(map(len, parts)) >= n_rows:
            break
    if not parts:
        raise StreamError(f"{url} has no rows to draw.")
    return np.concatenate(parts)[:n_rows]


def export(
    model: options.ModelArgument,
    out: options.GraphFile,
) -> None:
    """Write nodes and edges as GraphML, JSON, or two CSV files (FILE_nodes.csv and FILE_edges.csv)."""
    with told(Screen(False)):
        known = _loaded(model)
        for path in write_export(known, out):
            typer.echo(f"Written: {path}")


def _loaded(path: Path) -> IDAT:
    if not path.exists():
        raise StreamError(f"There is no model {path}; make one with everclust fit, or check the path.")
    return load(path)


class Sentences:
    """Events for people to read, as they happen."""

    name = "-"

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Say some more."""
        for event in events:
            typer.echo(f"sample {event['sample']:,}: {sentence(event)}")

    def mark(self) -> None:
        """What is said is said."""

    def rewind(self, mark: Any) -> None:
        """What is said is said."""

    def finish(self) -> None:
        """No more will come."""

    def let_go(self) -> None:
        """Something went wrong."""


def sentence(event: dict[str, Any]) -> str:
    """An event in words, with the sizes of what came of it."""
    before, after = (" and ".join(map(str, event[name])) for name in ("before", "after"))
    sizes = f" ({' and '.join(map(str, event['sizes']))} samples)"
    if event["kind"] == "gone":
        return f"{before} is gone{sizes}"
    if event["kind"] == "born":
        return f"{after} is born{sizes}"
    return f"{before} {'merged' if event['kind'] == 'merged' else 'split'} into {after}{sizes}"


class Tally:
    """How similar rows are to what a model knows, and how its clusters agree with labels."""

    def __init__(self, model: IDAT) -> None:
        self.vigilance = model.vigilance_
        self.n, self.total, self.least, self.n_novel = 0, 0.0, 1.0, 0
        self.codes: dict[Any, int] = defaultdict(lambda: len(self.codes))
        self.found: list[np.ndarray] = []
        self.true: list[np.ndarray] = []

    def add(self, model: IDAT, block: Block) -> None:
        """Look at some more rows."""
        if not len(block.X):
            return
        similarity = model.score_samples(block.X)
        self.n += len(similarity)
        self.total += float(similarity.sum())
        self.least = min(self.least, float(similarity.min()))
        self.n_novel += int((similarity < self.vigilance).sum())
        if block.labels is not None:
            self.true.append(np.array([self.codes[label] for label in block.labels], np.int32))
            self.found.append(model.predict(block.X))

    def result(self) -> dict[str, Any]:
        """All measures."""
        if not self.n:
            raise StreamError("No complete row came, so there is nothing to score; check the source.")
        record: dict[str, Any] = {
            "mean similarity": self.total / self.n,
            "least similarity": self.least,
            "novel": self.n_novel / self.n,
        }
        if self.true:
            from .benchmark.measures import ami, ari

            true, found = np.concatenate(self.true), np.concatenate(self.found)
            record |= {"classes": len(self.codes), "ARI": ari(true, found), "AMI": ami(true, found)}
        return record
