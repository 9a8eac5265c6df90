"""The clusters of a snapshot and tables of them: size, age, centre, and the features in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..optional import require
from .snapshot import Snapshot
from .times import SampleTimes

if TYPE_CHECKING:
    import pandas

MOST_FEATURES = 3  # named in the report


class Description(NamedTuple):
    """A cluster; the fields from `size` on are the columns of a report."""

    cluster: int
    size: int  # in samples
    nodes: int
    spread: float  # root mean square distance of the nodes from the centre, in the model's metric
    age: int  # in samples
    last_seen: int  # number of the latest sample that moved one of its nodes
    centre: np.ndarray
    differs_by: str


def describe(snapshot: Snapshot, names: Sequence[str] | None = None) -> list[Description]:
    """All clusters, by id."""
    ids, profile = profiles(snapshot)
    centres = cluster_centres(snapshot)
    names = feature_names(snapshot) if names is None else names
    clusters = []
    for cluster, centre, differences, (_, nodes) in zip(
        ids, centres, profile, members(snapshot), strict=True
    ):
        wins = snapshot.wins[nodes]
        squares = ((snapshot.prototypes[nodes] - centre) ** 2 * snapshot.feature_weights).sum(axis=1)
        clusters.append(
            Description(
                cluster,
                int(wins.sum()),
                len(nodes),
                float(np.sqrt(wins @ squares / wins.sum())),
                int(snapshot.n_samples_seen - snapshot.since[nodes[0]]),
                int(snapshot.last_won[nodes].max()),
                centre,
                largest_differences(differences, names),
            )
        )
    return clusters


def cluster_report(
    snapshot: Snapshot, names: Sequence[str] | None = None, times: SampleTimes | None = None
) -> pandas.DataFrame:
    """One row per cluster; see `EverClust.cluster_report`."""
    clusters = describe(snapshot, names)
    columns = Description._fields[1:]
    table: dict[str, list[Any]] = {name: [getattr(cluster, name) for cluster in clusters] for name in columns}
    if times is not None:
        table["born_at"] = [times.text(max(snapshot.n_samples_seen - c.age, 1)) for c in clusters]
        table["last_seen_at"] = [times.text(c.last_seen) for c in clusters]
    return _pandas().DataFrame(table, index=_index([cluster.cluster for cluster in clusters]))


def cluster_profile(snapshot: Snapshot, names: Sequence[str] | None = None) -> pandas.DataFrame:
    """Means of the clusters against those of the stream; see `EverClust.cluster_profile`."""
    ids, profile = profiles(snapshot)
    names = feature_names(snapshot) if names is None else names
    return _pandas().DataFrame(profile, index=_index(ids), columns=list(names))


def members(snapshot: Snapshot) -> list[tuple[int, np.ndarray]]:
    """The nodes of every cluster, by id."""
    node = snapshot.candidates.node
    ids = snapshot.node_labels[node]
    return [(int(cluster), node[ids == cluster]) for cluster in np.unique(ids)]


def cluster_centres(snapshot: Snapshot) -> np.ndarray:
    """Means of the nodes of every cluster, weighted with the samples they won; a row per cluster, by id."""
    centres = []
    for _, nodes in members(snapshot):
        wins = snapshot.wins[nodes]
        centres.append(wins @ snapshot.prototypes[nodes] / wins.sum())
    return np.array(centres)


def profiles(snapshot: Snapshot) -> tuple[list[int], np.ndarray]:
    """(ids, difference of every cluster from the mean of the stream, in standard deviations)."""
    varies = snapshot.deviation > 0
    difference = cluster_centres(snapshot) - snapshot.mean
    profile = np.divide(difference, snapshot.deviation, out=np.zeros_like(difference), where=varies)
    return [cluster for cluster, _ in members(snapshot)], profile


def feature_names(snapshot: Snapshot) -> list[str]:
    """Names for features without one."""
    return [f"x{j}" for j in range(len(snapshot.mean))]


def largest_differences(differences: np.ndarray, names: Sequence[str]) -> str:
    """The features in which a cluster is farthest from the mean of the stream, in standard deviations."""
    farthest = np.argsort(-abs(differences), kind="stable")[:MOST_FEATURES]
    return ", ".join(f"{names[j]} {differences[j]:+.1f}" for j in farthest)


def _index(ids: list[int]) -> pandas.Index:
    return _pandas().Index(ids, name="cluster")


def _pandas() -> Any:
    return require("pandas", extra="report", purpose="tables of clusters")
