"""What has happened to clusters, as plain arrays for a file, and whether arrays can be such a history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.cluster_ids import BORN
from .event_log import N_COLUMNS, Arrays
from .identities import CommunityIds, ComponentIds


def nothing_happened(n_features: int) -> Arrays:
    """The arrays of a model whose clusters have no history."""
    return CommunityIds().export(n_features) | ComponentIds().export(n_features)


def examine_history(scalars: Mapping[str, Any], arrays: Arrays) -> None:
    """Raise ValueError when these cannot be what has happened to the clusters of a model."""
    n_features = arrays["prototype"].shape[1]
    for name, next_id in (("event", "next_cluster"), ("community_event", "next_community")):
        lines, centres = arrays[name], arrays[f"{name}_centre"]
        if lines.shape != (len(lines), N_COLUMNS) or lines.dtype.kind != "i":
            raise ValueError(f"its {name} list has the shape {lines.shape}")
        highest = np.array([scalars["n_seen"], BORN, *[scalars[next_id] - 1] * 2, 2**53, len(centres) - 1])
        if centres.shape != (len(centres), n_features) or centres.dtype.kind != "f":
            raise ValueError(f"its {name} centres have the shape {centres.shape}")
        if not np.isfinite(centres).all():
            raise ValueError(f"its {name} centres make no sense")
        if (lines < 0).any() or (lines > highest).any():
            raise ValueError(f"its {name} list names what was never there")
    listed, centres = arrays["community_list"], arrays["community_centre"]
    if listed.shape != (len(centres), 3) or centres.shape != (len(listed), n_features):
        raise ValueError("its communities do not fit together")
    if listed.dtype.kind != "i" or centres.dtype.kind != "f" or not np.isfinite(centres).all():
        raise ValueError("its communities are not numbers")
    if (listed < 0).any() or (listed[:, 0] >= scalars["next_community"]).any():
        raise ValueError("its communities were never given their ids")
    if (listed[:, 2] > scalars["n_seen"]).any():
        raise ValueError("its communities are still to come")
