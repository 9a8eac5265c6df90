"""Nodes and edges of a model as GraphML, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from ..estimators.clusterer import Clusterer
from ..optional import require
from ..stream.batch import StreamError
from ..stream.write_file import write_file

NODE = ("node", "cluster", "usage", "scale", "active")


def write_export(model: Clusterer, path: Path) -> list[Path]:
    """Write the graph of a model in the format that the suffix names.

    Parameters
    ----------
    model : EverClust or IDAT
    path : Path
        The suffix names the format: ``.graphml``, ``.json`` or ``.csv`` (two files, nodes and edges).

    Returns
    -------
    paths : list of Path
        The files written.
    """
    writers = {".graphml": _graphml, ".json": _json, ".csv": _csv}
    if path.suffix not in writers:
        raise StreamError(f"{path} has the unknown suffix {path.suffix!r}; use .graphml, .json or .csv.")
    files = writers[path.suffix](model, path)
    for name, data in files.items():
        write_file(name, data)
    return list(files)


def nodes(model: Clusterer) -> list[dict[str, Any]]:
    """Every node with its attributes and its prototype, a column for each feature."""
    now, names = model.snapshot(), _names(model)
    return [
        dict(zip(NODE, (k, int(label), int(usage), float(scale), bool(active)), strict=True))
        | dict(zip(names, map(float, prototype), strict=True))
        for k, (label, usage, scale, active, prototype) in enumerate(
            zip(now.node_labels, now.usage, now.scales, now.active, now.prototypes, strict=True)
        )
    ]


def _names(model: Clusterer) -> list[str]:
    """Names of the features; one that equals the name of another attribute gets a prefix."""
    names = getattr(model, "feature_names_in_", [f"x{k}" for k in range(model.n_features_in_)])
    return [f"feature {name}" if name in NODE else str(name) for name in names]


def _graphml(model: Clusterer, path: Path) -> dict[Path, bytes]:
    networkx = require("networkx", extra="graph", purpose="GraphML")
    graph = networkx.Graph()
    graph.add_nodes_from((node.pop("node"), node) for node in nodes(model))
    graph.add_edges_from(model.edges_.tolist())
    out = io.BytesIO()
    networkx.write_graphml(graph, out)
    return {path: out.getvalue()}


def _json(model: Clusterer, path: Path) -> dict[Path, bytes]:
    now = model.snapshot()
    record = {
        "samples": now.n_samples_seen,
        "clusters": now.n_clusters,
        "interval": now.interval,
        "vigilance": now.vigilance,
        "nodes": nodes(model),
        "edges": now.edges.tolist(),
    }
    return {path: json.dumps(record).encode()}


def _csv(model: Clusterer, path: Path) -> dict[Path, bytes]:
    rows = nodes(model)
    return {
        path.with_name(f"{path.stem}_nodes.csv"): _lines(list(rows[0]), [list(row.values()) for row in rows]),
        path.with_name(f"{path.stem}_edges.csv"): _lines(["first", "second"], model.edges_.tolist()),
    }


def _lines(heads: list[str], rows: list[list[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([heads, *rows])
    return out.getvalue().encode()
