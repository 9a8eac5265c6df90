"""The plane that is looked at: two features, or the principal plane, which turns as little as it can."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ..view.projection import principal_axes, project
from .capture import Picture

REST = 0.5  # seconds for which the principal plane stays as it is
STEPS = 4  # of subspace iteration by which it then follows the nodes


class Placed(NamedTuple):
    """Where everything is in the plane."""

    nodes: np.ndarray
    samples: np.ndarray
    names: tuple[str, str]
    is_principal: bool  # both axes have the same unit


class Plane:
    """Two directions in the space of the features.

    Parameters
    ----------
    x, y : int or None
        Numbers of features. Without both of them, it is the plane in which the nodes vary most.
    """

    def __init__(self, x: int | None = None, y: int | None = None) -> None:
        self.features = None if x is None or y is None else (x, y)
        self._axes = np.zeros((2, 0))
        self._centre = np.zeros(0)
        self._share = 0.0
        self._due = 0.0

    def place(self, picture: Picture, names: list[str]) -> Placed:
        """Put nodes and samples into the plane."""
        now, width = picture.snapshot, len(names)
        if width == 1:
            flat = project(now.prototypes, now.usage, picture.samples, names)
            assert flat.samples is not None
            return Placed(flat.nodes, flat.samples, flat.axis_names, False)
        chosen = self._chosen(width)
        if chosen is not None:
            axes = list(chosen)
            called = names[axes[0]], names[axes[1]]
            return Placed(now.prototypes[:, axes], picture.samples[:, axes], called, False)
        self._find(picture)
        called = f"principal plane, {self._share:.0%} of variance", ""
        return Placed(self.put(now.prototypes), self.put(picture.samples), called, True)

    def put(self, points: np.ndarray) -> np.ndarray:
        """Points of the space in the plane, which was found before."""
        chosen = self._chosen(points.shape[1])
        if points.shape[1] == 1:
            return np.column_stack([points[:, 0], np.zeros(len(points))])
        if chosen is not None:
            return points[:, list(chosen)]
        return np.einsum("nd,kd->nk", points - self._centre, self._axes)

    def _chosen(self, width: int) -> tuple[int, int] | None:
        if self.features is not None and max(self.features) < width:
            return self.features
        return (0, 1) if width == 2 else None

    def _find(self, picture: Picture) -> None:
        """Follow the plane in which the nodes vary most. It is sought from scratch once only."""
        prototypes, usage = picture.snapshot.prototypes, picture.snapshot.usage
        if self._axes.shape[1] != prototypes.shape[1]:
            self._centre, self._axes, _ = principal_axes(prototypes, usage)
        elif time.monotonic() < self._due:
            return
        weight = usage / usage.sum()
        self._centre = np.einsum("n,nd->d", weight, prototypes)
        self._axes, self._share = followed(self._axes, prototypes - self._centre, weight)
        self._due = time.monotonic() + REST


def followed(axes: np.ndarray, points: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
    """(the plane nearer to the principal one, its share of the variance), by subspace iteration.

    Products are taken by einsum: the threads of a BLAS would wait for more work at the learner's expense.
    """
    new = axes
    for _ in range(STEPS):
        along = weight[:, None] * np.einsum("nd,kd->nk", points, new)
        new = np.linalg.qr(np.einsum("nk,nd->dk", along, points))[0].T
    new = turned_towards(axes, new)
    along = np.einsum("nd,kd->nk", points, new)
    whole = np.einsum("n,nd,nd->", weight, points, points)
    return new, float(np.einsum("n,nk,nk->", weight, along, along) / whole) if whole > 0 else 0.0


def turned_towards(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The same plane as the new axes, turned or mirrored within it so that it is nearest to the old ones."""
    left, _, right = np.linalg.svd(old @ new.T)
    return (left @ right) @ new
