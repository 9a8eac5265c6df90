"""Does one column decide all distances?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SHARE = 0.95  # of the squared distances


def dominant_column(X: np.ndarray, names: Sequence[str]) -> tuple[str, float] | None:
    """(Name, share) of the column that makes up nearly all of the squared distances, if there is one."""
    if X.shape[1] < 2 or len(X) < 2:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        variance = X.var(axis=0)
        share = variance / variance.sum()
    k = int(np.argmax(share))
    return (names[k], float(share[k])) if share[k] > SHARE else None
