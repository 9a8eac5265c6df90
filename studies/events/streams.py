"""Planted streams: what happens to the clusters of each, and when, is known exactly.

All clusters are normal distributions with a standard deviation of 1 in every feature, unless a stream says
otherwise, and nothing but the listed changes ever happens to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.speed.data import data_set

BURN_IN = 10_000  # samples in which a model may still change its mind
N_SAMPLES = 60_000
REAL = ("optdigits", "penbased", "statlog", "texture", "letter", "anuran_calls")


class Change(NamedTuple):
    """A planted change: which kinds of events tell it, from which sample on, and where."""

    sample: int
    kinds: tuple[str, ...]
    centre: np.ndarray


class Drawn(NamedTuple):
    """A stream, what was planted, rows whose clusters never change, and the number of clusters at the end."""

    X: np.ndarray
    changes: list[Change]
    probe: np.ndarray
    classes: np.ndarray  # of the probe
    n_clusters: int | None


Draw = Callable[[np.random.Generator, int], Drawn]


def far_apart(rng: np.random.Generator, k: int, d: int, gap: float) -> np.ndarray:
    """k centres in a box just large enough for any two to be `gap` apart."""
    side = gap / 2
    while True:
        side *= 1.1
        centre = np.empty((0, d))
        for _ in range(60 * k):
            x = rng.uniform(-side, side, d)
            if (np.linalg.norm(centre - x, axis=1) >= gap).all():
                centre = np.vstack([centre, x])
            if len(centre) == k:
                return centre


def _probe(rng: np.random.Generator, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows around these centres, and which."""
    label = rng.integers(len(centre), size=500)
    return _around(rng, centre[label]), label


def _around(rng: np.random.Generator, centre: np.ndarray) -> np.ndarray:
    return centre + rng.normal(size=centre.shape)


def _mixture(k: int, d: int, gap: float, shares: tuple[float, ...] | None = None, noise: float = 0.0) -> Draw:
    """Clusters at rest, with shares of the traffic and a share of uniform noise."""

    def draw(rng: np.random.Generator, n: int) -> Drawn:
        centre = far_apart(rng, k, d, gap)
        X = _around(rng, centre[rng.choice(k, n, p=shares)])
        low, high = centre.min(axis=0) - 3, centre.max(axis=0) + 3
        stray = rng.random(n) < noise
        X[stray] = rng.uniform(low, high, (int(stray.sum()), d))
        return Drawn(X, [], *_probe(rng, centre), k)

    return draw


def _newcomer(rng: np.random.Generator, n: int) -> Drawn:
    """A sixth cluster begins with a tenth of the traffic, fades, and returns."""
    begins, fades, returns = n // 3, n // 2, 3 * n // 4
    centre = far_apart(rng, 6, 8, 8.0)
    label = rng.integers(5, size=n)
    t = np.arange(n)
    there = ((t >= begins) & (t < fades)) | (t >= returns)
    label[there & (rng.random(n) < 0.1)] = 5
    moments = ((begins, "born"), (fades, "quiet"), (returns, "back"))
    changes = [Change(sample, (kind,), centre[5]) for sample, kind in moments]
    return Drawn(_around(rng, centre[label]), changes, *_probe(rng, centre[:5]), 6)


def _merger(rng: np.random.Generator, n: int) -> Drawn:
    """From a third on, two clusters 7 apart share all that lies between them, as one long cluster."""
    centre = far_apart(rng, 5, 8, 9.0)
    way = rng.normal(size=8)
    centre[1] = centre[0] + 7 * way / np.linalg.norm(way)
    others = np.linalg.norm(centre[2:, None] - centre[:2], axis=2).min(axis=1)
    centre[2:] += (centre[2:] - centre[0]) * np.maximum(0, 9 / others - 1)[:, None]
    label = rng.integers(5, size=n)
    where = centre[label]
    long = (np.arange(n) >= n // 3) & (label < 2)
    share = rng.random((int(long.sum()), 1))
    where[long] = share * centre[0] + (1 - share) * centre[1]
    middle = (centre[0] + centre[1]) / 2
    return Drawn(_around(rng, where), [Change(n // 3, ("merged",), middle)], *_probe(rng, centre[2:]), 4)


def _division(rng: np.random.Generator, n: int) -> Drawn:
    """From a third on, the halves of a cluster move apart, 16 in 5,000 samples, and stay there."""
    centre = far_apart(rng, 5, 8, 16.0)
    way = rng.normal(size=8)
    way /= np.linalg.norm(way)
    label = rng.integers(5, size=n)
    where = centre[label]
    gap = 16 * np.clip((np.arange(n) - n // 3) / 5000, 0, 1)
    side = rng.choice([-0.5, 0.5], n) * (label == 0)
    where += (side * gap)[:, None] * way
    # Told as a split, or as two births where the halves went; the middle, where nothing comes, falls quiet.
    changes = [
        Change(n // 3, ("split", "born"), centre[0] + 8 * way),
        Change(n // 3, ("split", "born"), centre[0] - 8 * way),
        Change(n // 3, ("quiet",), centre[0]),
    ]
    return Drawn(_around(rng, where), changes, *_probe(rng, centre[1:]), 7)


def _drift(rng: np.random.Generator, n: int) -> Drawn:
    """Five clusters move together, 1 in 5,000 samples."""
    centre = far_apart(rng, 5, 8, 8.0)
    way = rng.normal(size=8)
    shift = (np.arange(n) / 5000)[:, None] * way / np.linalg.norm(way)
    label = rng.integers(5, size=n)
    X = _around(rng, centre[label] + shift)
    late = rng.integers(n - n // 6, n, size=500)
    return Drawn(X, [], X[late], label[late], 5)


def _one_cloud(rng: np.random.Generator, n: int) -> Drawn:
    return Drawn(rng.normal(size=(n, 8)), [], rng.normal(size=(500, 8)), np.zeros(500, int), 1)


def _uniform(rng: np.random.Generator, n: int) -> Drawn:
    return Drawn(rng.random((n, 8)), [], rng.random((500, 8)), np.zeros(500, int), 1)


def _runs(closeness: float) -> Draw:
    """Five clusters in time order: one after the other for 200 samples in the mean.

    Within a cluster, a sample and the one before it correlate with `closeness` (AR(1)).
    """

    def draw(rng: np.random.Generator, n: int) -> Drawn:
        centre = far_apart(rng, 5, 8, 8.0)
        leaves = np.where(rng.random(n) < 1 / 200, np.arange(n), 0)
        label = rng.integers(5, size=n)[np.maximum.accumulate(leaves)]
        inner = rng.normal(size=(n, 8))
        for i in range(1, n):
            inner[i] = closeness * inner[i - 1] + np.sqrt(1 - closeness**2) * inner[i]
        return Drawn(centre[label] + inner, [], *_probe(rng, centre), 5)

    return draw


def _real(name: str) -> Draw:
    """Rows of a data set, drawn with replacement."""

    def draw(rng: np.random.Generator, n: int) -> Drawn:
        X, y = data_set(name)
        probe = rng.integers(len(X), size=2000)
        return Drawn(X[rng.integers(len(X), size=n)], [], X[probe], y[probe], None)

    return draw


STREAMS: dict[str, Draw] = {
    "stationary": _mixture(5, 8, 8.0),
    "newcomer": _newcomer,
    "merger": _merger,
    "division": _division,
    "drift": _drift,
    "unequal": _mixture(6, 8, 8.0, shares=(0.5, 0.3, 0.13, 0.05, 0.015, 0.005)),
    "noise": _mixture(5, 8, 8.0, noise=0.05),
    "overlapping": _mixture(5, 8, 4.0),
    "one cloud": _one_cloud,
    "uniform": _uniform,
    "30 clusters": _mixture(30, 8, 8.0),
    "100 clusters": _mixture(100, 10, 8.0),
    "runs": _runs(0.0),
    "walk": _runs(0.8),
} | {name: _real(name) for name in REAL}
