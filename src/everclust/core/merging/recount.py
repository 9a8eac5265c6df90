"""Recount of hand-overs and evidence from rows that are read again, with the nodes as they are."""

from typing import NamedTuple

import numpy as np

from ...jit.compile import kernel
from ...jit.reference import refer
from ..layout import NO_CLUSTER, SEED_NODES
from ..nearest import nearest_two, new_scratch
from ..resonance import similarity
from ..serialise import export, restore
from ..state import State, copy, scalar


class PairCounts(NamedTuple):
    """How often rows had the same two nearest nodes. Counts of different rows, with the same model, add up.

    Parameters
    ----------
    n_rows : int
        Number of rows counted.
    n_nodes : int
        Number of nodes of the model.
    handover, evidence : ndarray of shape (m, 3)
        Two nodes and a count in each row: rows to which these two were nearest, and those of them for which
        both are active and similar enough.
    """

    n_rows: int
    n_nodes: int
    handover: np.ndarray
    evidence: np.ndarray

    def __add__(self, other: "PairCounts") -> "PairCounts":  # type: ignore[override]
        """Counts of the rows of both."""
        if self.n_nodes != other.n_nodes:
            raise ValueError(
                f"Counts of a model with {self.n_nodes} nodes and of one with {other.n_nodes} do not add up; "
                "count all rows with the same model."
            )
        return PairCounts(
            self.n_rows + other.n_rows,
            self.n_nodes,
            _summed(np.concatenate([self.handover, other.handover]), self.n_nodes),
            _summed(np.concatenate([self.evidence, other.evidence]), self.n_nodes),
        )


def count_pairs(state: State, X: np.ndarray) -> PairCounts:
    """Count the nearest two nodes of every row of a C-contiguous float64 array."""
    n_nodes, empty = scalar(state, "n_nodes"), np.empty((0, 3), np.int64)
    if n_nodes < SEED_NODES:
        return PairCounts(len(X), n_nodes, empty, empty)
    pairs, are_similar = np.empty((len(X), 3), np.int64), np.empty(len(X), bool)
    find_nearest(copy(state), X, pairs, are_similar)  # a search writes into its coarse copy of the nodes
    pairs[:, :2].sort(axis=1)
    return PairCounts(len(X), n_nodes, _summed(pairs, n_nodes), _summed(pairs[are_similar], n_nodes))


@kernel
def find_nearest(state, X, pairs, are_similar):  # INOUT state.coarse, pairs, are_similar
    """Nearest two nodes of every row, and whether both are active and resonate with it."""
    state = refer(state)
    scratch, vigilance = new_scratch(state), state.scalars[0].vigilance
    for i in range(X.shape[0]):
        first, second, to_first, to_second = nearest_two(state, X[i], scratch)
        a, b = state.node[first], state.node[second]
        pairs[i, 0], pairs[i, 1], pairs[i, 2] = first, second, 1
        are_similar[i] = (
            a.active
            and b.active
            and similarity(to_first, a.scale) >= vigilance
            and similarity(to_second, b.scale) > vigilance
        )


def _summed(pairs: np.ndarray, n_nodes: int) -> np.ndarray:
    """(i, j, count) with every pair once, sorted."""
    keys, place = np.unique(pairs[:, 0] * n_nodes + pairs[:, 1], return_inverse=True)
    count = np.zeros(len(keys), np.int64)
    np.add.at(count, place, pairs[:, 2])
    return np.stack([keys // n_nodes, keys % n_nodes, count], axis=1)


def recounted(state: State, counts: PairCounts) -> State:
    """The model with these counts instead of its own: hand-overs in the same number, evidence as if every
    sample had been counted, and edges where evidence is above its mean."""
    scalars, arrays = export(state)
    if not len(counts.handover):
        return copy(state)
    arrays["handover"] = apportioned(counts.handover, int(arrays["handover"][:, 2].sum()))
    n_evident = int(counts.evidence[:, 2].sum())
    total = (2 * n_evident * scalars["n_seen"] + counts.n_rows) // (2 * counts.n_rows)  # rounded
    evidence = arrays["evidence"] = apportioned(counts.evidence, total)
    arrays["edge"] = evidence[evidence[:, 2] * len(evidence) > evidence[:, 2].sum(), :2].copy()
    arrays["cluster"] = np.full(counts.n_nodes, NO_CLUSTER)
    return restore(scalars, arrays)


def apportioned(pairs: np.ndarray, total: int) -> np.ndarray:
    """Counts in proportion to those of the pairs with a given sum, by largest remainders; ties to the lower
    pair. Pairs that come to nothing are left out."""
    n = max(int(pairs[:, 2].sum()), 1)  # there may be no pairs
    whole, rest = divmod(total, n)
    shares = pairs[:, 2].astype(np.int64 if n < 2**31 else object) * rest  # Python's integers do not overflow
    count = pairs[:, 2] * whole + (shares // n).astype(np.int64)
    remainder = (shares % n).astype(np.int64)
    count[np.argsort(-remainder, kind="stable")[: total - int(count.sum())]] += 1
    found = pairs.copy()
    found[:, 2] = count
    return found[count > 0]
