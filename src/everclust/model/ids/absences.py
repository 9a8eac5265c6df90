"""Clusters that fall quiet and come back: how likely is it that nothing comes to a cluster for so long?

A cluster with a share p of the samples goes without any of n samples with probability (1 − p)^n, if they come
in random order. If they come in runs, their counts in equal intervals vary D times as much as at random (the
index of dispersion, from successive differences), and n samples show as much as n/D would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...core.cluster_ids import BORN
from ...core.communities.matching import Arrivals
from .communities import Community

QUIET, BACK = BORN + 1, BORN + 2  # kinds of events, after those of the core
LOG_CHANCE = math.log(1e-6)
FEWEST_CHECKS = 8  # at a cluster, to know how its samples come
FEWEST_BACK = 3  # samples in one interval: fewer may be strays
_new = tuple.__new__  # in half of the time that the constructor takes, for every cluster at every check


def check_absences(
    known: Mapping[int, Community], found: Arrivals, n_seen: int
) -> tuple[dict[int, Community], dict[int, int]]:
    """Every reported cluster after this check, and QUIET or BACK of those that are, by id."""
    after, kinds = {}, {}
    for c, came, size in zip(found.ids.tolist(), found.came.tolist(), found.sizes.tolist(), strict=True):
        kind, after[c] = check_absence(known[c], came, size, n_seen)
        if kind is not None:
            kinds[c] = kind
    return after, kinds


def check_absence(community: Community, came: int, size: int, n_seen: int) -> tuple[int | None, Community]:
    """QUIET, BACK or None, and the cluster as it is known after this check.

    `came` counts its samples since the latest check, `size` those of its nodes in all.
    """
    _, centre, since, wait, _, latest, total, squares, n_checks, absent, is_quiet = community
    if came >= (FEWEST_BACK if is_quiet else 1):
        if n_checks:  # after an absence, the count before was 0
            squares += latest * latest + came * came if absent else (came - latest) * (came - latest)
        counted = size, centre, since, wait, n_seen, came, total + came, squares, n_checks + 1, False, False
        return BACK if is_quiet else None, _new(Community, counted)
    if not is_quiet and is_unlikely(community, size, n_seen):
        return QUIET, community._replace(size=size, is_quiet=True, absent=True)
    return None, community._replace(size=size, absent=True)


def is_unlikely(community: Community, size: int, n_seen: int) -> bool:
    """Whether the chance that nothing comes to a cluster for as long as now is below one in a million."""
    if community.n_checks < FEWEST_CHECKS:
        return False
    share, dispersion = size / (n_seen + 1), community.squares / (2 * community.total)
    return (n_seen - community.seen) * math.log1p(-share) < LOG_CHANCE * max(1.0, dispersion)
