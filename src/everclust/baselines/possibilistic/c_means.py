"""Fuzzy c-means, and possibilistic c-means with attraction to given points and elimination of clusters.

Matrices have shape (c, n): a row for each of the c centres, a column for each of the n samples. The fuzzifier
is 2 throughout.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..distances import distances, points

TOLERANCE = 1e-4  # iterations end when no coordinate of a centre changes by more
FUZZY_ITERATIONS = 150
POSSIBILISTIC_ITERATIONS = 250


class Clusters(NamedTuple):
    """Centres v_j, widths η_j, and the mean of the initial widths, which does not change."""

    centre: np.ndarray
    width: np.ndarray
    mean_width: float


class Partition(NamedTuple):
    """Clusters, their memberships, the winner of each sample, and the number of clusters per iteration."""

    clusters: Clusters
    membership: np.ndarray
    winner: np.ndarray
    counts: list[int]


class Pull(NamedTuple):
    """The points that attract the centres, and how strongly."""

    goal: np.ndarray
    strength: float


def shares(distance: np.ndarray) -> np.ndarray:
    """d⁻² divided by its sum over the centres; centres at distance 0 share everything equally."""
    hit = distance == 0
    with np.errstate(invalid="ignore"):
        weight = np.where(hit, 1.0, (distance.min(axis=0) / distance) ** 2)  # scaled: d⁻² may overflow
    return weight / weight.sum(axis=0)


def fuzzy_memberships(distance: np.ndarray, reference_quirks: bool) -> np.ndarray:
    """Step 6: u_ji. In the reference, centres at distance 0 of a sample have u = 1 for all such samples."""
    membership = shares(distance)
    if reference_quirks:
        hit = distance == 0
        membership[np.ix_(hit.any(axis=1), hit.any(axis=0))] = 1.0
    return membership


def fuzzy_c_means(
    X: np.ndarray, centre: np.ndarray, reference_quirks: bool, tolerance: float = TOLERANCE
) -> Clusters:
    """Steps 6 and 7: centres v_j and widths η_j = Σ u·d / Σ u."""
    to = points(X)
    for t in range(FUZZY_ITERATIONS):
        before = centre
        membership = fuzzy_memberships(distances(centre, to), reference_quirks)
        square = membership**2
        centre = divide(square @ X, square.sum(axis=1), centre)
        if t > 0 and abs(centre - before).max() < tolerance:
            break
    reach = (membership * distances(centre, to)).sum(axis=1, keepdims=True)
    width = divide(reach, membership.sum(axis=1), np.zeros_like(reach))[:, 0]
    return Clusters(centre, width, float(width.mean()))


def divide(total: np.ndarray, weight: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Divide each row by its weight; where that is 0, take the row of `otherwise`."""
    return np.divide(total, weight[:, None], out=otherwise.copy(), where=weight[:, None] > 0)


def memberships(distance: np.ndarray, clusters: Clusters, alpha: float) -> np.ndarray:
    """Step 8: u_ji = exp(−α·d² / (mean η · η_j)); 0 for clusters without width."""
    scale = clusters.mean_width * clusters.width
    with np.errstate(all="ignore"):
        membership = np.exp(-alpha * distance**2 / scale[:, None])
    membership[scale == 0] = 0.0
    return membership


def winners(membership: np.ndarray) -> np.ndarray:
    """Step 11: centre with the largest membership of each sample, ties to the last centre."""
    return len(membership) - 1 - membership[::-1].argmax(axis=0)


def attract(X: np.ndarray, membership: np.ndarray, pull: Pull, centre: np.ndarray) -> np.ndarray:
    """Steps 9 and 10: the new centres."""
    share = pull.strength * shares(distances(centre, points(pull.goal)))
    weight = membership.sum(axis=1) + share.sum(axis=1)
    return divide(membership @ X + share @ pull.goal, weight, centre)


def core_widths(X: np.ndarray, membership: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """Step 12: mean distance of the samples in a cluster's core to their mean.

    The core consists of the samples won with at least the mean membership of all samples won.
    """
    n_clusters, own = len(membership), membership[winner, np.arange(len(X))]
    mean = np.bincount(winner, own) / np.bincount(winner)
    largest = np.zeros(n_clusters)
    np.maximum.at(largest, winner, own)
    core = np.flatnonzero(own >= np.minimum(mean, largest)[winner])  # the rounded mean may exceed all values
    of, size = winner[core], np.bincount(winner[core])
    belongs = csr_array((np.ones(len(core)), (of, core)), shape=(n_clusters, len(X)))
    middle = (belongs @ X) / size[:, None]
    away = np.sqrt(((X[core] - middle[of]) ** 2).sum(axis=1))
    return np.where(size > 1, np.bincount(of, away) / size, 0.0)


def eliminate(
    X: np.ndarray, start: Clusters, pull: Pull, alpha: float, tolerance: float = TOLERANCE
) -> Partition:
    """Steps 8 to 13: move the centres and drop those without samples, until nothing changes."""
    to, now = points(X), start
    counts: list[int] = []
    for t in range(2, POSSIBILISTIC_ITERATIONS + 1):
        membership = memberships(distances(now.centre, to), now, alpha)
        moved = attract(X, membership, pull, now.centre)
        kept, winner = np.unique(winners(membership), return_inverse=True)
        membership, moved = membership[kept], moved[kept]
        now = Clusters(now.centre[kept], now.width[kept], now.mean_width)
        found = Partition(now, membership, winner, counts)
        counts.append(len(kept))
        if t > 2 and _is_over(counts, moved - now.centre, tolerance):
            break
        now = Clusters(moved, core_widths(X, membership, winner), now.mean_width)
    return found


def _is_over(counts: list[int], change: np.ndarray, tolerance: float) -> bool:
    return counts[-1] == 1 or (counts[-1] == counts[-2] and float(abs(change).max()) < tolerance)
