"""Whether features are uncorrelated: the sums along directions, and what follows for the metric."""

import numpy as np
import pytest

from everclust.core.correlation import are_uncorrelated, project, project_newest, standardise
from everclust.core.growth import grow
from everclust.core.learn import learn
from everclust.core.metric import cap
from everclust.core.serialise import DIRECTION_ARRAYS, export, restore
from everclust.core.state import copy, new_state, scalars_of
from everclust.core.variants import CAPPED, PUBLISHED, REFINED
from support.jit_mode import PLAIN
from support.streams import foretelling


@pytest.fixture
def capped(model):
    """Nodes in two features, with directions."""

    def build(prototype, **fields):
        scalars, arrays = export(model(prototype, **fields))
        n_features = len(arrays["mean"])
        arrays |= {"direction": np.zeros((n_features, 8)), "projection": np.zeros((2, 8))}
        return restore(scalars | {"foretold_at": 0}, arrays | {"foretold": np.zeros(n_features, np.bool_)})

    return build


def test_only_the_capped_metric_has_directions():
    assert new_state(3, CAPPED).direction.shape == (3, 8)
    assert new_state(3, CAPPED).foretold.tolist() == [False] * 3
    for variant in REFINED, PUBLISHED:
        state = new_state(3, variant)
        assert (state.direction.size, state.projection.size, state.foretold.size) == (0, 0, 0)


def test_a_sample_adds_its_squares_along_every_direction(capped, compiled):
    state = capped([[0, 0]], mean=[1, 2], n_seen=3)
    state.direction[:, 0] = [1, 0.5]
    state.direction[:, 1] = [1, -0.5]
    state.direction[:, 2] = [0, 0.5]
    compiled(project)(state, np.array([3.0, 6.0]), 1.0)
    # z = (2, 2), (2, −2) and (0, 2): squares 8, 8 and 4, sums 4, 0 and 2.
    assert state.projection[0, :4].tolist() == [8, -8, 0, 0]
    assert state.projection[1, :4].tolist() == [8, 8, 4, 0]
    compiled(project)(state, np.array([1.0, 2.0]), 1.0)  # the mean itself
    assert state.projection[1, :4].tolist() == [8, 8, 4, 0]
    compiled(project)(state, np.array([3.0, 6.0]), 8.0)
    assert state.projection[1, :4].tolist() == [72, 72, 36, 0]


def test_an_outlier_counts_for_three_deviations(capped, compiled):
    state = capped([[0, 0]], n_seen=1)
    state.direction[:] = 1.0
    compiled(project)(state, np.array([1e6, -1.0]), 1.0)
    # z = (3, −1): the sum is 2 and the squares are 10.
    assert state.projection[:, 0].tolist() == [-6, 10]


@pytest.mark.parametrize(
    ("n_seen", "since", "expected"),
    [
        (5, 3, 1 + 4 + 9),
        (5, 2, 4 + 9),
        (1024, 3, 1 + 4 + 9),
        (1026, 3, 1),  # the samples 1025 and 1026 do not count
        (1033, 3, 8 * 4),  # of 1031, 1032 and 1033, the second counts eight times
        (1033, 1, 0),
    ],
)
def test_late_samples_count_one_in_eight(n_seen, since, expected, capped, compiled):
    state = capped([[0]], window=[[1], [2], [3]], n_seen=n_seen, since_recalibration=since, interval=2)
    state.direction[:] = 1.0
    compiled(project_newest)(state)
    assert state.projection[1].tolist() == [expected] * 8


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
    median = np.median([v for v in square_sum if v > 0])
    compiled(cap)(state)  # others foretell no feature
    assert state.weight.tolist() == [median / v if v > median else 1 for v in square_sum]
    state.foretold[:] = True
    compiled(cap)(state)
    assert state.weight.tolist() == [most / v if v > most else 1 for v in square_sum]
    state.foretold[0] = False
    compiled(cap)(state)
    assert state.weight[0] == min(1, median / square_sum[0])
    state.projection[0] = 10.0
    compiled(cap)(state)
    assert state.weight.tolist() == [median / v if v > median else 1 for v in square_sum]


def stream(n, correlated):
    """Features of which one in four is wide; two of them depend on each other if they are to."""
    X = np.random.default_rng(5).normal(size=(n, 8)) * [5, 4, 1, 1, 1, 1, 1, 1]
    if correlated:
        X[:, 2] += 2 * X[:, 3]
    return X


@pytest.mark.skipif(PLAIN, reason="takes long")
def test_wide_features_weigh_more_if_others_foretell_them():
    X = foretelling(np.random.default_rng(0), 2000, n_noise=1)
    free, bound = (learn(new_state(7, CAPPED), rows, CAPPED) for rows in (X, X + X[:, [3] * 7]))
    median = np.median(X.var(axis=0))
    np.testing.assert_allclose(free.weight[:2] * X.var(axis=0)[:2], 4 * median, rtol=0.1)
    np.testing.assert_allclose(free.weight[6] * X.var(axis=0)[6], median, rtol=0.1)
    np.testing.assert_allclose(bound.weight * bound.square_sum, np.median(bound.square_sum), rtol=0.5)


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
    state.foretold[3], scalars_of(state).foretold_at = True, 40
    states = [grow(copy(state)), restore(*export(state)), state]
    for i, continued in enumerate(states):
        states[i] = learn(continued, X[50:].copy(), CAPPED)
    assert {scalars_of(one).foretold_at for one in states} == {40}
    for name in DIRECTION_ARRAYS:
        assert len({getattr(one, name).tobytes() for one in states}) == 1


def test_a_model_of_an_older_file_stays_at_the_median():
    scalars, arrays = export(learn(new_state(8, CAPPED), stream(50, False), CAPPED))
    for name in DIRECTION_ARRAYS:
        del arrays[name]
    state = learn(restore(scalars, arrays), stream(10 if PLAIN else 600, False), CAPPED)
    assert state.direction.shape == (8, 0)
    assert scalars_of(state).n_seen > 50
    assert (state.weight * state.square_sum).max() < 1.5 * np.median(state.square_sum)
