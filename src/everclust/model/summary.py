"""A model in words, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..text import counted
from .report import Description, describe
from .snapshot import Snapshot

MOST_CLUSTERS = 20  # listed, the largest first
HEADS = ("cluster", "samples", "share", "last seen", "differs from the mean by (standard deviations)")


def summary(title: str, snapshot: Snapshot, names: Sequence[str] | None = None) -> str:
    """What a model has learnt, and a table of its clusters."""
    table = [HEADS, *_cells(snapshot, names)]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADS))]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]])
        for row in table
    ]
    return "\n".join([_headline(title, snapshot), *lines, *_rest(snapshot)])


def summary_html(title: str, snapshot: Snapshot, names: Sequence[str] | None = None) -> str:
    """The same as HTML."""
    heads = "".join(f"<th>{escape(head)}</th>" for head in HEADS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in _cells(snapshot, names)
    )
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    words = "".join(f"<p>{escape(line)}</p>" for line in _rest(snapshot))
    return f"<div><p>{escape(_headline(title, snapshot))}</p>{table}{words}</div>"


def _headline(title: str, snapshot: Snapshot) -> str:
    clusters, nodes = counted(snapshot.n_clusters, "cluster"), counted(len(snapshot.usage), "node")
    samples, features = counted(snapshot.n_samples_seen, "sample"), counted(len(snapshot.mean), "feature")
    return f"{title}: {clusters} in {samples} of {features} ({nodes})"


def _cells(snapshot: Snapshot, names: Sequence[str] | None) -> list[tuple[str, ...]]:
    clusters = sorted(describe(snapshot, names), key=lambda cluster: -cluster.size)
    return [_row(cluster, snapshot.n_samples_seen) for cluster in clusters[:MOST_CLUSTERS]]


def _row(cluster: Description, n_seen: int) -> tuple[str, ...]:
    ago = n_seen - cluster.last_seen
    return (
        str(cluster.cluster),
        f"{cluster.size:,}",
        f"{cluster.size / n_seen:.1%}",
        "now" if ago == 0 else f"{counted(ago, 'sample')} ago",
        cluster.differs_by,
    )


def _rest(snapshot: Snapshot) -> list[str]:
    n_more = snapshot.n_clusters - MOST_CLUSTERS
    return [f"and {counted(n_more, 'smaller cluster')}"] if n_more > 0 else []
