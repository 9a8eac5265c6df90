"""The plane that the page draws: two features, or the principal plane, which follows the nodes smoothly."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ..view.projection import principal_axes, project
from .capture import Capture

UPDATE_SECONDS = 0.5  # between two updates of the principal plane
ITERATIONS = 4  # of subspace iteration per update


class PlaneView(NamedTuple):
    """Positions of nodes and samples in the plane."""

    nodes: np.ndarray
    samples: np.ndarray
    names: tuple[str, str]
    is_principal: bool  # both axes have the same unit


class Plane:
    """Two directions in the space of the features.

    Parameters
    ----------
    x, y : int or None
        Numbers of features. Unless both are given, it is the plane in which the nodes vary most.
    """

    def __init__(self, x: int | None = None, y: int | None = None) -> None:
        self.features = None if x is None or y is None else (x, y)
        self._axes = np.zeros((2, 0))
        self._centre = np.zeros(0)
        self._scale = np.ones(0)  # of features, in the metric of the model
        self._share = 0.0
        self._due = 0.0

    def view(self, capture: Capture, names: list[str]) -> PlaneView:
        """Project nodes and samples."""
        now, width = capture.snapshot, len(names)
        if width == 1:
            line = project(now, capture.samples, names)
            assert line.samples is not None
            return PlaneView(line.nodes, line.samples, line.axis_names, False)
        chosen = self._chosen(width)
        if chosen is not None:
            axes = list(chosen)
            axis_names = names[axes[0]], names[axes[1]]
            return PlaneView(now.prototypes[:, axes], capture.samples[:, axes], axis_names, False)
        self._update(capture)
        axis_names = f"principal plane, {self._share:.0%} of variance", ""
        return PlaneView(self.project(now.prototypes), self.project(capture.samples), axis_names, True)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Project points onto the plane of the last view."""
        chosen = self._chosen(points.shape[1])
        if points.shape[1] == 1:
            return np.column_stack([points[:, 0], np.zeros(len(points))])
        if chosen is not None:
            return points[:, list(chosen)]
        return np.einsum("nd,kd->nk", points * self._scale - self._centre, self._axes)

    def _chosen(self, width: int) -> tuple[int, int] | None:
        if self.features is not None and max(self.features) < width:
            return self.features
        return (0, 1) if width == 2 else None

    def _update(self, capture: Capture) -> None:
        """Follow the principal plane; it is computed from scratch only once."""
        now, usage = capture.snapshot, capture.snapshot.usage
        if self._axes.shape[1] == now.prototypes.shape[1] and time.monotonic() < self._due:
            return
        self._scale = np.sqrt(now.feature_weights)
        prototypes = now.prototypes * self._scale
        if self._axes.shape[1] != prototypes.shape[1]:
            self._centre, self._axes, _ = principal_axes(prototypes, usage)
        weight = usage / usage.sum()
        self._centre = np.einsum("n,nd->d", weight, prototypes)
        self._axes, self._share = follow(self._axes, prototypes - self._centre, weight)
        self._due = time.monotonic() + UPDATE_SECONDS


def follow(axes: np.ndarray, points: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
    """(axes nearer to the principal plane, their share of the variance), by subspace iteration.

    einsum, not a matrix product: a BLAS keeps its threads spinning, which takes time from the learner.
    """
    new = axes
    for _ in range(ITERATIONS):
        along = weight[:, None] * np.einsum("nd,kd->nk", points, new)
        new = np.linalg.qr(np.einsum("nk,nd->dk", along, points))[0].T
    new = align(axes, new)
    along = np.einsum("nd,kd->nk", points, new)
    whole = np.einsum("n,nd,nd->", weight, points, points)
    return new, float(np.einsum("n,nk,nk->", weight, along, along) / whole) if whole > 0 else 0.0


def align(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Rotate or mirror the new axes within their plane so that they are nearest to the old ones.

    This is the orthogonal Procrustes problem.
    """
    left, _, right = np.linalg.svd(old @ new.T)
    return (left @ right) @ new
