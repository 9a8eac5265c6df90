"""Torque clustering, second part: cut the connections with abnormally large torque."""

from __future__ import annotations

import numpy as np

from .layers import components


def weigh(connections: np.ndarray) -> np.ndarray:
    """Steps 6 and 7: set τ = M·R and sort by τ, largest first; ties stay in order of creation."""
    mass, square = mass_and_square(connections)
    connections["torque"] = mass * square
    return connections[np.argsort(-connections["torque"], kind="stable")]


def mass_and_square(connections: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Product M of the two masses, squared distance R."""
    mass = connections["mass_a"].astype(float) * connections["mass_b"]
    return mass, connections["distance"] ** 2


def count_abnormal(connections: np.ndarray) -> int:
    """Steps 8 to 11: number of the sorted connections to cut."""
    score = _gaps(connections)
    large = _large(connections)
    if large.any():
        score *= np.cumsum(large) / large.sum()
    if np.isnan(score).all():
        return 0
    return int(np.nanargmax(score)) + 1


def _gaps(connections: np.ndarray) -> np.ndarray:
    """g_i = τ_i / τ_(i+1); NaN for the last connection and for those of the first layer."""
    torque, gap = connections["torque"], np.full(len(connections), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap[:-1] = torque[:-1] / torque[1:]
    gap[connections["layer"] == 1] = np.nan
    return gap


def _large(connections: np.ndarray) -> np.ndarray:
    """True for connections that are at least average in R, M and τ among those after the first layer."""
    large = connections["layer"] > 1
    if large.any():
        for quantity in (*mass_and_square(connections), connections["torque"]):
            large &= quantity >= quantity[connections["layer"] > 1].mean()
    return large


def partition(connections: np.ndarray, n_cut: int) -> np.ndarray:
    """Step 12: cluster of each sample after cutting the first n_cut connections."""
    kept = connections[n_cut:]
    return components(kept["a"], kept["b"], len(connections) + 1)
