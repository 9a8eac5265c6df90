"""Generated streams, seeded: half of them to find a read-out with, the other half to confirm it.

The halves share the families, but neither the variants nor the seeds. A stream is (X, y); y is all 0 where
the truth is one cluster. The order of the rows is left to the settings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Stream(NamedTuple):
    """One generated stream: how to make it, and which half it belongs to."""

    name: str
    family: str
    half: str
    make: Callable[..., tuple[np.ndarray, np.ndarray]]
    options: dict
    seed: int

    def draw(self) -> tuple[np.ndarray, np.ndarray]:
        """X and y, the same on every call."""
        X, y = self.make(np.random.RandomState(self.seed), **self.options)
        return np.ascontiguousarray(X, dtype=float), np.asarray(y)


def _centres(random, radius, d, gap):
    """Centres in a box just large enough for any two to be `gap` times the sum of their radii apart."""
    k, side = len(radius), radius.mean()
    while True:
        side *= 1.1
        centre = np.empty((0, d))
        for _ in range(40 * k):
            x = random.uniform(-side, side, d)
            i = len(centre)
            if i == k:
                break
            if (np.linalg.norm(centre - x, axis=1) >= gap * (radius[:i] + radius[i])).all():
                centre = np.vstack([centre, x])
        if len(centre) == k:
            return centre


def _gather(parts):
    return np.vstack(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def mixture(random, n, k, d, gap):
    """Equal spherical Gaussians; centres at least 2·gap standard deviations apart."""
    centre = _centres(random, np.ones(k), d, gap)
    return _gather([c + random.randn(n // k, d) for c in centre])


def giant(random, n, k, d, share, wide, gap):
    """One class with most of the rows, `wide` times as wide as the k small ones."""
    radius = np.r_[wide, np.ones(k)]
    size = np.r_[share * n, np.full(k, (1 - share) * n / k)].astype(int)
    centre = _centres(random, radius, d, gap)
    return _gather([c + r * random.randn(m, d) for c, r, m in zip(centre, radius, size, strict=True)])


def unequal(random, n, k, d, gap, octaves):
    """Gaussians whose widths and sizes differ by up to 2^octaves."""
    radius = 2.0 ** np.linspace(0, octaves, k)
    size = 2.0 ** random.uniform(0, octaves, k)
    size = np.maximum(40, n * size / size.sum()).astype(int)
    centre = _centres(random, radius, d, gap)
    return _gather([c + r * random.randn(m, d) for c, r, m in zip(centre, radius, size, strict=True)])


def noise(random, n, d):
    """A uniform cube: one cluster."""
    return random.rand(n, d), np.zeros(n, int)


def blob(random, n, d):
    """A Gaussian: one cluster."""
    return random.randn(n, d), np.zeros(n, int)


def stretched(random, n, d, ratio):
    """A Gaussian whose axes range from 1 to ratio, turned at random: one cluster."""
    turn = np.linalg.qr(random.randn(d, d))[0]
    return (random.randn(n, d) * np.geomspace(1, ratio, d)) @ turn, np.zeros(n, int)


def rings(random, n, k, width):
    """k concentric rings, equally dense."""
    parts = []
    for ring in range(1, k + 1):
        m = int(n * ring / (k * (k + 1) / 2))
        angle, radius = random.uniform(0, 2 * np.pi, m), ring + width * random.randn(m)
        parts.append(np.c_[radius * np.cos(angle), radius * np.sin(angle)])
    return _gather(parts)


def moons(random, n, width):
    """Two interleaved half circles."""
    angle = random.uniform(0, np.pi, (2, n // 2))
    upper = np.c_[np.cos(angle[0]), np.sin(angle[0])]
    lower = np.c_[1 - np.cos(angle[1]), 0.5 - np.sin(angle[1])]
    return _gather([part + width * random.randn(n // 2, 2) for part in (upper, lower)])


def spirals(random, n, k, width):
    """k arms of a spiral."""
    parts = []
    for arm in range(k):
        turn = np.sqrt(random.uniform(0.05, 1, n // k)) * 1.6 * np.pi
        angle = turn + 2 * np.pi * arm / k
        parts.append(np.c_[turn * np.cos(angle), turn * np.sin(angle)] + width * random.randn(n // k, 2))
    return _gather(parts)


def bars(random, n, k, d, length):
    """Long parallel bars."""
    parts = []
    for bar in range(k):
        X = random.randn(n // k, d)
        X[:, 0] = random.uniform(-length / 2, length / 2, n // k)
        X[:, 1] += 7 * bar
        parts.append(X)
    return _gather(parts)


def low_rank(random, n, k, d, rank, near):
    """Classes on random low-dimensional subspaces in many dimensions, with a little noise everywhere."""
    parts = []
    for _ in range(k):
        basis = random.randn(rank, d) / np.sqrt(d)
        centre = near * random.randn(d) / np.sqrt(d)
        parts.append(centre + random.randn(n // k, rank) @ basis + 0.5 * random.randn(n // k, d) / np.sqrt(d))
    return _gather(parts)


def dominated(random, n, k, d, gap, factor):
    """A mixture with one further feature that is wide and says nothing."""
    X, y = mixture(random, n, k, d, gap)
    return np.c_[X, factor * X.std() * random.rand(len(X))], y


def skewed(random, n, k, d, gap):
    """Log-normal classes."""
    centre = _centres(random, np.full(k, 1.0), d, gap)
    return _gather([c + np.exp(0.6 * random.randn(n // k, d)) - 1 for c in centre])


def heavy(random, n, k, d, gap, freedom):
    """Student's t classes."""
    centre = _centres(random, np.ones(k), d, gap)
    return _gather([c + random.standard_t(freedom, (n // k, d)) for c in centre])


_FIND = [
    (mixture, {"n": 3000, "k": 3, "d": 2, "gap": 2.0}),
    (mixture, {"n": 3000, "k": 5, "d": 2, "gap": 3.0}),
    (mixture, {"n": 3000, "k": 8, "d": 10, "gap": 2.5}),
    (mixture, {"n": 3000, "k": 4, "d": 20, "gap": 4.0}),
    (giant, {"n": 4000, "k": 3, "d": 2, "share": 0.8, "wide": 3.0, "gap": 2.5}),
    (giant, {"n": 4000, "k": 5, "d": 5, "share": 0.7, "wide": 2.0, "gap": 2.5}),
    (giant, {"n": 4000, "k": 1, "d": 10, "share": 0.8, "wide": 1.0, "gap": 3.0}),
    (giant, {"n": 4000, "k": 4, "d": 30, "share": 0.6, "wide": 1.5, "gap": 3.0}),
    (unequal, {"n": 4000, "k": 5, "d": 2, "gap": 2.5, "octaves": 3}),
    (unequal, {"n": 4000, "k": 6, "d": 8, "gap": 3.0, "octaves": 2}),
    (noise, {"n": 3000, "d": 2}),
    (noise, {"n": 3000, "d": 5}),
    (blob, {"n": 3000, "d": 2}),
    (blob, {"n": 3000, "d": 64}),
    (stretched, {"n": 3000, "d": 4, "ratio": 5}),
    (mixture, {"n": 10000, "k": 50, "d": 2, "gap": 3.0}),
    (mixture, {"n": 10000, "k": 100, "d": 10, "gap": 3.0}),
    (rings, {"n": 3000, "k": 2, "width": 0.05}),
    (spirals, {"n": 3000, "k": 2, "width": 0.1}),
    (bars, {"n": 3000, "k": 3, "d": 2, "length": 40}),
    (low_rank, {"n": 2500, "k": 8, "d": 100, "rank": 5, "near": 2.0}),
    (low_rank, {"n": 2500, "k": 10, "d": 400, "rank": 8, "near": 3.0}),
    (dominated, {"n": 3000, "k": 4, "d": 5, "gap": 3.5, "factor": 20}),
    (skewed, {"n": 3000, "k": 4, "d": 3, "gap": 2.5}),
    (heavy, {"n": 3000, "k": 4, "d": 4, "gap": 4.0, "freedom": 3}),
    (mixture, {"n": 3000, "k": 2, "d": 7, "gap": 1.4}),
    (mixture, {"n": 3000, "k": 6, "d": 8, "gap": 1.5}),
    (mixture, {"n": 4500, "k": 15, "d": 12, "gap": 1.5}),
    (mixture, {"n": 3000, "k": 5, "d": 3, "gap": 1.4}),
]
_CONFIRM = [
    (mixture, {"n": 4000, "k": 4, "d": 3, "gap": 2.0}),
    (mixture, {"n": 4000, "k": 7, "d": 5, "gap": 2.5}),
    (mixture, {"n": 4000, "k": 10, "d": 15, "gap": 2.5}),
    (mixture, {"n": 2000, "k": 6, "d": 2, "gap": 3.5}),
    (giant, {"n": 5000, "k": 2, "d": 3, "share": 0.75, "wide": 2.5, "gap": 2.5}),
    (giant, {"n": 5000, "k": 6, "d": 8, "share": 0.65, "wide": 1.5, "gap": 2.5}),
    (giant, {"n": 5000, "k": 3, "d": 20, "share": 0.9, "wide": 1.0, "gap": 3.0}),
    (giant, {"n": 5000, "k": 1, "d": 2, "share": 0.85, "wide": 3.0, "gap": 2.5}),
    (unequal, {"n": 5000, "k": 4, "d": 3, "gap": 2.5, "octaves": 3}),
    (unequal, {"n": 5000, "k": 8, "d": 12, "gap": 3.0, "octaves": 2}),
    (noise, {"n": 4000, "d": 3}),
    (noise, {"n": 4000, "d": 10}),
    (blob, {"n": 4000, "d": 3}),
    (blob, {"n": 4000, "d": 8}),
    (blob, {"n": 2000, "d": 64}),
    (stretched, {"n": 4000, "d": 10, "ratio": 5}),
    (mixture, {"n": 10000, "k": 50, "d": 10, "gap": 3.0}),
    (mixture, {"n": 10000, "k": 100, "d": 2, "gap": 3.5}),
    (rings, {"n": 4000, "k": 3, "width": 0.07}),
    (moons, {"n": 3000, "width": 0.08}),
    (spirals, {"n": 4000, "k": 3, "width": 0.12}),
    (bars, {"n": 3000, "k": 4, "d": 3, "length": 30}),
    (low_rank, {"n": 3000, "k": 6, "d": 64, "rank": 4, "near": 2.0}),
    (low_rank, {"n": 3000, "k": 12, "d": 600, "rank": 6, "near": 3.0}),
    (dominated, {"n": 4000, "k": 5, "d": 8, "gap": 3.5, "factor": 10}),
    (skewed, {"n": 4000, "k": 5, "d": 5, "gap": 2.5}),
    (heavy, {"n": 4000, "k": 6, "d": 6, "gap": 4.0, "freedom": 3}),
    (mixture, {"n": 4000, "k": 2, "d": 4, "gap": 1.5}),
    (mixture, {"n": 4000, "k": 8, "d": 10, "gap": 1.5}),
    (mixture, {"n": 5000, "k": 20, "d": 16, "gap": 1.5}),
    (mixture, {"n": 4000, "k": 4, "d": 5, "gap": 1.4}),
]


def _family(make, options):
    if make is mixture:
        return "many" if options["k"] >= 50 else "overlapping" if options["gap"] < 2 else "balanced"
    if make in (noise, blob, stretched):
        return "one"
    if make in (rings, moons, spirals, bars):
        return "filaments"
    return {skewed: "tails", heavy: "tails", low_rank: "high"}.get(make, make.__name__)


def _streams(half, specifications, first_seed):
    for i, (make, options) in enumerate(specifications):
        details = "-".join(f"{key}{value}" for key, value in options.items() if key != "n")
        yield Stream(
            f"{make.__name__}-{details}", _family(make, options), half, make, options, first_seed + i
        )


STREAMS = [*_streams("find", _FIND, 100), *_streams("confirm", _CONFIRM, 900)]
