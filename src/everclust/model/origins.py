"""The clusters and events of models that are merged, under the ids and sample numbers of the merged model.

Ids that the parts have given since the base are shifted, so that all are different.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.handovers import births_of, index_by_birth
from ..core.layout import NO_CLUSTER, NONE
from ..core.serialise import Arrays
from ..core.state import State, scalar
from .clusters import COMPONENTS, HANDOVER, read_components
from .ids.communities import Community
from .learner import Learner

SAMPLE, KIND, CLUSTER, PART, _, CENTRE = range(6)  # columns of an event


class Origin(NamedTuple):
    """Clusters of a model that was merged, under the ids that they have in the merged model's event log."""

    ids: np.ndarray  # of every node, or NO_CLUSTER
    wins: np.ndarray  # of every node, that are not counted elsewhere
    places: np.ndarray  # of every node in the merged model, or NONE
    clusters: dict[int, Community]
    events: Arrays


class Renaming(NamedTuple):
    """How ids and sample numbers of a part read in the merged model: the base's stay as they are."""

    next_before: int  # the base's next id
    shift: int  # of the ids from there on
    n_before: int  # samples of the base
    length: int  # samples since
    stretched: int  # samples that the merged model has since

    def ids(self, ids: np.ndarray) -> np.ndarray:
        """The ids in the merged model."""
        return np.where(ids < self.next_before, ids, ids + self.shift)

    def samples(self, samples: np.ndarray) -> np.ndarray:
        """Sample numbers in the merged stream, as if all parts had been learnt side by side."""
        age = (self.n_before + self.length - samples) * (self.stretched / max(self.length, 1))
        later = self.n_before + self.stretched - np.floor(age).astype(np.int64)
        return np.where(samples <= self.n_before, samples, np.maximum(later, self.n_before + 1))


def origins_of(
    parts: list[Learner], places: list[np.ndarray], base: Learner | None, state: State
) -> tuple[list[Origin], int]:
    """The parts in the order of their ranks, as the merged state sees them, and the next id.

    The first part that still has a node of the base says which cluster the base's samples are in.
    """
    next_before = 0 if base is None else next_id_of(base)
    n_before = 0 if base is None else scalar(base.state, "n_seen")
    n_later = scalar(state, "n_seen") - n_before
    claimed: set[int] = set()
    origins, next_id = [], next_before
    for part, place in zip(parts, places, strict=True):
        length = scalar(part.state, "n_seen") - n_before
        renaming = Renaming(next_before, next_id - next_before, n_before, length, n_later)
        wins = _unclaimed_wins(part, base, claimed)
        origins.append(Origin(renaming.ids(permanent_ids(part)), wins, place, *_renamed(part, renaming)))
        next_id += next_id_of(part) - next_before
    if base is not None:
        nothing = np.empty(0, np.int64)
        origins.append(Origin(nothing, nothing, nothing, {}, events_of(base)))
    return origins, next_id


def _unclaimed_wins(part: Learner, base: Learner | None, claimed: set[int]) -> np.ndarray:  # INOUT claimed
    """Wins of every node, less those of the base that a part before has claimed."""
    births = births_of(part.state)
    wins = part.state.node["wins"][: len(births)].copy()
    if base is not None:
        index = index_by_birth(births_of(base.state), births)
        again = (index != NONE) & np.isin(births, list(claimed))
        wins -= np.where(again, base.state.node["wins"][index], 0)
        claimed.update(births[index != NONE].tolist())
    return wins


def _renamed(part: Learner, renaming: Renaming) -> tuple[dict[int, Community], Arrays]:
    """Clusters and events of a part since the base."""
    clusters = described(part)
    ids, since = np.array(list(clusters), np.int64), np.array([c.since for c in clusters.values()], np.int64)
    rows = zip(renaming.ids(ids).tolist(), clusters.values(), renaming.samples(since).tolist(), strict=True)
    events = events_of(part)
    records = events["event"][events["event"][:, SAMPLE] > renaming.n_before]
    records[:, CLUSTER], records[:, PART] = renaming.ids(records[:, CLUSTER]), renaming.ids(records[:, PART])
    records[:, SAMPLE] = renaming.samples(records[:, SAMPLE])
    return {c: cluster._replace(since=when) for c, cluster, when in rows}, events | {"event": records}


def permanent_ids(learner: Learner) -> np.ndarray:
    """Id of every node's cluster; connected components have none while no node is active."""
    state = learner.state
    if learner.clusters == HANDOVER:
        return state.node["community"][: scalar(state, "n_nodes")].copy()
    ids = read_components(state).ids
    return ids if scalar(state, "n_active") else np.full(len(ids), NO_CLUSTER)


def next_id_of(learner: Learner) -> int:
    """The next unused id of a cluster."""
    return scalar(learner.state, "next_cluster" if learner.clusters == COMPONENTS else "next_community")


def described(learner: Learner) -> dict[int, Community]:
    """The clusters of an updated learner by id."""
    if learner.clusters == HANDOVER:
        return dict(learner.ids.communities)  # type: ignore[union-attr]
    ids, since = permanent_ids(learner), read_components(learner.state).since
    return describe(learner.state, ids, dict(zip(ids.tolist(), since.tolist(), strict=True)))


def describe(state: State, ids: np.ndarray, since: dict[int, int]) -> dict[int, Community]:
    """Size, centre and age of the clusters with these ids of nodes."""
    wins, position = state.node["wins"][: len(ids)], state.prototype[: len(ids)]
    found = {}
    for c in np.unique(ids[ids != NO_CLUSTER]).tolist():
        weight = wins * (ids == c)
        centre = weight @ position / weight.sum()
        found[c] = Community(int(weight.sum()), centre, since.get(c, scalar(state, "n_seen")))
    return found


def events_of(learner: Learner) -> Arrays:
    """The event log as arrays."""
    return learner.ids.log.export(learner.state.prototype.shape[1])
