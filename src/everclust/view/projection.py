"""Projection of nodes and samples with any number of features to two dimensions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..model.snapshot import Snapshot

USAGE = "usage"  # name of the second axis of models with one feature
STRIP = 0.16  # height of the strip of samples of one feature, as a share of the highest usage
GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, fill an interval evenly


class Projection(NamedTuple):
    """Positions in the plane and names of its axes."""

    nodes: np.ndarray  # shape (n_nodes, 2)
    samples: np.ndarray | None  # shape (n_samples, 2)
    axis_names: tuple[str, str]


def project(now: Snapshot, samples: np.ndarray | None, names: Sequence[str]) -> Projection:
    """One feature against the usage, two as they are, more by their principal components in the metric of the
    model, which may weigh large features down."""
    prototypes, usage = now.prototypes, now.usage
    if prototypes.shape[1] == 1:
        return _along_a_line(prototypes, usage, samples, names[0])
    if prototypes.shape[1] == 2:
        return Projection(prototypes, samples, (names[0], names[1]))
    scale = np.sqrt(now.feature_weights)
    centre, axes, share = principal_axes(prototypes * scale, usage)
    return Projection(
        (prototypes * scale - centre) @ axes.T,
        None if samples is None else (samples * scale - centre) @ axes.T,
        (_component(1, share[0]), _component(2, share[1])),
    )


def principal_axes(prototypes: np.ndarray, usage: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, two axes and their shares of the variance; prototypes are weighted by usage."""
    weight = usage / usage.sum()
    centre = weight @ prototypes
    _, length, rows = np.linalg.svd(np.sqrt(weight)[:, None] * (prototypes - centre), full_matrices=False)
    rank = min(2, int((length > 1e-9 * length[0]).sum()))
    axes, share = np.zeros((2, prototypes.shape[1])), np.zeros(2)
    axes[:rank] = rows[:rank] * np.where(rows[:rank].sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    share[:rank] = length[:rank] ** 2 / (length**2).sum()
    return centre, axes, share


def _component(k: int, share: float) -> str:
    return f"component {k} ({share:.0%} of variance)"


def _along_a_line(
    prototypes: np.ndarray, usage: np.ndarray, samples: np.ndarray | None, name: str
) -> Projection:
    """The feature on the x axis, the usage on the y axis; samples in a strip below zero."""
    nodes = np.column_stack([prototypes[:, 0], usage])
    if samples is not None:
        depth = STRIP * usage.max() * (0.25 + np.arange(len(samples)) * GOLDEN % 1.0)
        samples = np.column_stack([samples[:, 0], -depth])
    return Projection(nodes, samples, (name, USAGE))
