"""Finer nodes where clusters are many: by hand, and on samples whose clusters are known."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from everclust.core import probes, resolution
from everclust.core.handovers import handovers
from everclust.core.invariants import check
from everclust.core.layout import N_PROBES, NO_EXPONENT
from everclust.core.learn import learn
from everclust.core.serialise import PROBE_ARRAYS, examine, export, restore
from everclust.core.state import new_state, scalars_of
from everclust.core.variants import PUBLISHED, REFINED
from support.jit_mode import PLAIN

N_ROWS = 330 if PLAIN else 4_000


def plane(n_clusters, n_rows=N_ROWS, seed=0):
    """Round clusters on a grid in the plane, 12 standard deviations apart, in random order."""
    rng = np.random.default_rng(seed)
    side = math.ceil(math.sqrt(n_clusters))
    centre = 12.0 * np.stack(np.divmod(np.arange(n_clusters), side), axis=1)
    return centre[rng.integers(n_clusters, size=n_rows)] + rng.normal(size=(n_rows, 2))


def factor_of(X):
    state = learn(new_state(X.shape[1], REFINED), np.ascontiguousarray(X), REFINED)
    check(state)
    return float(scalars_of(state).radius_factor)


@pytest.fixture
def state():
    return new_state(1, REFINED)


def test_the_paper_has_no_probes():
    assert new_state(3).probe.shape == (3, 0)
    assert new_state(3, REFINED).probe.shape == (3, N_PROBES)
    X = plane(50)
    assert scalars_of(learn(new_state(2), X, PUBLISHED)).radius_factor == 1.0


def test_classes_one_after_the_other_are_not_many_clusters():
    X = plane(49)
    order = np.lexsort(np.round(X.T / 12))
    assert factor_of(X) < 0.5
    assert factor_of(X[order]) == 1.0


def with_growth(state, growth, first, dimension):
    """Counts that grow by these factors from bin to bin, from a share of all on."""
    within = first * np.cumprod([1.0, *growth])
    state.distance_count[10 : 10 + len(within)] = np.diff(within, prepend=0.0)
    scalars = scalars_of(state)
    scalars.n_ratios, scalars.log_ratios, scalars.n_compared = dimension, 1.0, 1_000
    scalars.first_exponent = probes.BINS_BELOW // 2  # bin 0 begins at 1/2
    return float(within[-1])


def test_a_cluster_ends_where_growth_is_least(state, compiled):
    # 100 within; twice as many at every step, except at two where hardly any come: 100·2·2 = 400 by then.
    total = with_growth(state, [2.0, 2.0, 1.05, 1.05, 2.0, 2.0, 2.0, 2.0], 100.0, 4.0)
    k, end = compiled(resolution.n_clusters)(state, total)
    assert k == pytest.approx(total / (400 * 1.05))
    assert state.distance_count[:end].sum() == pytest.approx(400)


@pytest.mark.parametrize(
    ("growth", "dimension"),
    [
        ([2.0] * 8, 2.0),  # no least growth
        ([2.0, 1.8, 1.6, 1.4, 1.2, 1.1, 1.0, 1.0], 2.0),  # one cloud: it ends, and nothing comes after it
        ([2.0, 2.0, 1.4, 1.4, 2.0, 2.0, 2.0, 2.0], 2.0),  # a curve: half as dense farther out
        ([2.0, 2.0, 1.5, 1.5, 1.6, 1.6, 1.6, 1.6], 9.0),  # hardly more growth farther out
    ],
)
def test_one_cluster(growth, dimension, state, compiled):
    total = with_growth(state, growth, 100.0, dimension)
    assert compiled(resolution.n_clusters)(state, total)[0] == 1.0


@pytest.mark.parametrize(("beyond", "is_end"), [(1.38, False), (1.42, True)])
def test_farther_out_one_more_dimension_is_filled(beyond, is_end, state, compiled):
    """Growth per bin: 1 within two bins is no dimension, √2 within two bins is one."""
    state.probe_distance[probes.NEAREST] = 1.0
    total = with_growth(state, [2.0, 2.0, 1.0, 1.0, *[math.sqrt(beyond)] * 12], 100.0, 4.0)
    assert (compiled(resolution.n_clusters)(state, total)[0] > 1.0) == is_end


@pytest.mark.parametrize(
    ("n_within", "n", "are"), [(1e3, 26, True), (1e3, 25, False), (2.0, 23, True), (2.0, 22, False)]
)
def test_where_clusters_end_most_probes_have_a_sample_within(n_within, n, are, state, compiled):
    """0.8 of 32 are 25.6; with two samples on average, e⁻² of the probes have none."""
    end, scalars = 40, scalars_of(state)
    scalars.first_exponent = 3
    state.probe_distance[probes.NEAREST] = compiled(probes.lower_edge)(end) * 2.0**3
    state.probe_distance[probes.NEAREST, :n] *= 0.99
    assert compiled(resolution.are_within)(state, end, n_within) == are


@pytest.mark.parametrize(("n_repeated", "is_end"), [(0, True), (16, True), (17, False), (N_PROBES, False)])
def test_where_rows_repeat_the_end_must_be_clearer(n_repeated, is_end, state, compiled):
    """Three times the dimension farther out: as much as is wanted if half of the rows repeat."""
    state.probe_distance[probes.NEAREST] = np.where(np.arange(N_PROBES) < n_repeated, 0.0, 1.0)
    assert compiled(probes.share_of_repeated)(state) == n_repeated / N_PROBES
    total = with_growth(state, [2.0, 2.0, 1.25, 1.25, *[1.25**3.01] * 6], 100.0, 6.0)
    assert (compiled(resolution.n_clusters)(state, total)[0] > 1.0) == is_end


def test_what_no_two_samples_in_a_cluster_show_is_not_seen(state, compiled):
    total = with_growth(state, [2.0, 2.0, 1.05, 1.05, 2.0, 2.0, 2.0, 2.0], 100.0, 4.0)
    scalars_of(state).n_compared = 1
    assert compiled(resolution.n_clusters)(state, total)[0] == 1.0


GROWTH = (2.0, 2.0, 1.05, 1.05, 2.0, 2.0, 1.0, 1.0)


def decided(state, compiled, n_rounds=1, interval=3, first_exponent=7, growth=GROWTH):
    """The end of clusters after `decide`, with 4.2 times as many samples in all as in a cluster's end."""
    with_growth(state, growth, 100.0, 4.0)
    scalars = scalars_of(state)
    scalars.n_rounds, scalars.interval, scalars.first_exponent = n_rounds, interval, first_exponent
    compiled(resolution.decide)(state)
    return float(scalars.cluster_end)


def test_clusters_end_at_a_distance(state, compiled):
    # Bins 10 to 12 have the 400; bin 13 begins where the square is 3/4 of a power of two.
    squared = 0.75 * 2.0 ** (7 + (13 - probes.BINS_BELOW) // 2)
    assert decided(state, compiled) == pytest.approx(math.sqrt(squared))
    assert scalars_of(state).radius_factor < 1


def test_the_first_round_does_not_say_where_they_end(state, compiled):
    assert decided(state, compiled, n_rounds=0) == 0.0
    assert scalars_of(state).radius_factor < 1


def test_few_clusters_end_but_nodes_reach_as_far_as_before(state, compiled):
    end = decided(state, compiled)
    scalars = scalars_of(state)
    assert scalars.cluster_radius > 0
    assert decided(state, compiled, interval=100) == end
    assert scalars.n_clusters == pytest.approx(4.2)
    assert (scalars.radius_factor, scalars.cluster_radius) == (1.0, 0.0)


def test_one_cluster_does_not_end(state, compiled):
    assert decided(state, compiled, growth=[2.0] * 8) == 0.0
    assert scalars_of(state).n_clusters == 0.0


def test_what_is_forgotten_has_no_end(state, compiled):
    assert decided(state, compiled) > 0.0
    compiled(resolution.forget)(state)
    assert scalars_of(state).cluster_end == scalars_of(state).n_clusters == 0.0


@pytest.mark.parametrize(
    ("end", "left"),
    [
        (0.0, (9, 6)),  # no end is known
        (1.0, (1, 1)),  # the new node is 2 away: both others are beyond it
        (7.0, (9, 1)),  # and only one is beyond the end of the cluster
        (15.0, (9, 6)),
    ],
)
def test_a_new_node_outdates_what_was_handed_over_to_other_clusters(end, left, model):
    state = model([[0.0], [5.0], [-10.0]], usage=[5, 5, 5], handover=[(0, 1, 9), (0, 2, 6)], n_seen=30)
    scalars = scalars_of(state)
    scalars.cluster_end, scalars.vigilance, scalars.interval = end, 1.0, 100
    state = learn(state, np.array([[-2.0]]), REFINED)
    assert handovers(state).tolist() == [[0, 1, left[0]], [0, 2, left[1]], [0, 3, 1]]


def test_probes_that_met_only_themselves_decide_nothing(state, compiled):
    scalars_of(state).radius_factor = 0.5
    compiled(resolution.decide)(state)
    assert scalars_of(state).radius_factor == 0.5


def test_old_counts_fade(state, compiled):
    scalars = scalars_of(state)
    state.distance_count[3], scalars.n_ratios, scalars.log_ratios = 8.0, 16.0, 4.0
    scalars.n_probes, scalars.n_compared = N_PROBES, 128
    compiled(resolution.start_again)(state)
    assert (state.distance_count[3], scalars.n_ratios, scalars.log_ratios) == (7.0, 14.0, 3.5)
    assert (scalars.n_probes, scalars.n_compared, scalars.n_rounds, scalars.n_resting) == (0, 0, 1, 0)


def test_rests_grow_to_seven_times_the_comparison(state, compiled):
    rests = []
    for _ in range(10):
        scalars_of(state).n_compared = 128
        compiled(resolution.start_again)(state)
        rests.append(scalars_of(state).n_resting / 128)
    assert rests == [0, 1, 2, 3, 4, 5, 6, 7, 7, 7]


def test_samples_pass_while_probes_rest(state, compiled):
    scalars_of(state).n_resting = 2
    for _ in range(3):
        compiled(resolution.observe)(state, np.array([1.0]))
    assert (scalars_of(state).n_resting, scalars_of(state).n_probes) == (0, 1)


def test_no_node_reaches_beyond_its_cluster(compiled):
    """With a scale of 2, V = 0.4 is a radius of 3."""
    within = compiled(resolution.within_clusters)
    state = new_state(2, REFINED).scalars
    assert within(0.4, 0.5, state[0]) == 0.4  # clusters are few
    state["cluster_radius"] = 1.0
    assert within(0.4, 0.5, state[0]) == pytest.approx(1 / 1.5)
    assert within(0.7, 0.5, state[0]) == 0.7


def test_the_least_radius_is_a_part_of_the_reach_of_clusters(compiled):
    """Of the samples that near, ln 2 / 5 of 0.95 are within the radius."""
    scalars = new_state(2, REFINED).scalars
    scalars["n_ratios"], scalars["log_ratios"] = 4.0, 2.0
    share = math.log(2) / (5 * 0.95)
    assert compiled(resolution.least_part_of_reach)(scalars[0]) == pytest.approx(share)  # two dimensions
    scalars["log_ratios"] = 4.0
    assert compiled(resolution.least_part_of_reach)(scalars[0]) == pytest.approx(share**2)  # one


def test_narrow_clusters_do_not_make_the_radius_too_small_for_wide_ones(state, compiled):
    """One in five samples of a cluster is nearly at the probe: as near as one of five samples."""
    growth = [1.0] * 8 + [2.0, 2.0, 1.25, 1.05, 1.05, 2.0, 2.0, 1.0, 1.0]
    with_growth(state, growth, 100.0, 4.0)
    scalars, counts = scalars_of(state), state.distance_count
    scalars.n_rounds, scalars.interval, scalars.first_exponent = 1, 3, 34
    state.probe_distance[probes.NEAREST, 8:] = compiled(probes.lower_edge)(19) * 2.0**34  # other probes
    compiled(resolution.decide)(state)
    k, total = scalars.n_clusters, counts.sum()
    assert k == pytest.approx(4.2)
    near, far, wide = (
        compiled(probes.squared_distance_within)(counts, part * total)
        for part in (math.log(2) / (5 * k), math.log(2) / scalars.interval, 0.95 / k)
    )
    least = compiled(resolution.least_part_of_reach)(scalars) * wide / 2
    assert 5 * near < least < far
    assert scalars.radius_factor == pytest.approx(math.sqrt(least / far))


@pytest.mark.skipif(PLAIN, reason="takes minutes without the compiler")
@pytest.mark.parametrize("n_features", [4, 8])
def test_wide_clusters_among_narrow_ones_are_known(n_features):
    """Twenty are ten times as wide as the other twenty: their samples do not stay new for ever."""
    rng = np.random.default_rng(0)
    X, y = make_blobs(20_000, n_features, centers=40, cluster_std=0.0, center_box=(-100, 100), random_state=0)
    X += rng.normal(size=X.shape) * np.where(y % 2, 1.0, 0.1)[:, None]
    state = learn(new_state(n_features, REFINED), X, REFINED)
    assert state.node["wins"][state.node["usage"] > 1].sum() > 0.8 * len(X)  # before, half


@pytest.mark.skipif(PLAIN, reason="takes minutes without the compiler")
def test_the_width_of_clusters():
    """Half of 0.95 of the pairs of a normal distribution: the radius that has most of its samples."""
    X, y = make_blobs(20_000, centers=50, n_features=10, center_box=(-10, 10), random_state=0)
    scalars = scalars_of(learn(new_state(10, REFINED), X, REFINED))
    away = np.linalg.norm(X - np.array([X[y == c].mean(axis=0) for c in range(50)])[y], axis=1)
    assert scalars.cluster_end / 2 < scalars.cluster_radius < scalars.cluster_end
    assert 0.9 < (away < scalars.cluster_radius).mean() < 0.99


def test_a_finer_radius(compiled):
    finer = compiled(resolution.finer)
    assert finer(0.3, 1.0) == 0.3
    assert finer(0.5, 0.5) == pytest.approx(1 / 1.5)  # 1/V − 1 = 1 becomes 1/2
    assert finer(0.0, 0.5) == 0.0


def test_many_clusters_make_the_radius_smaller():
    assert factor_of(plane(49)) < 0.5


def test_few_clusters_do_not():
    assert factor_of(plane(1)) == 1.0
    assert factor_of(plane(2)) == 1.0


def test_neither_does_a_curve_or_noise():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0.0, 2 * np.pi, N_ROWS)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) + rng.normal(0.0, 0.05, (N_ROWS, 2))
    assert factor_of(ring) == 1.0
    assert factor_of(rng.uniform(size=(N_ROWS, 3))) == 1.0


def test_rows_that_repeat_say_nothing():
    X = np.tile([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], (200, 1))
    assert factor_of(X) == 1.0
    assert factor_of(np.zeros((300, 2))) == 1.0


def test_the_unit_does_not_matter():
    X = plane(49)
    factor = factor_of(X)
    assert factor_of(X * 2.0**100) == factor
    assert factor_of(X * 2.0**-8) == factor


def test_a_restored_state_goes_on_to_the_bit():
    X = plane(49)
    whole = learn(new_state(2, REFINED), X, REFINED)
    half = learn(new_state(2, REFINED), X[: N_ROWS // 2 + 7], REFINED)
    half = learn(restore(*export(half)), X[N_ROWS // 2 + 7 :], REFINED)
    check(half)
    for one, other in zip(export(whole), export(half), strict=True):
        assert one.keys() == other.keys()
        for name in one:
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_parts_from_outside_are_examined():
    scalars, arrays = export(learn(new_state(2, REFINED), plane(4, 40), REFINED))
    again = export(examine(scalars, arrays))[1]
    for name in PROBE_ARRAYS:
        np.testing.assert_array_equal(again[name], arrays[name])
        with pytest.raises(ValueError, match=f"wrong shape or dtype of array '{name}'"):
            examine(scalars, arrays | {name: arrays[name][:-1]})
        with pytest.raises(ValueError, match=f"wrong shape or dtype of array '{name}'"):
            examine(scalars, arrays | {name: arrays[name].astype(int)})
    with pytest.raises(ValueError, match="as there is room for"):
        examine(scalars | {"n_probes": 99}, arrays)


def test_exponents_begin_unknown(state):
    assert scalars_of(state).first_exponent == NO_EXPONENT
