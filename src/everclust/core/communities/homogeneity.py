"""Whether the samples of a cluster lie where they lay before: wins of its nodes in two intervals compared.

The nodes that were there before both intervals are cells; what a younger node won counts for the cell that it
hands over to most. What a difference means is up to `everclust.model.ids.shifts`.
"""

from typing import NamedTuple

import numpy as np

from ...jit.arrays import filled
from ...jit.compile import jit, jit_allocating, kernel
from ...jit.sorting import place_in
from ..layout import NO_CLUSTER, NONE
from .matching import distinct

FEWEST_EXPECTED = 5  # samples of a cell in either interval; smaller cells of a cluster are one cell (Cochran)


class Past(NamedTuple):
    """What nodes had won at the latest two answers, between which and after which their wins are compared."""

    births: np.ndarray  # rising
    earlier: np.ndarray  # wins at the answer before the latest, or NONE for nodes that were not there
    latest: np.ndarray


@kernel
def compare_intervals(past, base, reported):
    """Ids of reported clusters with cells, chi-squared of each, and its degrees of freedom."""
    n = reported.shape[0]
    earlier, latest = _find_wins(past, base.births)
    is_cell, of_cells = np.empty(n, np.bool_), filled(n, NO_CLUSTER)
    for k in range(n):
        is_cell[k] = earlier[k] != NONE and reported[k] != NO_CLUSTER
        if is_cell[k]:
            of_cells[k] = reported[k]
    cell = find_cells(is_cell, reported, base.links)
    before, after = np.zeros(n), np.zeros(n)
    for k in range(n):
        if cell[k] != NONE:
            before[cell[k]] += max(latest[k], 0) - max(earlier[k], 0)
            after[cell[k]] += base.wins[k] - max(latest[k], 0)
    ids = distinct(of_cells)
    cluster = filled(n, NONE)
    for k in range(n):
        if is_cell[k]:
            cluster[k] = place_in(ids, reported[k])
    squares, freedom = homogeneity(cluster, before, after, ids.shape[0])
    return ids, squares, freedom


@kernel
def find_wins(past, births):
    """Wins of the nodes of these births at the answer before the latest and at that one; NONE for nodes that
    were not there."""
    return _find_wins(past, births)


@jit_allocating
def _find_wins(past, births):
    """The same, for kernels."""
    earlier, latest = filled(births.shape[0], NONE), filled(births.shape[0], NONE)
    m = 0
    for k in range(births.shape[0]):
        while m < past.births.shape[0] and past.births[m] < births[k]:
            m += 1
        if m < past.births.shape[0] and past.births[m] == births[k]:
            earlier[k], latest[k] = past.earlier[m], past.latest[m]
    return earlier, latest


@jit_allocating
def find_cells(is_cell, reported, links):
    """The cell of every node: itself, or that of the node of the same cluster that it hands over to most of
    those that have one, the lowest on ties; NONE without any."""
    n = reported.shape[0]
    cell, nearest, most = filled(n, NONE), filled(n, NONE), np.zeros(n, np.int64)
    for k in range(n):
        if is_cell[k]:
            cell[k] = k
    while True:
        for e in range(links.shape[0]):
            i, j, count = links[e, 0], links[e, 1], links[e, 2]
            if reported[i] == reported[j]:
                if cell[i] == NONE and cell[j] != NONE:
                    prefer(nearest, most, i, j, count)
                elif cell[j] == NONE and cell[i] != NONE:
                    prefer(nearest, most, j, i, count)
        n_found = 0
        for k in range(n):
            if cell[k] == NONE and nearest[k] != NONE:
                cell[k] = cell[nearest[k]]
                n_found += 1
        if n_found == 0:
            return cell


@jit
def prefer(nearest, most, i, j, count):  # INOUT nearest, most
    """Let node i go with node j if it hands over to no other more often, nor as often to a lower one."""
    if count > most[i] or (count == most[i] and j < nearest[i]):
        nearest[i], most[i] = j, count


@jit_allocating
def homogeneity(cluster, before, after, n_clusters):
    """Chi-squared of every cluster and its degrees of freedom, from counts of cells in two intervals.

    `cluster`: of every cell, from 0, or NONE where there is no cell.
    """
    sums, share = np.zeros(n_clusters), np.zeros(n_clusters)
    for k in range(cluster.shape[0]):
        if cluster[k] != NONE:
            sums[cluster[k]] += before[k] + after[k]
            share[cluster[k]] += after[k]
    for c in range(n_clusters):
        share[c] /= max(sums[c], 1.0)
    squares, freedom = np.zeros(n_clusters), filled(n_clusters, -1)
    rest, after_rest = np.zeros(n_clusters), np.zeros(n_clusters)
    for k in range(cluster.shape[0]):
        c = cluster[k]
        if c != NONE:
            total = before[k] + after[k]
            if total * min(share[c], 1.0 - share[c]) >= FEWEST_EXPECTED:
                add_cell(squares, freedom, share, c, total, after[k])
            else:
                rest[c] += total
                after_rest[c] += after[k]
    for c in range(n_clusters):
        add_cell(squares, freedom, share, c, rest[c], after_rest[c])
    return squares, freedom


@jit
def add_cell(squares, freedom, share, c, total, after):  # INOUT squares, freedom
    """Add the term of one cell to chi-squared of its cluster, if it has samples."""
    variance = total * (share[c] * (1.0 - share[c]))
    if variance > 0.0:
        away = after - total * share[c]
        squares[c] += away * away / variance
        freedom[c] += 1
