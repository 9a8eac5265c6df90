import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.learn import learn
from everclust.core.metric import (
    cap,
    distance,
    two_distances,
    update_stretch,
    vector_of_weighted_squared_distances,
    weighted_squared_distances,
)
from everclust.core.state import State, new_state, scalars_of
from everclust.core.variants import CAPPED
from everclust.jit.blocks import LANES, pack
from everclust.jit.simd import WIDTH
from oracles.handover import capped_weights, weighted_distance


def test_distance(compiled):
    away = compiled(distance)
    assert away(np.array([0.0, 0.0]), np.array([3.0, 4.0]), np.ones(2)) == 5.0
    # With a quarter of the second feature: √(9 + 16/4 · 4).
    assert away(np.array([0.0, 0.0]), np.array([3.0, 8.0]), np.array([1.0, 0.25])) == 5.0
    assert away(np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([1.0, 0.25])) == 0.0


@given(seed=st.integers(0, 2**32), d=st.integers(1, 40))
def test_two_distances_have_the_bits_of_each(compiled, seed, d):
    rng = np.random.default_rng(seed)
    x, a, b, weight = rng.normal(size=(4, d)) ** 2
    away = compiled(distance)
    assert compiled(two_distances)(x, a, b, weight) == (away(x, a, weight), away(x, b, weight))


@given(seed=st.integers(0, 2**32), n=st.integers(1, 100), d=st.integers(1, 6))
def test_distances_to_a_block_are_those_to_its_nodes(compiled, seed, n, d):
    rng = np.random.default_rng(seed)
    nodes, x, weight = rng.normal(size=(n, d)), rng.normal(size=d), rng.random(d)
    found = np.empty(LANES)
    for b, block in enumerate(pack(nodes)):
        compiled(weighted_squared_distances)(x, block, weight, found)
        here = nodes[b * LANES : (b + 1) * LANES]
        expected = [weighted_distance(x, y, weight) for y in here]
        np.testing.assert_allclose(np.sqrt(found[: len(here)]), expected, rtol=1e-14)
        few = np.empty(WIDTH)
        for lane in range(0, LANES, WIDTH):
            compiled(vector_of_weighted_squared_distances)(x, block, lane, weight, few)
            assert few.tobytes() == found[lane : lane + WIDTH].tobytes()


@pytest.fixture
def weights(model, compiled):
    """The weights that a sum of squared deviations leads to."""

    def find(square_sum, before=None):
        n = len(square_sum)
        state = model([[0] * n, [1] * n, [2] * n], square_sum=square_sum, weight=before)
        compiled(cap)(state)
        return state.weight.tolist()

    return find


@pytest.mark.parametrize(
    ("square_sum", "expected"),
    [
        ([2, 4, 8], [1, 1, 0.5]),  # the median is 4
        ([8, 2, 4], [0.5, 1, 1]),
        ([2, 4, 8, 16], [1, 1, 0.75, 0.375]),  # the median is 6
        ([5], [1]),
        ([3, 3, 3], [1, 1, 1]),
        ([0, 2, 4, 8], [1, 1, 1, 0.5]),  # what does not vary does not count, and keeps its weight
        ([0, 6], [1, 1]),
        ([2, 4], [1, 0.75]),  # the median of two is their mean
    ],
)
def test_no_feature_weighs_more_than_the_median_one(square_sum, expected, weights):
    assert weights(square_sum) == expected


def test_weights_may_rise_again(weights):
    assert weights([4, 4, 4], before=[1, 0.5, 0.1]) == [1, 1, 1]


def test_weights_stay_while_nothing_varies(weights):
    assert weights([0, 0], before=[1, 0.25]) == [1, 0.25]


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.5, 1e-3, 1e6]), min_size=1, max_size=7))
def test_weights_are_those_of_the_slow_rule(model, compiled, square_sum):
    n = len(square_sum)
    state = model([[0] * n, [1] * n, [2] * n], square_sum=square_sum)
    compiled(cap)(state)
    expected = capped_weights([1.0] * n, square_sum, 10)
    np.testing.assert_allclose(state.weight, expected, rtol=1e-12)


def test_the_coarse_copy_keeps_older_weights(model, compiled):
    """There a distance is longer by max_j unit_j / (unit · √ω_j), over the features that have a unit."""
    state = model([[0, 0, 0], [1, 1, 1], [2, 2, 2]], weight=[1.0, 0.25, 0.0625])
    scalars_of(state).coarse_unit = 2.0
    state.coarse_scale[:] = [2.0, 3.0, 0.0]
    compiled(update_stretch)(state)
    # 2 / (2 · 1) = 1 and 3 / (2 · ½) = 3.
    assert scalars_of(state).coarse_stretch == 3.0


def test_weights_are_renewed_at_every_recalibration_and_only_there():
    X = np.random.default_rng(0).normal(size=(200, 3)) * [1, 5, 25]
    state = new_state(3, CAPPED)
    n_changes = 0
    for i in range(len(X)):
        before = state.weight.copy()
        state = learn(state, X[i : i + 1], CAPPED)
        changed = not np.array_equal(before, state.weight)
        n_changes += changed
        if changed:
            assert scalars_of(state).since_recalibration == 0
    assert n_changes > 5
    assert (state.weight <= 1).all()
    assert state.weight[2] < 0.2


def test_equal_variances_are_the_published_metric():
    X = np.random.default_rng(1).normal(size=(150, 1))
    capped, published = learn(new_state(1, CAPPED), X, CAPPED), learn(new_state(1), X)
    for name in set(State._fields) - {"direction", "projection", "foretold"}:
        assert np.array_equal(getattr(capped, name), getattr(published, name))
