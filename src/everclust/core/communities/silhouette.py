"""Simplified silhouettes: how much nearer nodes are to the centre of their own group than to the next."""

import math
from typing import NamedTuple

import numpy as np

from ...jit.arrays import as_floats, copied
from ...jit.compile import COARSE, jit, jit_allocating


class Silhouette(NamedTuple):
    """The linked nodes among the centres of their groups."""

    g: np.ndarray
    group: np.ndarray
    size: np.ndarray  # nodes of every group
    mass: np.ndarray  # Σ g of every group
    centre: np.ndarray
    squared: np.ndarray  # distance² of every node to every centre
    nearest: np.ndarray  # distance² of every node to the nearest centre of another group
    value: np.ndarray  # (b − a)/max(a, b) of every node


@jit_allocating
def new_silhouette(g, group, n_groups, position):
    """Centres are g-weighted means."""
    n = position.shape[0]
    silhouette = Silhouette(
        as_floats(g),
        copied(group),
        np.zeros(n_groups, np.int64),
        np.zeros(n_groups),
        np.zeros((n_groups, position.shape[1])),
        np.empty((n, n_groups)),
        np.empty(n),
        np.empty(n),
    )
    for i in range(n):
        a = group[i]
        silhouette.size[a] += 1
        silhouette.mass[a] += g[i]
    for i in range(n):
        a = group[i]
        share = g[i] / silhouette.mass[a]
        for j in range(position.shape[1]):
            silhouette.centre[a, j] += share * position[i, j]
    for i in range(n):
        for a in range(n_groups):
            silhouette.squared[i, a] = quick_square(position[i], silhouette.centre[a])
    return silhouette


def _quick_square(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


quick_square = jit(_quick_square, COARSE)  # for means over many nodes, which no single bit decides


@jit
def merge_groups(silhouette, a, b):  # INOUT silhouette
    """Group b joins group a. Distances to the new centre follow from those to the old ones (Stewart)."""
    mass = silhouette.mass[a] + silhouette.mass[b]
    p, q = silhouette.mass[a] / mass, silhouette.mass[b] / mass
    apart = p * q * quick_square(silhouette.centre[a], silhouette.centre[b])
    for j in range(silhouette.centre.shape[1]):
        silhouette.centre[a, j] = p * silhouette.centre[a, j] + q * silhouette.centre[b, j]
    silhouette.mass[a] = mass
    silhouette.size[a] += silhouette.size[b]
    for i in range(silhouette.group.shape[0]):
        if silhouette.group[i] == b:
            silhouette.group[i] = a
        silhouette.squared[i, a] = max(
            p * silhouette.squared[i, a] + q * silhouette.squared[i, b] - apart, 0.0
        )


@jit
def update_value(silhouette, i, nearest):  # INOUT silhouette.nearest, silhouette.value
    """Silhouette of node i, given its distance² to the nearest centre of another group."""
    c = silhouette.group[i]
    own = silhouette.squared[i, c] if silhouette.size[c] > 1 else 0.0
    silhouette.nearest[i] = nearest
    if own < nearest:
        silhouette.value[i] = 1.0 - math.sqrt(own / nearest)
    else:
        silhouette.value[i] = math.sqrt(nearest / own) - 1.0 if own > nearest else 0.0


def _weighted_mean(g, value):
    total, weights = 0.0, 0.0
    for i in range(g.shape[0]):
        total += g[i] * value[i]
        weights += g[i]
    return total / weights


weighted_mean = jit(_weighted_mean, COARSE)
