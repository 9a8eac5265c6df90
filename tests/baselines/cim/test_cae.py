"""CAE: the specification's numbers, an oracle in lock-step, invariants, contracts, published counts."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import CAE
from everclust.baselines.cim import cae_loop, cae_state
from everclust.baselines.graph import graph as graphs
from everclust.baselines.parameters import space
from everclust.jit.compile import kernel
from oracles.baselines.cae import Oracle, age_limit
from support.contracts.cim import (
    BAD,
    BLURRED,
    SAFE_MARGIN,
    TEXTURES,
    X,
    ages,
    compare,
    compare_predictions,
    contents,
    forgets_and_numbers_without_gaps,
    knows_the_nearest_nodes,
    refuses,
    same_number,
)
from support.slow import others_slow

SOON = {"det_threshold": 1e3}  # ready with few nodes


@pytest.mark.slow
@parametrize_with_checks([CAE()])
def test_estimator_check(estimator, check):
    check(estimator)


# Against the specification


@pytest.mark.parametrize(
    ("ages", "n_cut", "cut_age", "limit"),
    [
        ([1, 2, 2, 5, 9], 0, 0.0, 13.0),  # median 2, q1 = 1, q3 = 7, ω = 13
        ([9, 2, 5, 1, 2], 5, 4.0, 8.5),  # ρ = 1/2
        ([1, 1, 1, 7], 3, 1.0, math.inf),  # nothing is below the median
        ([1, 7, 7], 3, 1.0, math.inf),  # nothing is above it
        ([3], 3, 1.0, math.inf),
        ([], 3, 1.0, math.inf),
        ([1, 8], 0, 0.0, 15.0),  # median 4.5, ω = 8 + 7
    ],
)
def test_age_limit(ages, n_cut, cut_age, limit, compiled):
    ages = np.array(ages, np.int64)
    assert compiled(cae_loop.age_limit)(ages, n_cut, cut_age, np.empty(9)) == limit


@given(ages=st.lists(st.integers(1, 9), max_size=8), n_cut=st.integers(0, 9), cut_age=st.floats(1, 9))
def test_age_limit_equals_the_specification(ages, n_cut, cut_age, compiled):
    found = compiled(cae_loop.age_limit)(np.array(ages, np.int64), n_cut, cut_age, np.empty(9))
    assert found == pytest.approx(age_limit(ages, n_cut, cut_age), rel=1e-14)


@kernel
def cut(state, ages):
    """Cut the edges of a node that has these."""
    graphs.add_node(state.graph)
    for age in ages:
        graphs.set_age(state.graph, 0, graphs.add_node(state.graph), age)
    cae_loop.cut_edges(state, 0, cae_state.new_scratch(state))


@pytest.mark.parametrize(
    ("n_cut", "cut_age", "left", "n_cut_after", "cut_age_after"),
    [
        (0, 0.0, [1, 2, 2, 5, 9], 0, 0.0),
        (5, 4.0, [1, 2, 2, 5], 6, 29 / 6),
        (100, 2.0, [1, 2, 2], 102, 214 / 102),  # the limit is (2·100 + 13·5)/105 = 2.5
    ],
)
def test_cut_edges(n_cut, cut_age, left, n_cut_after, cut_age_after):
    state = cae_state.new_state(X[:10], None)
    state.scalars["n_cut"], state.scalars["cut_age"] = n_cut, cut_age
    cut(state, np.array([1, 2, 2, 5, 9]))
    assert graphs.edges(state.graph)[1].tolist() == left
    assert state.scalars["n_cut"][0] == n_cut_after
    assert state.scalars["cut_age"][0] == pytest.approx(cut_age_after, rel=1e-15)


@given(
    texture=st.sampled_from(TEXTURES),
    seed=st.integers(0, 2**32),
    n=st.integers(1, 90),
    d=st.integers(1, 5),
    det_threshold=st.sampled_from([1e-6, 1.0, 1e3, 1e8]),
    task_size=st.sampled_from([None, None, 1, 4, 25]),
    max_nodes=st.sampled_from([None, None, 5, 20]),
    cut=st.none() | st.integers(1, 89),
)
def test_lock_step(texture, seed, n, d, det_threshold, task_size, max_nodes, cut):
    """After every sample; `cut` is where a second call begins to count anew."""
    rows = texture(np.random.default_rng(seed), n, d)
    settings = {"max_nodes": max_nodes, "det_threshold": det_threshold}
    for oracle in lockstep(CAE(task_size=task_size, **settings), rows, cut, n_active=task_size, **settings):
        assume(oracle.margin >= SAFE_MARGIN)


@pytest.mark.parametrize("det_threshold", others_slow([1e-6, 1e3], now=[1e-6]))
def test_lock_step_on_real_data(det_threshold):
    n_lost, n_before = 0, 0
    for oracle in lockstep(CAE(det_threshold=det_threshold), BLURRED[:320], det_threshold=det_threshold):
        n_lost += len(oracle.w) < n_before
        n_before = len(oracle.w)
    assert oracle.margin >= SAFE_MARGIN
    assert oracle.ready
    assert n_lost > 0


@pytest.mark.slow
def test_lock_step_in_a_cloud():
    """Nodes have enough edges for some of them to be cut."""
    *_, oracle = lockstep(CAE(**SOON), np.random.default_rng(0).normal(size=(600, 5)), **SOON)
    assert oracle.margin >= SAFE_MARGIN
    assert oracle.n_cut > 5


def lockstep(model, rows, cut=None, **settings):
    """Learn with both; before the tenth sample the model answers as if the stream ended there."""
    for i, row in enumerate(rows):
        if i < model.n_init:
            oracle = Oracle(rows[: i + 1], **settings)
            for waiting in rows[:i]:
                oracle.learn(waiting)
        elif i == cut:
            model.cycle = "call"
            oracle.new_call()
        oracle.learn(row)
        yield oracle  # the caller may find it too close a call
        model.partial_fit([row])
        model.cycle = "global"
        compare(model, oracle)
        compare_scalars(model, oracle)
        compare_predictions(model, oracle, np.stack([row, (row + rows[i // 2]) / 2]))


def compare_scalars(model, oracle):
    assert same_number(model.threshold_, oracle.threshold)
    assert model.n_active_ == (oracle.n_active if oracle.ready else None)
    scalars = model._present().scalars[0]
    assert (scalars["n_cut"], scalars["cut_age"]) == (oracle.n_cut, pytest.approx(oracle.cut_age, rel=1e-12))
    assert np.argsort(-model._present().used[: model.n_nodes_]).tolist() == oracle.act


# Invariants


def test_invariants():
    model, ready = CAE(**SOON), None
    for k, row in enumerate(np.tile(X, (4, 1)), start=1):
        model.partial_fit([row])
        assert all(age >= 1 for age in ages(model).values())
        if model.n_active_ is None:
            assert model.n_nodes_ == model.n_clusters_ == k
            continue
        ready = ready or model.n_active_
        scalars = model._present().scalars[0]
        assert (model.n_active_, scalars["interval"]) == (ready, 2 * ready)
        assert 0 <= model.threshold_ <= 1
        if k % (2 * ready) == 0:
            assert set(model.edges_.ravel()) == set(range(model.n_nodes_)), "a node without an edge"
        assert np.array_equal(np.unique(model.node_labels_), np.arange(model.n_clusters_))
    assert model.n_samples_seen_ == 600
    assert model._state.factor.size == 0


def test_the_first_bandwidth_waits_for_ten_samples():
    model = CAE()
    for k in range(1, 10):
        model.partial_fit(X[k - 1 : k])
        expected = CAE(cycle="call").fit(X[:k])  # the end of the call is the end of the wait
        assert contents(model) == contents(expected)
        assert model.n_samples_seen_ == model.n_nodes_ == k
        assert np.array_equal(model.predict(X[:k]), np.arange(k))
    assert np.unique(model.scales_).tolist() != np.unique(model.partial_fit(X[9:10]).scales_).tolist()
    assert contents(model) == contents(CAE().fit(X[:10]))
    assert contents(CAE(n_init=20).fit(X[:10])) == contents(CAE().fit(X[:10]))
    assert contents(CAE(n_init=5).fit(X[:10])) != contents(CAE().fit(X[:10]))


def test_task_size_ends_the_search():
    rows = np.random.default_rng(0).normal(size=(60, 3)) * 100
    assert CAE().fit(rows).n_active_ is None
    model = CAE(task_size=30).fit(rows)
    assert (model.n_active_, model._state.scalars["interval"][0]) == (30, cae_state.UNKNOWN)


def test_nodes_are_limited():
    rows = np.random.default_rng(0).normal(size=(60, 3)) * 100
    ignored = CAE(max_nodes=40).fit(rows)  # not ready: the others are ignored
    assert np.array_equal(ignored.prototypes_, rows[:40])
    assert ignored.n_samples_seen_ == 60
    full = CAE(max_nodes=25, task_size=20).fit(rows)  # ready: the others move nodes
    assert full.n_nodes_ == 25
    assert full.usage_.sum() == 60


def test_samples_that_coincide_end_the_search():
    rows = np.random.default_rng(0).normal(size=(60, 3)) * 100
    rows[40] = rows[7]
    assert CAE().fit(rows[:40]).n_active_ is None
    assert CAE().fit(rows).n_active_ == 41
    rows[5] = rows[2]  # but not before there are ten
    assert CAE().fit(rows).n_active_ == 10


def test_a_threshold_of_zero_never_ends_the_search():
    rows = np.random.default_rng(0).normal(size=(30, 3))
    rows[5] = rows[2]
    assert CAE(det_threshold=0.0).fit(rows).n_active_ is None


def test_room_is_made_on_the_way():
    rows = np.random.default_rng(0).normal(size=(700, 8))
    assert np.array_equal(CAE(det_threshold=0.0).fit(rows).prototypes_, rows)


# Contracts


@given(st.lists(st.integers(0, 150), max_size=5))
def test_batches_cut_anyhow_give_the_same_bits(cuts):
    whole, parts = CAE(**SOON).fit(X), CAE(**SOON)
    for part in np.split(X, sorted(cuts)):
        if len(part):
            parts.partial_fit(part)
    assert contents(whole) == contents(parts)


def test_calls_count_by_themselves():
    by_call, by_stream = CAE(**SOON, cycle="call"), CAE(**SOON)
    for start in range(0, 150, 15):  # never as many as 2 n_a
        by_call.partial_fit(X[start : start + 15])
        by_stream.partial_fit(X[start : start + 15])
    assert by_call.n_nodes_ > by_stream.n_nodes_
    assert contents(CAE(**SOON, cycle="call").fit(X)) == contents(by_stream)


def test_fit_forgets_and_numbers_without_gaps():
    forgets_and_numbers_without_gaps(CAE(**SOON).fit(X + 100), CAE(**SOON))


def test_nearest_nodes():
    knows_the_nearest_nodes(CAE(**SOON).fit(X))


@pytest.mark.parametrize("n", [4, 100])
def test_models_can_be_pickled_and_cloned(n):
    model = CAE(**SOON).fit(X[:n])
    twin = pickle.loads(pickle.dumps(model))
    assert contents(twin.partial_fit(X[n:])) == contents(model.partial_fit(X[n:]))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@pytest.mark.parametrize("n", [4, 150])
@pytest.mark.parametrize("name", BAD)
def test_bad_input_changes_nothing(name, n):
    refuses(CAE(**SOON).fit(X[:n]), name)


@pytest.mark.parametrize(
    "wrong",
    [{"task_size": 0}, {"max_nodes": 0}, {"cycle": "local"}, {"n_init": 0}, {"det_threshold": -1.0}],
)
def test_wrong_parameters(wrong):
    model = CAE(**wrong)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            learn(X)
    assert not model.__sklearn_is_fitted__()
    assert not hasattr(model, "n_features_in_")


# Against the published tables


def test_search_space():
    assert space("cae") == {}


def test_published_counts_of_seeds(data_set):
    """Class after class, every sample is a node: 210 nodes, 210 clusters."""
    rows = data_set("seeds")
    model = CAE(task_size=len(rows), cycle="call")
    for start in (0, 70, 140):
        model.partial_fit(rows[start : start + 70])
    assert (model.n_nodes_, model.n_clusters_) == (210, 210)
