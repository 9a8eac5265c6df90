"""Details of one cluster or one node, shown when a viewer clicks or points at it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.report import cluster_profile
from .capture import Capture

MAX_FEATURES = 12  # of a cluster, those that differ most from the stream
MAX_NODE_FEATURES = 6


def cluster_details(capture: Capture, names: list[str], cluster: int) -> dict[str, Any] | None:
    """Size, age and feature means of a cluster, the features that differ most from the stream first."""
    now = capture.snapshot
    members = now.candidates.node[now.node_labels[now.candidates.node] == cluster]
    if not len(members):
        return None
    wins = now.wins[members]
    mean = wins @ now.prototypes[members] / wins.sum()
    differs = cluster_profile(now, names).loc[cluster].to_numpy()
    order = np.argsort(-np.abs(differs), kind="stable")[:MAX_FEATURES].tolist()
    spread = np.sqrt(wins @ ((now.prototypes[members] - mean) ** 2 @ now.feature_weights) / wins.sum())
    return {
        "id": cluster,
        "size": int(wins.sum()),
        "share": float(wins.sum() / now.wins[now.candidates.node].sum()),
        "nodes": len(members),
        "since": int(now.since[members[0]]),
        "last": int(now.last_won[members].max()),
        "spread": float(spread),
        "n_features": len(names),
        "features": [[names[j], float(mean[j]), float(differs[j])] for j in order],
    }


def node_details(capture: Capture, names: list[str], birth: int) -> dict[str, Any] | None:
    """Cluster, usage, edges and position of the node with that birth number."""
    now = capture.snapshot
    found = np.flatnonzero(capture.birth == birth)
    if not len(found):
        return None
    k = int(found[0])
    position = now.prototypes[k].tolist()
    return {
        "birth": birth,
        "cluster": int(now.node_labels[k]),
        "usage": int(now.usage[k]),
        "active": bool(now.active[k]),
        "last": int(now.last_won[k]),
        "edges": int((now.edges == k).sum()),
        "features": [[name, x] for name, x in zip(names[:MAX_NODE_FEATURES], position, strict=False)],
    }
