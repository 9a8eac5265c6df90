"""What is new to a model: how similar rows are to what was learnt, and which would found a node.

Both answers are made from all nodes and do not depend on how clusters are read out. docs/novelty.md says
what was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.layout import SEED_NODES
from ..core.novelty import find_first, find_reach
from ..core.readout import ReadOut, read_out
from ..core.state import State, scalars_of
from .chunks import in_chunks


@dataclass(frozen=True, eq=False)
class Known:
    """All nodes of a model at one moment. It shares no memory with the model.

    Parameters
    ----------
    candidates : ReadOut
        The nodes, to be compared by plain distance.
    prototypes : ndarray of shape (n_nodes, n_features)
        Their positions.
    scales, usage : ndarray of shape (n_nodes,)
        Their distance scales, and how often they were moved.
    vigilance : float
        The vigilance threshold.
    """

    candidates: ReadOut
    prototypes: np.ndarray
    scales: np.ndarray
    usage: np.ndarray
    vigilance: float

    @cached_property
    def remoteness(self) -> np.ndarray:
        """By how much each node is farther from the bulk of the samples than the average sample; or 0.

        A node's distance to the bulk is its reach: within it, nodes have the usage of √K average ones.
        """
        reach = np.empty(len(self.usage))
        needed = self.usage.sum() / math.sqrt(len(self.usage))
        find_reach(self.candidates, self.usage, needed, self.prototypes, reach)
        return np.maximum(reach - np.average(reach, weights=self.usage), 0.0)


def take_known(state: State) -> Known:
    """Copy what a state knows."""
    scalars = scalars_of(state)
    nodes = state.node[: scalars.n_nodes]
    return Known(
        candidates=read_out(state, np.arange(scalars.n_nodes), by_scale=False),
        prototypes=state.prototype[: scalars.n_nodes].copy(),
        scales=nodes["scale"].copy(),
        usage=nodes["usage"].copy(),
        vigilance=float(scalars.vigilance),
    )


def similarities(known: Known, X: np.ndarray) -> np.ndarray:
    """Similarity 1 / (1 + d/σ) of every row to its nearest node; a remote node counts as that far away."""
    remoteness = known.remoteness  # before there are threads

    def similarity(rows: np.ndarray) -> np.ndarray:
        node, distance = _first(known, rows)
        return _similarity(np.maximum(distance, remoteness[node]), known.scales[node])

    return in_chunks(similarity, X, np.float64, known.prototypes.shape[1], len(known.usage))


def are_novel(known: Known, X: np.ndarray) -> np.ndarray:
    """Whether each row, learnt next, would found a node: it does not resonate with its nearest one."""

    def is_novel(rows: np.ndarray) -> np.ndarray:
        if len(known.usage) < SEED_NODES:
            return np.ones(len(rows), bool)
        node, distance = _first(known, rows)
        return _similarity(distance, known.scales[node]) < known.vigilance

    return in_chunks(is_novel, X, np.bool_, known.prototypes.shape[1], len(known.usage))


def _first(known: Known, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nearest node of every row, and its distance."""
    node, distance = np.empty(len(rows), np.int64), np.empty(len(rows))
    find_first(known.candidates, rows, node, distance)
    return node, distance


def _similarity(distance: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """`core.resonance.similarity` of arrays, operation by operation."""
    return 1.0 / (1.0 + distance / scale)
