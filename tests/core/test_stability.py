import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core import stability
from everclust.jit.simd import WIDTH

DETERMINANT_FLOOR = 1e-6


@pytest.fixture(scope="module")
def remembering(model):
    """A model whose window holds some samples, oldest first."""

    def build(window, scale=1.0, weight=None):
        window = np.array(window, float).reshape(len(window), -1)
        nodes = np.zeros((3, window.shape[1]))
        nodes[:, 0] = 0, 1, 2
        return model(nodes, scale=[scale] * 3, interval=max(len(window), 2), window=window, weight=weight)

    return build


@pytest.fixture
def stable_length(remembering, compiled):
    """Longest stable length over a window, in units of the widest scale."""

    def measure(window, scale=1.0):
        state = remembering(window, scale)
        similar = compiled(stability.new_similarities)(state, len(window), float(scale))
        return compiled(stability.longest_stable)(state, similar, len(window), False)[0]

    return measure


def test_distinct_samples_are_stable(stable_length):
    assert stable_length([0, 10, 20, 30]) == 4
    assert [stable_length(np.arange(n) * 10.0) for n in (7, 8, 9, 16, 17, 40)] == [7, 8, 9, 16, 17, 40]


def test_stability_ends_at_the_first_duplicate(stable_length):
    # From the newest back: 5, 3, 9, and then 3 again, which makes the matrix singular.
    assert stable_length([7, 3, 9, 3, 5]) == 3
    assert stable_length([7, 3, 5, 5]) == 1


@pytest.mark.parametrize("older", range(1, 30))
@pytest.mark.parametrize("newer", [0, 5, 8, 13])
def test_wherever_the_duplicate_is(newer, older, stable_length):
    # Sample number `newer` is met again `older` samples before it; the rest is distinct.
    window = np.arange(44.0)[::-1] * 10
    window[newer + older] = window[newer]
    assert stable_length(window[::-1]) == newer + older


def test_stability_ends_with_the_determinant(stable_length):
    # For two samples a distance δ apart the determinant is 1 − 1/(1 + δ)², which is 1e−6 at δ ≈ 5e−7.
    edge = 1 / math.sqrt(1 - DETERMINANT_FLOOR) - 1
    assert stable_length([0, edge * 1.001]) == 2
    assert stable_length([0, edge * 0.999]) == 1
    assert stable_length([0, edge * 1.001 * 8], scale=8.0) == 2
    assert stable_length([0, edge * 0.999 * 8], scale=8.0) == 1


def plain_similarities(window, scale, weight):
    """S of the newest samples, newest first, by its definition."""
    newest = np.array(window)[::-1]
    away = np.sqrt(((newest[:, None] - newest[None]) ** 2 * weight).sum(axis=2))
    return 1 / (1 + away / scale)


@given(seed=st.integers(0, 2**32), n=st.integers(2, 30), d=st.integers(1, 9), crowd=st.floats(0.3, 30))
def test_it_is_the_determinant_that_decides(remembering, compiled, seed, n, d, crowd):
    rng = np.random.default_rng(seed)
    window, weight = rng.normal(size=(n, d)), rng.uniform(0.2, 1, d)
    state = remembering(window, crowd, weight)
    similar = compiled(stability.new_similarities)(state, n, float(crowd))
    n_stable, n_blocks = compiled(stability.longest_stable)(state, similar, n, True)
    S = plain_similarities(window, crowd, weight)
    determinants = [np.linalg.det(S[:m, :m]) for m in range(1, n + 1)]
    assert all(value >= DETERMINANT_FLOOR * (1 - 1e-6) for value in determinants[:n_stable])
    assert n_stable == n or determinants[n_stable] < DETERMINANT_FLOOR * (1 + 1e-6)
    assert n_blocks == -(-min(n_stable + 1, n) // WIDTH)


@given(seed=st.integers(0, 2**32), n=st.integers(2, 30), n_used=st.integers(2, 30), is_capped=st.booleans())
def test_closest_others(remembering, compiled, seed, n, n_used, is_capped):
    rng = np.random.default_rng(seed)
    window, n_used = rng.normal(size=(n, 3)), min(n, n_used)
    weight = np.array([1, 0.5, 0.25]) if is_capped else np.ones(3)
    state = remembering(window, 2.0, weight)
    similar = compiled(stability.new_similarities)(state, n, 2.0)
    _, n_known = compiled(stability.longest_stable)(state, similar, n, is_capped)
    compiled(stability.find_closest)(state, similar, n_known, n_used, is_capped)
    S = plain_similarities(window, 2.0, weight)[:n_used, :n_used]
    np.fill_diagonal(S, 0)
    np.testing.assert_allclose(similar.closest[:n_used], S.max(axis=1), rtol=1e-13)


def test_closest_others_beyond_the_stable_ones(remembering, compiled):
    # 3, 1, 1 and 0: the second 1 is where stability ends, but all four are asked for.
    state = remembering([0, 1, 1, 3])
    similar = compiled(stability.new_similarities)(state, 4, 1.0)
    compiled(stability.find_closest)(state, similar, 0, 4, False)
    assert similar.closest[:4].tolist() == [1 / 3, 1, 1, 1 / 2]
