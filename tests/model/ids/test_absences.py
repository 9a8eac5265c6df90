"""Clusters that fall quiet and come back."""

from itertools import pairwise

import numpy as np
import pytest

from everclust.model.ids.absences import BACK, FEWEST_CHECKS, QUIET, check_absence
from everclust.model.ids.communities import Community
from everclust.model.ids.schedule import ABSENCE_INTERVAL as STEP


def follow(counts):
    """Kinds of events of a cluster that so many samples come to in each interval."""
    community = Community(0, np.zeros(1), 0)
    size, reported = 0, []
    for k, came in enumerate(counts, 1):
        size += came
        kind, community = check_absence(community, came, size, k * STEP)
        if kind is not None:
            reported.append((k, kind))
    return reported, community


def test_a_steady_cluster_is_never_quiet():
    rng = np.random.default_rng(0)
    reported, community = follow(rng.binomial(STEP, 0.1, 200))
    assert reported == []
    assert (community.n_checks, community.seen, community.is_quiet) == (200, 200 * STEP, False)


def test_the_chance_of_an_absence_is_below_one_in_a_million():
    """With a share p, of the whole stream so far, in n samples: n log(1 − p) < log(1e-6)."""
    rng = np.random.default_rng(1)
    for share in (0.1, 0.01, 0.003):
        counts = rng.binomial(STEP, share, 100).tolist()
        ((k, kind),), community = follow([*counts, *[0] * 40])
        present = np.sum(counts)
        assert kind == QUIET
        assert community.is_quiet
        chances = [(1 - present / ((100 + n) * STEP + 1)) ** (n * STEP) for n in range(40)]
        assert k == 100 + next(n for n, chance in enumerate(chances) if chance < 1e-6)


def test_what_comes_in_runs_may_stay_away_for_longer():
    rng = np.random.default_rng(2)
    runs = np.repeat(rng.integers(5, size=400), 200)  # five clusters, 200 samples at a time
    counts = (runs[: len(runs) // STEP * STEP].reshape(-1, STEP) == 0).sum(axis=1).tolist()
    assert counts.count(0) > 10
    assert follow(counts)[0] == []
    ((k, kind),), _ = follow([*counts, *[0] * 200])
    assert kind == QUIET
    assert k > len(counts) + 5  # at random, one interval would have been enough


def test_back():
    reported, community = follow([100] * 10 + [0] * 5 + [2, 0, 3, 100])
    assert reported == [(11, QUIET), (18, BACK)]  # two samples may be strays
    assert not community.is_quiet
    assert community.seen == 19 * STEP


def test_a_cluster_must_be_known():
    assert follow([100] * (FEWEST_CHECKS - 1) + [0] * 50)[0] == []
    assert follow([100] * FEWEST_CHECKS + [0] * 50)[0] == [(FEWEST_CHECKS + 1, QUIET)]


@pytest.mark.parametrize("counts", [[100] * 6, [100, 90, 100, 0, 100, 110]])
def test_how_samples_come(counts):
    _, community = follow(counts)
    present = [came for came in counts if came]
    assert community.total == sum(counts)
    assert community.n_checks == len(present)
    assert community.squares == sum((b - a) ** 2 for a, b in pairwise(counts))
