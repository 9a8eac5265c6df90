"""Clusters of rows, read from a snapshot."""

import numpy as np

from ..core.coarse import Coarse, assign_coarsely, coarse_copy
from ..core.communities.coarse_vote import predict_by_coarse_vote
from ..core.communities.voting import Voters, predict_by_vote
from ..core.readout import assign
from .chunks import in_chunks
from .snapshot import Snapshot

FEW_ROWS = 400  # measured exactly in less time than it takes to copy the candidates
_NOT_MEASURED = np.empty(0)


def labels(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Cluster of every row: that of its nearest node, or, for hand-over clusters, the vote of the nearest."""
    coarse = _coarse_copy(snapshot, X)
    ids = snapshot.node_labels[snapshot.candidates.node]

    def vote(rows: np.ndarray) -> np.ndarray:
        if coarse is None:
            return predict_by_vote(snapshot.candidates, ids, snapshot.vote_weights, rows)
        return predict_by_coarse_vote(snapshot.candidates, coarse, Voters(ids, snapshot.vote_weights), rows)

    def follow(rows: np.ndarray) -> np.ndarray:
        return snapshot.node_labels[_nearest(snapshot, coarse, rows)]

    answer = vote if len(snapshot.vote_weights) else follow
    return in_chunks(answer, X, np.int64, snapshot.prototypes.shape[1], len(ids))


def _coarse_copy(snapshot: Snapshot, X: np.ndarray) -> Coarse | None:
    """A coarse copy of the candidates, if there are enough rows to make up for it."""
    return coarse_copy(snapshot.candidates) if len(X) > FEW_ROWS else None


def _nearest(snapshot: Snapshot, coarse: Coarse | None, rows: np.ndarray) -> np.ndarray:
    """Nearest node of every row, by d/σ or by plain distance."""
    node = np.empty(len(rows), np.int64)
    if coarse is None:
        assign(snapshot.candidates, rows, node, np.empty(len(rows)))
    else:
        assign_coarsely(snapshot.candidates, coarse, rows, node, _NOT_MEASURED)
    return node
