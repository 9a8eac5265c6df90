"""Whether features are uncorrelated: the sums along directions, and what follows for the metric."""

import numpy as np
import pytest

from everclust.core.correlation import are_uncorrelated, project, standardise
from everclust.core.growth import grow
from everclust.core.learn import learn
from everclust.core.metric import cap
from everclust.core.serialise import export, restore
from everclust.core.state import new_state, scalars_of
from everclust.core.variants import CAPPED, PUBLISHED, REFINED
from support.jit_mode import PLAIN


@pytest.fixture
def capped(model):
    """Nodes in two features, with directions."""

    def build(prototype, **fields):
        scalars, arrays = export(model(prototype, **fields))
        n_features = len(arrays["mean"])
        return restore(
            scalars, arrays | {"direction": np.zeros((n_features, 8)), "projection": np.zeros((2, 8))}
        )

    return build


def test_only_the_capped_metric_has_directions():
    assert new_state(3, CAPPED).direction.shape == (3, 8)
    assert new_state(3, REFINED).direction.shape == new_state(3, PUBLISHED).direction.shape == (3, 0)


def test_a_sample_adds_its_squares_along_every_direction(capped, compiled):
    state = capped([[0, 0]], mean=[1, 2], n_seen=3)
    state.direction[:, 0] = [1, 0.5]
    state.direction[:, 1] = [1, -0.5]
    state.direction[:, 2] = [0, 0.5]
    compiled(project)(state, np.array([3.0, 6.0]))
    # z = (2, 2), (2, −2) and (0, 2): squares 8, 8 and 4, sums 4, 0 and 2; times 3/4, as in Welford's sums.
    assert state.projection[0, :4].tolist() == [6, -6, 0, 0]
    assert state.projection[1, :4].tolist() == [6, 6, 3, 0]
    compiled(project)(state, np.array([1.0, 2.0]))  # the mean itself
    assert state.projection[1, :4].tolist() == [6, 6, 3, 0]


def test_an_outlier_counts_for_three_deviations(capped, compiled):
    state = capped([[0, 0]], n_seen=1)
    state.direction[:] = 1.0
    compiled(project)(state, np.array([1e6, -1.0]))
    # z = (3, −1): the sum is 2 and the squares are 10; times 1/2.
    assert state.projection[:, 0].tolist() == [-3, 5]


def test_directions_point_at_nodes(capped, compiled):
    """Eight of sixteen nodes, on either side of the mean, in standard deviations of √(36/9) = 2 and 1."""
    nodes = [[k, 16 - k, 5] for k in range(16)]
    state = capped(nodes, mean=[7, 4, 5], square_sum=[36, 9, 0], n_seen=10)
    compiled(standardise)(state)
    half = 0.5
    assert state.direction[0].tolist() == [-half] * 4 + [half] * 4  # nodes 0, 2, 4, 6; 8 …
    assert state.direction[1].tolist() == [1] * 6 + [0, -1]  # the seventh is at the mean: 16 − 12
    assert state.direction[2].tolist() == [0] * 8  # a feature that does not vary has no sign


def test_signs_stay_when_deviations_change(capped, compiled):
    state = capped([[k, k] for k in range(8)], mean=[3.5, 100], square_sum=[36, 81], n_seen=10)
    state.direction[0] = [0.5, -0.5] * 4
    compiled(standardise)(state)
    state.square_sum[:] = [144, 9]
    compiled(standardise)(state)
    assert state.direction[0].tolist() == [0.25, -0.25] * 4
    assert state.direction[1].tolist() == [-1] * 8  # which had no sign before


def test_seven_nodes_give_no_direction(capped, compiled):
    state = capped([[k, k] for k in range(7)], square_sum=[36, 81], n_seen=10)
    compiled(standardise)(state)
    assert not state.direction.any()


@pytest.mark.parametrize(
    ("n_seen", "excess", "expected"),
    [
        (256, [1.0] * 8, True),  # a tenth of 10
        (255, [1.0] * 8, False),
        (256, [-1.0] * 8, True),
        (256, [1.01] * 8, False),
        (256, [2.0, 2.0, 0, 0, 0, 0, 0, 0], True),  # the mean square is 2 · 0.04 / 8
        (256, [2.0, 2.0, -0.1, 0, 0, 0, 0, 0], False),
    ],
)
def test_uncorrelated_is_an_excess_of_at_most_a_tenth(n_seen, excess, expected, capped, compiled):
    state = capped([[0, 0]], n_seen=n_seen)
    state.projection[:] = [excess, [10.0] * 8]
    assert compiled(are_uncorrelated)(state) == expected
    state.projection[1, 5] = 0.0
    assert not compiled(are_uncorrelated)(state)


@pytest.mark.parametrize(
    ("square_sum", "most"),
    [
        ([64, 4, 4, 4, 4], 4),  # one wide feature: no more than the second largest
        ([64, 12, 4, 4, 4], 12),
        ([64, 64, 4, 4, 4], 16),  # four medians
        ([64, 4, 1], 4),  # the second of three is the median
        ([64, 4], 34),  # that of two is less: their mean
        ([64, 16, 4, 2, 0], 16),  # the median of those that vary is 10
        ([5], 5),
    ],
)
def test_the_cap_where_features_are_uncorrelated(square_sum, most, capped, compiled):
    n = len(square_sum)
    state = capped([[0] * n], square_sum=square_sum, n_seen=300)
    state.projection[1] = 10.0
    compiled(cap)(state)
    expected = [most / v if v > most else 1 for v in square_sum]
    assert state.weight.tolist() == expected


def stream(n, correlated):
    """Features of which one in four is wide; two of them depend on each other if they are to."""
    X = np.random.default_rng(5).normal(size=(n, 8)) * [5, 4, 1, 1, 1, 1, 1, 1]
    if correlated:
        X[:, 2] += 2 * X[:, 3]
    return X


@pytest.mark.skipif(PLAIN, reason="takes long")
def test_wide_features_weigh_more_if_nothing_is_correlated():
    free, bound = (learn(new_state(8, CAPPED), stream(2000, c), CAPPED).weight for c in (False, True))
    np.testing.assert_allclose(free[:2], [4 / 25, 4 / 16], rtol=0.2)
    np.testing.assert_allclose(bound[:2], [1 / 25, 1 / 16], rtol=0.2)


@pytest.mark.parametrize("n", [60 if PLAIN else 600])
@pytest.mark.parametrize("correlated", [False, True])
def test_features_may_come_in_any_order(n, correlated):
    X, order = stream(n, correlated), np.array([3, 7, 0, 5, 1, 6, 2, 4])
    one, other = (learn(new_state(8, CAPPED), rows.copy(), CAPPED) for rows in (X, X[:, order]))
    np.testing.assert_allclose(other.projection, one.projection, rtol=1e-9)
    np.testing.assert_allclose(other.weight, one.weight[order], rtol=1e-12)
    np.testing.assert_array_equal(other.direction > 0, one.direction[order] > 0)


@pytest.mark.parametrize("n", [60 if PLAIN else 600])
def test_scaled_and_reflected_features_have_the_same_sums(n):
    X = stream(n, False)
    one = learn(new_state(8, CAPPED), X, CAPPED)
    other = learn(new_state(8, CAPPED), X * np.array([-4.0, *[4.0] * 7]), CAPPED)
    assert one.projection.tobytes() == other.projection.tobytes()
    assert one.weight.tobytes() == other.weight.tobytes()


def test_directions_grow_and_are_saved():
    X = stream(80, False)
    state = learn(new_state(8, CAPPED), X[:50].copy(), CAPPED)
    assert state.direction.any()
    states = [grow(state), restore(*export(state)), state]
    for i, continued in enumerate(states):
        states[i] = learn(continued, X[50:].copy(), CAPPED)
    for name in ("direction", "projection"):
        assert len({getattr(one, name).tobytes() for one in states}) == 1


def test_a_model_of_an_older_file_stays_at_the_median():
    scalars, arrays = export(learn(new_state(8, CAPPED), stream(50, False), CAPPED))
    del arrays["direction"], arrays["projection"]
    state = learn(restore(scalars, arrays), stream(10 if PLAIN else 600, False), CAPPED)
    assert state.direction.shape == (8, 0)
    assert scalars_of(state).n_seen > 50
    assert (state.weight * state.square_sum).max() < 1.5 * np.median(state.square_sum)
