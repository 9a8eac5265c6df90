"""A warning when one column dominates all distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..stream.blocks import Block
from ..stream.job import Run

SHARE = 0.95  # of the squared distances
MIN_ROWS = 100  # to estimate variances from


class Dominance:
    """Warns once, from the first rows, if a single column makes up nearly all of the distances."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self.warn, self.is_done = warn, False
        self.seen: list[np.ndarray] = []

    def __call__(self, job: Run, block: Block) -> None:
        """Collect rows until there are enough, then check."""
        if self.is_done or not len(block.X):
            return
        self.seen.append(block.X)
        if sum(map(len, self.seen)) < MIN_ROWS:
            return
        found = dominant_column(np.concatenate(self.seen), job.columns.features or [])
        self.seen, self.is_done = [], True
        if found is not None:
            self.warn(
                f"Column {found[0]!r} makes up {found[1]:.1%} of all squared distances, so the others hardly "
                "count; rescale it, or learn with --algorithm everclust --metric capped (the default)."
            )


def dominant_column(X: np.ndarray, names: Sequence[str]) -> tuple[str, float] | None:
    """(Name, share) of the column that makes up nearly all of the squared distances, if there is one."""
    if X.shape[1] < 2 or len(X) < 2:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        variance = X.var(axis=0)
        share = variance / variance.sum()
    k = int(np.argmax(share))
    return (names[k], float(share[k])) if share[k] > SHARE else None
