"""Candidates and rows that are hard for a filter in float32: ties, duplicates, large offsets, huge values."""

import numpy as np
from hypothesis import strategies as st

from everclust.core.readout import ReadOut
from everclust.jit.blocks import LANES, pack

#: Offset and spread of the nodes.
MAGNITUDES = [(0, 1), (1e9, 1), (1e6, 1e-9), (0, 1e-170), (0, 1e-320), (0, 1e139), (1e140, 1e120), (7, 0)]


@st.composite
def candidates_and_rows(draw, by_scale=False):
    """A read-out, and rows that are at nodes, between two of them, near them and far away."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(1, 150)), draw(st.integers(1, 9))
    offset, spread = draw(st.sampled_from(MAGNITUDES))
    on_grid = draw(st.booleans())
    nodes = rng.integers(-2, 3, (n, d)) if on_grid else rng.normal(size=(n, d))
    nodes = np.clip(offset + spread * nodes, -1e140, 1e140)
    scale = np.ones(len(pack(nodes)) * LANES)
    if by_scale:
        scale[:n] = 10.0 ** rng.integers(-6, 3, n) if draw(st.booleans()) else rng.uniform(0.5, 2, n)
    weight = rng.uniform(1e-6, 1, d) if draw(st.booleans()) else np.empty(0)
    a, b = nodes[rng.integers(n, size=(2, 40))]
    far = nodes[:1] + 10.0 ** rng.uniform(-3, 20, (20, 1)) * spread * rng.normal(size=(20, d))
    rows = np.concatenate([a, (a + b) / 2, a + 1e-7 * (b - a), a + (b - a) * rng.random((40, 1)), far])
    return ReadOut(pack(nodes), scale, np.arange(n), weight), np.clip(rows, -1e140, 1e140)
