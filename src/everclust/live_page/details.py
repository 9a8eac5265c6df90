"""Details of one cluster or one node, for whoever points at it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.report import cluster_profile
from .capture import Picture

MOST_FEATURES = 12  # in which a cluster differs most


def cluster_details(picture: Picture, names: list[str], cluster: int) -> dict[str, Any] | None:
    """What a cluster is made of: its means against those of the stream, the most telling first."""
    now = picture.snapshot
    members = now.candidates.node[now.node_labels[now.candidates.node] == cluster]
    if not len(members):
        return None
    usage = now.usage[members]
    mean = usage @ now.prototypes[members] / usage.sum()
    differs = cluster_profile(now, names).loc[cluster].to_numpy()
    order = np.argsort(-np.abs(differs), kind="stable")[:MOST_FEATURES].tolist()
    spread = np.sqrt(usage @ ((now.prototypes[members] - mean) ** 2 @ now.feature_weights) / usage.sum())
    return {
        "id": cluster,
        "size": int(usage.sum()),
        "share": float(usage.sum() / now.usage[now.candidates.node].sum()),
        "nodes": len(members),
        "since": int(now.since[members[0]]),
        "last": int(now.last_won[members].max()),
        "spread": float(spread),
        "n_features": len(names),
        "features": [[names[j], float(mean[j]), float(differs[j])] for j in order],
    }


def node_details(picture: Picture, names: list[str], birth: int) -> dict[str, Any] | None:
    """What is known of the node with that birth number."""
    now = picture.snapshot
    found = np.flatnonzero(picture.birth == birth)
    if not len(found):
        return None
    k = int(found[0])
    return {
        "birth": birth,
        "cluster": int(now.node_labels[k]),
        "usage": int(now.usage[k]),
        "active": bool(now.active[k]),
        "last": int(now.last_won[k]),
        "edges": int((now.edges == k).sum()),
        "features": [
            [name, float(x)] for name, x in zip(names[:6], now.prototypes[k].tolist(), strict=False)
        ],
    }
