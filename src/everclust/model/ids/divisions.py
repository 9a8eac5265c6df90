"""Divisions: parts of a cluster that move apart.

Hand-overs are never forgotten. So the read-out takes two halves of a cluster that have moved apart for one
cluster, as long as they won less where they are now than where they were. Where the samples of a cluster have
shifted, or come no more, the nodes that have won recently show it: no hand-overs connect those of one half
with those of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.communities.linked_nodes import Base
from .waiting import FEWEST_SAMPLES


class RecentWins(NamedTuple):
    """What nodes have won of late."""

    is_live: np.ndarray  # a sample in the latest eighth of the stream
    wins: np.ndarray  # since the answer before the latest
    is_watched: np.ndarray  # in a cluster whose samples have shifted or come no more


def set_divided_apart(group: np.ndarray, base: Base, recent: RecentWins) -> tuple[np.ndarray, np.ndarray]:
    """The groups of a read-out, and the parts of those with watched nodes as groups of their own.

    Returns the groups, and which nodes were in groups that have come apart.
    """
    found, is_divided = group.copy(), np.zeros(len(group), bool)
    for g in np.unique(group[recent.is_watched]).tolist():
        inside = group == g
        parts = parts_of(inside & recent.is_live, base.links, recent.wins)
        if len(parts) > 1:
            is_divided |= inside
            for part in parts:
                found[part] = found.max() + 1
    return np.unique(found, return_inverse=True)[1], is_divided


def parts_of(chosen: np.ndarray, links: np.ndarray, wins: np.ndarray) -> list[np.ndarray]:
    """The parts of the chosen nodes that are not connected, without those within the sampling error."""
    name = connected(chosen, links)
    total = wins[chosen].sum()
    parts = [np.flatnonzero(chosen & (name == c)) for c in np.unique(name[chosen]).tolist()]
    sizes = [int(wins[part].sum()) for part in parts]
    return [
        part for part, size in zip(parts, sizes, strict=True) if size >= FEWEST_SAMPLES and size**2 >= total
    ]


def connected(chosen: np.ndarray, links: np.ndarray) -> np.ndarray:
    """The lowest node that every chosen node is connected with through chosen nodes."""
    name = np.arange(len(chosen))
    a, b, _ = links[chosen[links[:, 0]] & chosen[links[:, 1]]].T
    while (name[a] != name[b]).any():
        lowest = np.minimum(name[a], name[b])
        np.minimum.at(name, name[a], lowest)
        np.minimum.at(name, name[b], lowest)
        name = name[name]
    return name
