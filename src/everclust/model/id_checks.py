"""Checks of the ids in a model file: lists of clusters, their members, what waits, and shifts."""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any

import numpy as np

from ..core.cluster_ids import BORN, MERGED, SPLIT
from ..core.communities.homogeneity import Past
from ..core.communities.levels import LONGEST_PAUSE
from ..core.communities.matching import Members
from ..core.layout import NEVER, NO_CLUSTER, NONE
from ..core.serialise import Arrays
from .ids.communities import Community
from .ids.schedule import FIRST_UPDATE
from .ids.shifts import Shift
from .ids.waiting import Waiting
from .rows import MOST_SAMPLES

COLUMN = {name: place for place, name in enumerate(("id", "size", *Community._fields[2:]))}  # of a list


def check_ids(scalars: Mapping[str, Any], arrays: Arrays) -> None:
    """What identities of hand-over clusters hold, whose scalars are known to be counts."""
    n_seen, next_id = scalars["n_seen"], scalars["next_community"]
    _check_communities(n_seen, next_id, arrays)
    _check_members(next_id, arrays)
    _check_waiting(next_id, n_seen, arrays)
    _check_shifts(arrays)


def check_table(name: str, n_columns: int, arrays: Arrays) -> None:
    table = arrays[name]
    if table.shape != (len(table), n_columns) or table.dtype.kind != "i":
        raise ValueError(f"wrong shape or dtype of array {shortened(name)}: {table.shape}, {table.dtype}")


def _check_communities(n_seen: int, next_id: int, arrays: Arrays) -> None:
    n_features = arrays["prototype"].shape[1]
    listed, centres = arrays["community_list"], arrays["community_centre"]
    check_table("community_list", len(Community._fields), arrays)
    if centres.shape != (len(listed), n_features) or centres.dtype.kind != "f":
        raise ValueError(
            f"wrong shape or dtype of array 'community_centre': {centres.shape}, {centres.dtype}"
        )
    if not np.isfinite(centres).all():
        raise ValueError("non-finite value in array 'community_centre'")
    if (listed < 0).any() or (listed[:, 0] >= next_id).any():
        raise ValueError("unknown id in array 'community_list' (next_community)")
    if len(np.unique(listed[:, 0])) < len(listed):
        raise ValueError("an id is twice in array 'community_list'")
    since, seen = COLUMN["since"], COLUMN["seen"]
    if (listed[:, [since, seen]] > n_seen).any():
        raise ValueError("community created or seen after the last sample (n_seen)")
    if (listed > MOST_SAMPLES).any() or (listed[:, -2:] > 1).any():
        raise ValueError("value out of range in array 'community_list'")


def _check_members(next_id: int, arrays: Arrays) -> None:
    check_table("community_member", len(Members._fields), arrays)
    births, reported, candidate, wins = arrays["community_member"].T
    if (births < 0).any() or (np.diff(births) <= 0).any():
        raise ValueError("births in array 'community_member' do not rise")
    if (wins < 0).any() or (wins > MOST_SAMPLES).any():
        raise ValueError("value out of range in array 'community_member'")
    if not np.isin(reported[reported != NO_CLUSTER], arrays["community_list"][:, 0]).all():
        raise ValueError("unknown id in array 'community_member' (community_list)")
    if (candidate < NO_CLUSTER).any() or (candidate >= next_id).any():
        raise ValueError("unknown id in array 'community_member' (next_community)")


def _check_waiting(next_id: int, n_seen: int, arrays: Arrays) -> None:
    check_table("community_change", 2 + len(Waiting._fields), arrays)
    kind, c, cluster, since, wait = arrays["community_change"].T
    if not np.isin(kind, (BORN, SPLIT, MERGED)).all():
        raise ValueError("unknown kind in array 'community_change'")
    if len(np.unique(arrays["community_change"][:, :2], axis=0)) < len(kind):
        raise ValueError("a change is twice in array 'community_change'")
    if (c < 0).any() or (cluster < NO_CLUSTER).any() or (np.maximum(c, cluster) >= next_id).any():
        raise ValueError("unknown id in array 'community_change' (next_community)")
    if (since < 0).any() or (since > n_seen).any() or (wait < 0).any() or (wait > MOST_SAMPLES).any():
        raise ValueError("value out of range in array 'community_change'")
    schedule = arrays["community_schedule"]
    if schedule.shape != (3,) or schedule.dtype.kind != "i":
        raise ValueError(
            f"wrong shape or dtype of array 'community_schedule': {schedule.shape}, {schedule.dtype}"
        )
    highest = [max(FIRST_UPDATE, n_seen + LONGEST_PAUSE), NEVER, NEVER]
    if (schedule < 0).any() or (schedule > highest).any():
        raise ValueError("value out of range in array 'community_schedule'")


def _check_shifts(arrays: Arrays) -> None:
    check_table("community_past", len(Past._fields), arrays)
    check_table("community_shift", 1 + len(Shift._fields), arrays)
    divided = arrays["community_divided"]
    if divided.ndim != 1 or divided.dtype.kind != "i":
        raise ValueError(
            f"wrong shape or dtype of array 'community_divided': {divided.shape}, {divided.dtype}"
        )
    if not np.isin(divided, arrays["community_list"][:, 0]).all():
        raise ValueError("unknown id in array 'community_divided' (community_list)")
    births, earlier, latest = arrays["community_past"].T
    c, has_shifted, dispersion = arrays["community_shift"].T
    if (births < 0).any() or (np.diff(births) <= 0).any():
        raise ValueError("births in array 'community_past' do not rise")
    if (earlier < NONE).any() or (latest < np.maximum(earlier, 0)).any() or (latest > MOST_SAMPLES).any():
        raise ValueError("value out of range in array 'community_past'")
    if len(np.unique(c)) < len(c) or not np.isin(c, arrays["community_list"][:, 0]).all():
        raise ValueError("unknown id in array 'community_shift' (community_list)")
    if not np.isin(has_shifted, (0, 1)).all() or (dispersion < 0).any() or (dispersion > MOST_SAMPLES).any():
        raise ValueError("value out of range in array 'community_shift'")
