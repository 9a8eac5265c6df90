"""CAEA: the specification's example, an oracle in lock-step, invariants, contracts, published counts."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import CAEA
from everclust.baselines.parameters import space, tuned
from everclust.benchmark.run.settings import class_incremental
from oracles.baselines.caea import Oracle
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

BUSY = {"lambda_": 12, "a_max": 3}


@pytest.mark.slow
@parametrize_with_checks([CAEA()])
def test_estimator_check(estimator, check):
    check(estimator)


# Against the specification


def test_worked_example():
    rows = [(0, 0), (1, 0), (0, 1), (0.1, 0.05), (0.05, 0.1), (5, 5), (5.1, 5), (0.06, 0.06)]
    model, seen = CAEA(lambda_=6, a_max=2), []
    for row in rows:
        model.partial_fit([row])
        seen.append((model.prototypes_.tolist(), model.usage_.tolist(), model.scales_, model.threshold_))
    assert seen[2][0] == [[0, 0], [1, 0], [0, 1]]
    assert seen[2][2] == pytest.approx([1e-6, 0.314981, 0.480750], abs=5e-7)
    assert [math.isnan(threshold) for *_, threshold in seen] == [
        True,
        True,
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert seen[2][3] == pytest.approx(0.706817, abs=5e-7)
    assert (seen[3][0][0], seen[3][1]) == ([0.1, 0.05], [2, 1, 1])
    assert seen[4][0][0] == pytest.approx([0.075, 0.075], rel=1e-15)
    assert seen[4][1] == [3, 1, 1]
    assert seen[5][:2] == ([], [])
    assert seen[7][0] == [[5.1, 5], [0.06, 0.06]]
    assert seen[7][2] == pytest.approx([2.379892, 2.387104], abs=5e-7)
    assert len(model.edges_) == 0


@given(
    texture=st.sampled_from(TEXTURES),
    seed=st.integers(0, 2**32),
    n=st.integers(1, 80),
    d=st.integers(1, 5),
    interval=st.sampled_from([2, 3, 4, 5, 8, 9, 16, 21, 30]),
    a_max=st.sampled_from([0, 1, 3, 10]),
    quirks=st.booleans(),
    cut=st.none() | st.integers(1, 79),
)
def test_lock_step(texture, seed, n, d, interval, a_max, quirks, cut):
    """After every sample; `cut` is where a second call begins to count anew."""
    rows = texture(np.random.default_rng(seed), n, d)
    settings = {"a_max": a_max, "reference_quirks": quirks}
    model, oracle = CAEA(lambda_=interval, **settings), Oracle(interval, a_max, quirks)
    for i, row in enumerate(rows):
        if i == cut:
            model.cycle = "call"
            oracle.new_call()
        oracle.learn(row)
        assume(oracle.margin >= SAFE_MARGIN)
        model.partial_fit([row])
        model.cycle = "global"
        compare(model, oracle)
        assert same_number(model.threshold_, oracle.threshold[0] if oracle.w else math.nan)
        compare_predictions(model, oracle, np.stack([row, (row + rows[i // 2]) / 2]))


@pytest.mark.parametrize(
    "settings", others_slow([BUSY, {"lambda_": 40, "a_max": 3}, {"lambda_": 30, "a_max": 100}], now=[BUSY])
)
def test_lock_step_on_real_data(settings):
    model, oracle = CAEA(**settings), Oracle(settings["lambda_"], settings["a_max"])
    n_edges, n_lost = 0, 0
    for row in BLURRED:
        oracle.learn(row)
        compare(model.partial_fit([row]), oracle)
        n_lost += len(ages(model)) < n_edges
        n_edges = len(ages(model))
    assert oracle.margin >= SAFE_MARGIN
    assert n_edges > 0
    assert n_lost > 0 or settings["a_max"] == 100


# Invariants


@pytest.mark.parametrize("quirks", [False, True])
def test_invariants(quirks):
    model = CAEA(lambda_=20, a_max=2, reference_quirks=quirks)
    for k, row in enumerate(np.tile(X, (3, 1)), start=1):
        n_before = getattr(model, "n_nodes_", 0)
        model.partial_fit([row])
        assert all(age <= 2 for age in ages(model).values())
        assert n_before >= 10 or k % 20 == 0 or model.n_nodes_ == n_before + 1
        assert math.isnan(model.threshold_) or 0 <= model.threshold_ <= 1
        if k % 20 == 0:
            assert set(model.edges_.ravel()) == set(range(model.n_nodes_)), "a node without an edge"
        assert np.array_equal(np.unique(model.node_labels_), np.arange(model.n_clusters_))
    assert model.n_samples_seen_ == 450


def test_all_nodes_can_go():
    # Four far points, then λ = 4 deletes them all: none has an edge.
    model = CAEA(lambda_=4).fit([[0.0], [100.0], [250.0], [900.0]])
    assert (model.n_nodes_, model.n_clusters_) == (0, 0)
    assert math.isnan(model.threshold_)
    assert model.labels_.tolist() == [0, 0, 0, 0]
    assert model.predict([[3.0]]).tolist() == [0]
    assert model.prototypes_.shape == (0, 1)
    assert model.edges_.shape == (0, 2)
    assert model.partial_fit([[1.0]]).n_nodes_ == 1


def test_an_odd_interval_has_no_threshold_with_quirks():
    # 150 = 4·37 + 2: the fourth wipe is followed by two nodes. Without quirks the buffer of 19 fills.
    quirky = CAEA(lambda_=37, reference_quirks=True).fit(X)
    assert (quirky.n_nodes_, quirky.n_clusters_, len(quirky.edges_)) == (2, 2, 0)
    assert math.isnan(quirky.threshold_)
    assert len(CAEA(lambda_=37).fit(X).edges_) > 0


def test_bandwidth_of_the_first_sample():
    # d = 2: the factor is 1, the standard deviation of 1 and 3 is √2.
    assert CAEA().fit([[1.0, 3.0]]).scales_.tolist() == [1e-6]
    assert CAEA(reference_quirks=True).fit([[1.0, 3.0]]).scales_ == pytest.approx([math.sqrt(2)])


def test_room_is_made_on_the_way():
    rows = np.random.default_rng(0).normal(size=(1500, 2)) * 1000
    model = CAEA(lambda_=4000).fit(rows)
    assert np.array_equal(model.prototypes_, rows)


# Contracts


@given(st.lists(st.integers(0, 150), max_size=5))
def test_batches_cut_anyhow_give_the_same_bits(cuts):
    whole, parts = CAEA(**BUSY).fit(X), CAEA(**BUSY)
    for part in np.split(X, sorted(cuts)):
        if len(part):
            parts.partial_fit(part)
    assert contents(whole) == contents(parts)


def test_calls_count_by_themselves():
    """Two calls of half the interval each never delete anything; one stream does."""
    halves = [X[start : start + 15] for start in range(0, 150, 15)]
    by_call, by_stream = CAEA(lambda_=30, cycle="call"), CAEA(lambda_=30)
    for half in halves:
        by_call.partial_fit(half)
        by_stream.partial_fit(half)
    assert by_call.n_nodes_ > by_stream.n_nodes_
    assert contents(CAEA(lambda_=30, cycle="call").fit(X)) == contents(by_stream)


def test_fit_forgets_and_numbers_without_gaps():
    forgets_and_numbers_without_gaps(CAEA(**BUSY).fit(X + 100), CAEA(**BUSY))


def test_nearest_nodes():
    knows_the_nearest_nodes(CAEA(**BUSY).fit(X))


def test_models_can_be_pickled_and_cloned():
    model = CAEA(**BUSY).fit(X[:100])
    twin = pickle.loads(pickle.dumps(model))
    assert contents(twin.partial_fit(X[100:])) == contents(model.partial_fit(X[100:]))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@pytest.mark.parametrize("name", BAD)
def test_bad_input_changes_nothing(name):
    refuses(CAEA(**BUSY).fit(X), name)


@pytest.mark.parametrize(
    "wrong", [{"lambda_": 1}, {"lambda_": 2.5}, {"a_max": -1}, {"cycle": "local"}, {"reference_quirks": 2}]
)
def test_wrong_parameters(wrong):
    model = CAEA(**wrong)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            learn(X)
    assert not model.__sklearn_is_fitted__()
    assert not hasattr(model, "n_features_in_")


# Against the published tables


def test_search_space():
    assert space("caea") == {"lambda_": (2, 500), "a_max": (2, 500)}


def test_published_counts_of_iris():
    data, classes = load_iris(return_X_y=True)
    parameters = tuned("caea", "nonstationary", "iris")
    for seed in range(1, 4):
        model = CAEA(**parameters, cycle="call")
        for step in class_incremental(data, classes, seed):
            model.partial_fit(data[step])
        assert (model.n_nodes_, model.n_clusters_) == (13, 13)
