"""Links between nodes, made up."""

import numpy as np


def near_ones(rng, position, n_near):
    """Each node linked with its nearest."""
    away = np.linalg.norm(position[:, None] - position, axis=2)
    near = np.argsort(away, axis=1)[:, 1 : 1 + n_near].tolist()
    pairs = {tuple(sorted((i, j))) for i in range(len(position)) for j in near[i]}
    return np.array([(i, j, rng.integers(1, 30)) for i, j in sorted(pairs)])
