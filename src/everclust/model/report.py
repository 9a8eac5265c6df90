"""Tables of clusters: their size, age and centre, and the features in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..optional import require
from .snapshot import Snapshot

if TYPE_CHECKING:
    import pandas

MOST_FEATURES = 3  # named in the report


def cluster_report(snapshot: Snapshot, names: Sequence[str] | None = None) -> pandas.DataFrame:
    """One row per cluster; see `EverClust.cluster_report`."""
    profile = cluster_profile(snapshot, names)
    columns = ("size", "nodes", "spread", "age", "last_seen", "centre", "differs_by")
    rows: dict[str, list[Any]] = {name: [] for name in columns}
    for cluster, members in _members(snapshot):
        usage, position = snapshot.usage[members], snapshot.prototypes[members]
        centre = usage @ position / usage.sum()
        squares = ((position - centre) ** 2 * snapshot.feature_weights).sum(axis=1)
        rows["size"].append(int(usage.sum()))
        rows["nodes"].append(len(members))
        rows["spread"].append(float(np.sqrt(usage @ squares / usage.sum())))
        rows["age"].append(int(snapshot.n_samples_seen - snapshot.since[members[0]]))
        rows["last_seen"].append(int(snapshot.last_won[members].max()))
        rows["centre"].append(centre)
        rows["differs_by"].append(_largest_differences(profile.loc[cluster]))
    return _pandas().DataFrame(rows, index=profile.index)


def cluster_profile(snapshot: Snapshot, names: Sequence[str] | None = None) -> pandas.DataFrame:
    """Means of the clusters against those of the stream; see `EverClust.cluster_profile`."""
    if names is None:
        names = [f"x{j}" for j in range(len(snapshot.mean))]
    ids, rows = [], []
    varies = snapshot.deviation > 0
    for cluster, members in _members(snapshot):
        usage = snapshot.usage[members]
        difference = usage @ snapshot.prototypes[members] / usage.sum() - snapshot.mean
        ids.append(cluster)
        rows.append(np.divide(difference, snapshot.deviation, out=np.zeros(len(varies)), where=varies))
    pandas = _pandas()
    return pandas.DataFrame(rows, index=pandas.Index(ids, name="cluster"), columns=list(names))


def _members(snapshot: Snapshot) -> list[tuple[int, np.ndarray]]:
    """The nodes of every cluster, by id."""
    node = snapshot.candidates.node
    ids = snapshot.node_labels[node]
    return [(int(cluster), node[ids == cluster]) for cluster in np.unique(ids)]


def _largest_differences(row: pandas.Series) -> str:
    farthest = row.abs().sort_values(ascending=False, kind="stable").index[:MOST_FEATURES]
    return ", ".join(f"{name} {row[name]:+.1f}" for name in farthest)


def _pandas() -> Any:
    return require("pandas", extra="report", purpose="tables of clusters")
