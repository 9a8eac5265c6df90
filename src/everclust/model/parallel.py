"""Learning on several cores: forks of a model learn shards of the rows side by side, and are merged.

Rows are learnt in rounds. In each round, fork i of n learns the rows i, i + n, i + 2n …, so that all see the
same stretch of the stream; then the forks become one model, and a sample of the round's rows is recounted.
docs/parallel.md has the reasons for the numbers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from threading import Event

import numpy as np

from ..core.handovers import births_of, index_by_birth
from ..core.layout import NONE
from ..core.merging.recount import PairCounts, apportioned, count_pairs
from ..core.serialise import export
from ..core.state import new_state
from .learner import Learner
from .merging import merge_learners, recount_learner, updated
from .rows import as_kernel_rows

BASE_ROWS = 2_000  # learnt in order before there are forks
FEWEST_ROWS = 10_000  # of a shard: below, to merge it takes longer than to learn it
MOST_ROWS = 200_000  # of a shard
MOST_CELLS = 2**24  # of a shard: 128 MiB
ROWS_A_NODE = 20  # recounted
PIECE_CELLS = 2**16  # of a shard between two checks for Ctrl-C


def round_length(n_features: int, n_jobs: int) -> int:
    """Rows that are learnt between two mergers."""
    return n_jobs * max(FEWEST_ROWS, min(MOST_ROWS, MOST_CELLS // n_features))


def load_kernels() -> None:
    """Load what every kernel needs, numba's tables and SciPy, and a small kernel: a third of a second."""
    export(new_state(1), with_ids=False)


def learn_rows(learner: Learner, X: np.ndarray, n_jobs: int) -> None:  # INOUT learner
    """Learn all rows on so many threads. After Ctrl-C, the model has learnt the rounds before it."""
    if n_jobs == 1:
        learner.learn(X)
        return
    step = round_length(X.shape[1], n_jobs)
    with learner.lock:
        for start in range(0, len(X), step):
            _learn_round(learner, X[start : start + step], n_jobs)


def _learn_round(learner: Learner, X: np.ndarray, n_jobs: int) -> None:  # INOUT learner
    """Learn the rows of a round: the first ones of a model, and too few for all threads, in order."""
    n_first = max(BASE_ROWS - learner.scalar("n_seen"), 0)
    if len(X) - n_first < n_jobs * FEWEST_ROWS:
        learner.learn(X)
        return
    if n_first:
        learner.learn(X[:n_first])
    learner.become(_learnt_by_forks(updated(learner), X[n_first:], n_jobs))


def _learnt_by_forks(base: Learner, X: np.ndarray, n_jobs: int) -> Learner:
    """The base after it has learnt the rows."""
    forks, stopped = [base.copy() for _ in range(n_jobs)], Event()
    pool = ThreadPoolExecutor(n_jobs)
    try:
        shards = (X[i::n_jobs] for i in range(n_jobs))
        for _ in pool.map(_learn_shard, forks, shards, [stopped] * n_jobs):
            pass
        merged = merge_learners(forks, base, base.variant, pool.map).learner
        rows = _sample(X, ROWS_A_NODE * merged.scalar("n_nodes"))
        counts = pool.map(_counts, [merged] * n_jobs, np.array_split(rows, n_jobs))
        return recount_learner(merged, _completed(reduce(add, counts), merged, base))
    finally:  # also after Ctrl-C, which reaches this thread alone
        stopped.set()
        pool.shutdown(cancel_futures=True)


def _learn_shard(fork: Learner, shard: np.ndarray, stopped: Event) -> None:  # INOUT fork
    step = max(1, PIECE_CELLS // shard.shape[1])
    for start in range(0, len(shard), step):
        if stopped.is_set():
            return
        fork.learn(shard[start : start + step])


def _counts(learner: Learner, rows: np.ndarray) -> PairCounts:
    return count_pairs(learner.state, as_kernel_rows(rows))


def _completed(counts: PairCounts, learner: Learner, base: Learner) -> PairCounts:
    """Counts of all samples: those of the base as it holds them, and a sample of the others in proportion."""
    n_base = base.scalar("n_seen")
    n_later = learner.scalar("n_seen") - n_base
    place = index_by_birth(births_of(learner.state), births_of(base.state))
    before, n_evident = export(base.state, with_ids=False)[1], int(counts.evidence[:, 2].sum())
    later = PairCounts(
        n_later,
        counts.n_nodes,
        apportioned(counts.handover, n_later),
        apportioned(counts.evidence, n_evident * n_later // counts.n_rows),
    )
    known = (_moved(before[name], place) for name in ("handover", "evidence"))
    return later + PairCounts(n_base, counts.n_nodes, *known)


def _moved(pairs: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Pairs of nodes in their new places, without those of nodes that have none."""
    moved = pairs.copy()
    moved[:, :2] = place[pairs[:, :2]]
    return moved[(moved[:, :2] != NONE).all(axis=1)]


def _sample(X: np.ndarray, n_rows: int) -> np.ndarray:
    """Rows of X, always the same, and without a period that the stream might have too."""
    if n_rows >= len(X):
        return X
    return X[np.sort(np.random.default_rng(0).choice(len(X), n_rows, replace=False, shuffle=False))]
