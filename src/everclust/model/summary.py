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
    clusters = _largest_first(snapshot, names)
    table = [HEADS, *_cells(clusters, snapshot)]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADS))]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]])
        for row in table
    ]
    return "\n".join([_headline(title, snapshot), *lines, *_rest(clusters, snapshot)])


def summary_html(title: str, snapshot: Snapshot, names: Sequence[str] | None = None) -> str:
    """The same as HTML."""
    clusters = _largest_first(snapshot, names)
    rows = "".join(_html_row("td", cells) for cells in _cells(clusters, snapshot))
    table = f"<table><thead>{_html_row('th', HEADS)}</thead><tbody>{rows}</tbody></table>"
    words = "".join(f"<p>{escape(line)}</p>" for line in _rest(clusters, snapshot))
    return f"<div><p>{escape(_headline(title, snapshot))}</p>{table}{words}</div>"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    """Numbers to the right, in one line; words to the left: notebooks differ in what they do by default."""
    number, words = "text-align: right; white-space: nowrap", "text-align: left; padding-left: 1em"
    styles = [*[number] * (len(cells) - 1), words]
    made = (
        f'<{tag} style="{style}">{escape(cell)}</{tag}>' for cell, style in zip(cells, styles, strict=True)
    )
    return f"<tr>{''.join(made)}</tr>"


def _headline(title: str, snapshot: Snapshot) -> str:
    clusters, nodes = counted(snapshot.n_clusters, "cluster"), counted(len(snapshot.usage), "node")
    samples, features = counted(snapshot.n_samples_seen, "sample"), counted(len(snapshot.mean), "feature")
    return f"{title}: {clusters} in {samples} of {features} ({nodes})"


def _largest_first(snapshot: Snapshot, names: Sequence[str] | None) -> list[Description]:
    return sorted(describe(snapshot, names), key=lambda cluster: -cluster.size)


def _cells(clusters: list[Description], snapshot: Snapshot) -> list[tuple[str, ...]]:
    n_counted = sum(cluster.size for cluster in clusters)
    return [_row(cluster, n_counted, snapshot.n_samples_seen) for cluster in clusters[:MOST_CLUSTERS]]


def _row(cluster: Description, n_counted: int, n_seen: int) -> tuple[str, ...]:
    ago = n_seen - cluster.last_seen
    return (
        str(cluster.cluster),
        f"{cluster.size:,}",
        f"{cluster.size / n_counted:.1%}",
        "now" if ago == 0 else f"{counted(ago, 'sample')} ago",
        cluster.differs_by,
    )


def _rest(clusters: list[Description], snapshot: Snapshot) -> list[str]:
    """What the table leaves out: smaller clusters, and samples that no cluster counts."""
    n_more = len(clusters) - MOST_CLUSTERS
    n_alone = snapshot.n_samples_seen - sum(cluster.size for cluster in clusters)
    rest = [f"and {counted(n_more, 'smaller cluster')}"] if n_more > 0 else []
    if n_alone:
        rest.append(
            f"counted for no cluster: {counted(n_alone, 'sample')}, alone or at nodes that were removed "
            "(predict finds the cluster nearest to each)"
        )
    return rest
