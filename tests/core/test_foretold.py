"""Whether others foretell a feature: nodes, halves of the features, and what follows."""

import numpy as np
import pytest

from everclust.core.foretold import (
    compare_halves,
    decide,
    halve,
    nearest_by_halves,
    renew_foretold,
    standardise_nodes,
)
from everclust.core.serialise import export, restore
from everclust.core.state import scalars_of


@pytest.fixture
def capped(model):
    """Nodes that were used twice, on the side of the mean where direction 0 is if their sign is positive."""

    def build(prototype, **fields):
        fields = {"usage": [2] * len(prototype)} | fields
        scalars, arrays = export(model(prototype, **fields))
        n_features = len(arrays["mean"])
        arrays |= {"direction": np.ones((n_features, 8)), "projection": np.zeros((2, 8))}
        return restore(scalars | {"foretold_at": 0}, arrays | {"foretold": np.zeros(n_features, np.bool_)})

    return build


def test_nodes_are_where_they_are_in_standard_deviations(capped, compiled):
    """√(36/9) = 2 and √(9/9) = 1; an outlier is three away, and what does not vary tells nothing."""
    nodes = [[5, 1, 7], [1, 9, 7], [9, 9, 9], [5, 100, 7]]
    state = capped(nodes, usage=[2, 3, 1, 2], mean=[3, 1, 7], square_sum=[36, 9, 0], n_seen=10)
    z, sums = np.empty((3, 3)), np.zeros((4, 3))
    compiled(standardise_nodes)(state, z, sums)
    assert z.tolist() == [[1, 0, 0], [-1, 3, 0], [1, 3, 0]]
    np.testing.assert_allclose(sums, [[1 / 3, 2, 0], [8 / 9, 2, 0], [0, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    ("x", "one", "other", "both"),
    [
        ([1, 2, -1, 5], [3, 4, 0, 0], [0, 0, 2, 0], True),
        ([-1, -2, 1, 5], [0, 0, 2, 0], [3, 4, 0, 0], True),
        ([-1, 0, 1, -5], [0, 0, 2, 0], [3, 4, 0, 0], True),
        ([1, 2, 1, -5], [3, 4, 2, 0], [0, 0, 0, 0], False),  # the last feature does not vary
        ([-1, -2, -1, 5], [0, 0, 0, 0], [3, 4, 2, 0], False),
    ],
)
def test_halves_are_the_sides_of_a_direction(x, one, other, both, capped, compiled):
    """No feature weighs more than the median, here 4."""
    state = capped([[0] * 4], square_sum=[3, 64, 2, 0])
    state.direction[:, 5] = [0.5, 0.25, 1, 0]
    half = np.empty((2, 4))
    assert compiled(halve)(state, np.array(x, float), 5, 4.0, half) == both
    assert half.tolist() == [one, other]


def test_every_half_has_a_nearest_node(compiled):
    z = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 9.0], [2.0, -1.0, 1.0], [9.0, 9.0, -1.0]])
    half = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 4.0]])
    # From node 0, by the first two features 1 + 2, 4 + 2, 81 + 162; by the third 81, 1, 1, a tie.
    assert compiled(nearest_by_halves)(z, 0, half) == (1, 2)
    # From node 3, 81 + 162, 64 + 128, 49 + 200; by the third 1, 100, 4.
    assert compiled(nearest_by_halves)(z, 3, half) == (1, 0)


def test_the_nearest_by_one_half_is_compared_in_the_other(compiled):
    z = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 9.0], [2.0, -1.0, 1.0], [9.0, 9.0, -1.0]])
    half = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 4.0]])
    sums = np.array([[3.0, 0.0, 0.0], [5.0, 0.0, 0.0], [100.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    compiled(compare_halves)(z, 0, half, sums)
    # Node 2, nearest by the third feature, is 2 and −1 away in the first two; node 1, nearest by these, 9 in
    # the third. With a mean of 3 and a variance of 5, the square to any other of four nodes is (9 + 5)·4/3.
    assert sums[2].tolist() == [104, 1, 81]
    assert sums[3].tolist() == [14 * (4 / 3), 0, 0]


@pytest.mark.parametrize(
    ("found", "foretold"),
    [
        ([5, 6, 9, 0], [True, True, False, False]),  # in all, 4·5 + 0·6 + 2·9 = 38 of 10·(4 + 0 + 2)
        ([6, 6, 9, 0], [False] * 4),  # 42 are seven tenths
        ([6, 8, 6, 0], [True, False, True, False]),
        ([9, 0, 0, 0], [False, True, True, False]),
    ],
)
def test_all_and_each_must_be_foretold(found, foretold, capped, compiled):
    """A cap of 8 instead of 4 adds 4, 0 and 2; the last feature does not vary."""
    state = capped([[0] * 4], square_sum=[64, 3, 6, 0])
    sums = np.array([[0.0] * 4, [0.0] * 4, found, [10, 10, 10, 0]])
    compiled(decide)(state, 4.0, 8.0, sums)
    assert state.foretold.tolist() == foretold


def paired(n):
    """Nodes of which two are near in the first two features; the last is noise."""
    rng = np.random.default_rng(0)
    nodes = np.repeat(rng.normal(size=(n // 2, 3)), 2, axis=0) + 1e-3 * rng.normal(size=(n, 3))
    nodes[:, 2] = rng.normal(size=n)
    return nodes


def test_a_feature_of_noise_is_not_foretold(capped, compiled):
    state = capped(paired(40), square_sum=[400, 100, 100], n_seen=101)
    state.direction[:] = np.sign(paired(8)).T
    compiled(renew_foretold)(state, 100.0, 400.0)
    assert not state.foretold[2]
    assert scalars_of(state).foretold_at == 101


@pytest.mark.parametrize(("n_seen", "before", "expected"), [(200, 100, 200), (199, 100, 100), (17, 0, 17)])
def test_nodes_are_compared_when_the_stream_has_doubled(n_seen, before, expected, capped, compiled):
    state = capped(paired(8), square_sum=[4, 1, 1], n_seen=n_seen)
    scalars_of(state).foretold_at = before
    compiled(renew_foretold)(state, 1.0, 4.0)
    assert scalars_of(state).foretold_at == expected


def test_seven_nodes_are_too_few(capped, compiled):
    state = capped(paired(8), usage=[2] * 7 + [1], square_sum=[4, 1, 1], n_seen=100)
    compiled(renew_foretold)(state, 1.0, 4.0)
    assert scalars_of(state).foretold_at == 0


def test_of_many_nodes_some_are_compared_with_all(capped, compiled):
    """Three features that say the same, and 300 nodes."""
    nodes = np.random.default_rng(0).normal(size=(300, 1)) * [3.0, 1.0, -1.0]
    state = capped(nodes, square_sum=[2691, 299, 299], n_seen=600)
    state.direction[2] = 1.0
    compiled(renew_foretold)(state, 299.0, 1196.0)
    assert state.foretold.tolist() == [True, True, True]


def test_reflected_features_are_foretold_as_before(capped, compiled):
    results = []
    for sign in (1.0, -1.0):
        nodes = np.random.default_rng(1).normal(size=(30, 4)) * [3.0, 1.0, 1.0, 1.0]
        nodes[:, 3] = nodes[:, 1] + 0.1 * nodes[:, 3]
        nodes[:, 1] *= sign
        state = capped(nodes, square_sum=[270, 30, 30, 30], n_seen=60)
        state.direction[:] = np.sign(np.random.default_rng(2).normal(size=(4, 8)))
        state.direction[1] *= sign
        compiled(renew_foretold)(state, 30.0, 120.0)
        results.append(state.foretold.tolist())
    assert results[0] == results[1]
