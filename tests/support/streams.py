"""Streams and models that tests draw at random: ties, duplicates, drift, tails, and graphs of any kind."""

import numpy as np

from everclust.core.serialise import KEPT_SCALARS, restore
from oracles.handover import N_DIRECTIONS, HandoverOracle
from oracles.resolution import RefinedOracle


def grid(rng, n, d):
    """Few distinct values on a dyadic grid: ties and duplicates everywhere."""
    return rng.integers(0, rng.integers(1, 6), (n, d), endpoint=True) / 2.0 ** rng.integers(-3, 4)


def constant(rng, n, d):
    """One sample over and over, but for a few."""
    X = np.full((n, d), float(rng.integers(-3, 4)))
    X[rng.random(n) < 0.1 * rng.integers(0, 3)] += 1
    return X


def duplicates(rng, n, d):
    """Every sample has been there before, often just before; exact, because ties come with it."""
    distinct = np.round(8 * rng.normal(size=(rng.integers(1, 8), d))) / 8
    return np.repeat(distinct[rng.integers(0, len(distinct), n)], rng.integers(1, 4), axis=0)[:n]


def blobs(rng, n, d):
    """A few round clusters in random order."""
    centre = rng.normal(size=(rng.integers(1, 5), d)) * rng.choice([1, 5, 20])
    return centre[rng.integers(0, len(centre), n)] + rng.normal(size=(n, d))


def tasks(rng, n, d):
    """Clusters one after the other."""
    centre = 10 * rng.normal(size=(3, d))
    return centre[np.arange(n) * 3 // n] + rng.normal(size=(n, d))


def drift(rng, n, d):
    """A cloud that walks away."""
    return rng.normal(size=(n, d)) + np.arange(n)[:, None] * rng.choice([0.01, 0.3, 3.0])


def tiny(rng, n, d):
    """A spread around and below the floor of the scale, far from the origin or at it."""
    return rng.choice([0.0, 1.0, 1e3]) + rng.normal(size=(n, d)) * 10.0 ** -rng.integers(3, 10)


def outliers(rng, n, d):
    """Heavy tails: edges long enough to be cut."""
    return rng.standard_t(1.2, size=(n, d))


TEXTURES = [grid, constant, duplicates, blobs, tasks, drift, tiny, outliers]


def some_model(rng, d, variant):
    """A specification that might have seen a lot: nodes far and near, with any evidence between them."""
    slow = specification(variant)
    n_nodes = int(rng.integers(4, 14))
    prototype = rng.standard_t(1.0, size=(n_nodes, d))
    slow.prototype = prototype.tolist()
    slow.usage = rng.integers(1, 5, n_nodes).tolist()
    slow.wins = [int(rng.integers(1, usage + 1)) for usage in slow.usage]
    slow.scale = rng.uniform(0.5, 2.0, n_nodes).tolist()
    slow.n_seen = slow.n_welford = sum(slow.usage) + int(rng.integers(22, 25))
    slow.mean = prototype.mean(axis=0).tolist()
    slow.m2 = (prototype.var(axis=0) * slow.n_seen).tolist()
    used = [k for k in range(n_nodes) if slow.usage[k] > 1]
    for ij in ((i, j) for i in used for j in used if i < j):
        if rng.random() < 0.6:
            slow.evidence[ij] = int(rng.integers(1, 5))
            if rng.random() < 0.7:
                slow.edges.add(ij)
    slow.active = [k in used and (slow.has_edge(k) or rng.random() < 0.5) for k in range(n_nodes)]
    slow.idle = [int(active and rng.random() < 0.5) for active in slow.active]
    slow.evidence_before = [slow.row_sum(k) for k in range(n_nodes)]
    slow.handover = {(0, k): int(rng.integers(1, 3)) for k in range(1, n_nodes) if rng.random() < 0.3}
    slow.feature_weight = rng.uniform(0.1, 1.0, d).tolist() if variant.capped else [1.0] * d
    slow.foretold = [False] * d
    slow.usage_before = [usage - int(rng.integers(usage + 1)) for usage in slow.usage]
    slow.interval = int(rng.integers(2, 7))
    slow.window = (prototype[0] + rng.normal(size=(2 * slow.interval, d))).tolist()
    slow.vigilance, slow.cluster_ratio = rng.random(2).tolist()
    slow.since_recalibration = int(rng.integers(slow.interval))
    return slow


def specification(variant):
    oracle = RefinedOracle if variant.refines else HandoverOracle
    return oracle(
        capped=variant.capped,
        first_interval=variant.first_interval,
        evidence="printed" if variant.printed_evidence else "published",
        grow=variant.grows,
        shrink=variant.shrinks,
        recalibrate=variant.recalibrates,
    )


def foretelling(rng, n, n_noise=0):
    """Twelve clusters in six uncorrelated features of which two are wide, and features of noise."""
    centre = rng.normal(size=(12, 6))
    centre = np.linalg.qr(centre - centre.mean(axis=0))[0] * np.sqrt(12)
    X = centre[rng.permutation(np.arange(n) % 12)] * [5.0, 4.0, 2.0, 2.0, 2.0, 2.0]
    return np.column_stack([X + 0.4 * rng.normal(size=(n, 6)), 3.0 * rng.normal(size=(n, n_noise))])


def restored(slow):
    """The core's state with what the specification holds."""
    scalars = {name: getattr(slow, name, 0) for name in KEPT_SCALARS}
    fields = {name: np.array(getattr(slow, name)) for name in ("prototype", "mean", "window")}
    fields |= {name: np.array(getattr(slow, name)) for name in ("usage", "wins", "scale", "active", "idle")}
    fields["activity"] = np.array([slow.activity(k) for k in range(len(slow.usage))])
    fields["square_sum"] = np.array(slow.m2)
    fields["evidence"] = np.array([(*ij, n) for ij, n in slow.evidence.items()], np.int64).reshape(-1, 3)
    fields["edge"] = np.array(sorted(slow.edges), np.int64).reshape(-1, 2)
    fields["handover"] = np.array([(*ij, n) for ij, n in slow.handover.items()], np.int64).reshape(-1, 3)
    fields["weight"] = np.array(slow.feature_weight)
    if slow.is_capped:
        directions = slow.directions or [[0.0] * len(slow.mean)] * N_DIRECTIONS
        fields["direction"] = np.array(directions).T.copy()
        fields["projection"] = np.array([slow.excess, slow.expected])
        fields["foretold"] = np.array(slow.foretold)
        scalars["foretold_at"] = slow.foretold_at
    fields |= {name: np.full(len(slow.usage), -1) for name in ("cluster", "community")}
    fields |= {name: np.zeros(len(slow.usage), int) for name in ("since", "last_won")}
    return restore(scalars, fields)
