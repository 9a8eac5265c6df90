"""Growing Neural Gas: the specification's example, an oracle in lock-step, invariants, contracts."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import GNG
from everclust.baselines.graph.graph import edges
from everclust.baselines.parameters import published, space, tuned
from everclust.benchmark.run.settings import class_incremental, stationary
from oracles.baselines.gng import Oracle
from support.slow import others_slow

X = load_iris().data[np.random.RandomState(0).permutation(150)]
BUSY = {"eps_b": 0.1, "eps_n": 0.02, "a_max": 2, "lambda_": 3, "alpha": 0.3, "delta": 0.95}


NOT_BY_DEFAULT = {"check_clustering": "Fritzke's defaults insert a node every 100 samples; the check has 50"}


@pytest.mark.slow
@parametrize_with_checks(
    [GNG(), GNG(eps_b=0.5, eps_n=0.02, a_max=2, lambda_=3)],
    expected_failed_checks=lambda model: NOT_BY_DEFAULT if model.lambda_ == 100 else {},
)
def test_estimator_check(estimator, check):
    check(estimator)


# Against the specification


def errors(model):
    return model._state.error[: model.n_nodes_] * model._state.scalars["fade"][0]


def ages(model):
    pairs, age = edges(model._state.graph)
    return {tuple(pair): a for pair, a in zip(pairs.tolist(), age.tolist(), strict=True)}


def test_worked_example():
    steps = [  # x, W, err, edges (age) after it
        (1.0, [0.1, 1], [0, 0], {(0, 1): 0}),
        (0.2, [0.15, 0.92], [0.009, 0], {(0, 1): 0}),
        (0.9, [0.225, 0.91, 0.5675], [0.00405, 0.00018, 0.00405], {(0, 2): 0, (1, 2): 0}),
        (0.1, [0.1625, 0.91, 0.52075], [0.0177075, 0.000162, 0.003645], {(0, 2): 0, (1, 2): 0}),
        (0.3, [0.23125, 0.91, 0.498675], [0.03295238, 0.0001458, 0.0032805], {(0, 2): 0, (1, 2): 0}),
    ]
    model = GNG(eps_b=0.5, eps_n=0.1, a_max=1, lambda_=4, alpha=0.5, delta=0.9).partial_fit([[0.0]])
    assert (model.n_nodes_, model.n_clusters_, model.n_samples_seen_) == (1, 1, 1)
    assert model.predict([[5.0]]).tolist() == [0]
    for t, (x, w, err, linked) in enumerate(steps, start=2):
        model.partial_fit([[x]])
        assert model.n_samples_seen_ == t
        assert model.prototypes_.ravel() == pytest.approx(w)
        assert errors(model) == pytest.approx(err, abs=1e-8)
        assert ages(model) == linked


@st.composite
def streams(draw):
    """Few features on a coarse grid, so that there are ties and duplicates; or anything."""
    n_features = draw(st.integers(1, 3))
    value = draw(st.sampled_from([st.integers(-3, 3).map(float), st.floats(-100, 100, width=32)]))
    return np.array(draw(st.lists(st.tuples(*[value] * n_features), min_size=2, max_size=50)))


@st.composite
def settings(draw):
    return {
        "eps_b": draw(st.sampled_from([0.0, 0.05, 0.5, 1.0])),
        "eps_n": draw(st.sampled_from([0.0, 0.01, 0.5])),
        "a_max": draw(st.sampled_from([0, 1, 2, 5])),
        "lambda_": draw(st.integers(1, 4)),
        "alpha": draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])),
        "delta": draw(st.sampled_from([1e-3, 0.9, 0.99, 1.0])),
        "max_nodes": draw(st.sampled_from([2, 8, 2000])),
    }


def compare(model, oracle):
    assert model.n_nodes_ == len(oracle.w)
    assert np.array_equal(model.prototypes_, oracle.w)
    assert errors(model) == pytest.approx(oracle.err, rel=1e-12)
    assert ages(model) == {tuple(sorted(pair)): age for pair, age in oracle.age.items()}
    assert model.node_labels_.tolist() == oracle.components()


@given(streams(), settings())
def test_lock_step(rows, settings):
    model, oracle = GNG(**settings), Oracle(**settings)
    for row in rows:
        oracle.learn(row)
        assume(oracle.margin > 1e-12)
        compare(model.partial_fit([row]), oracle)


def test_lock_step_on_real_data():
    settings = BUSY | {"a_max": 1}
    model, oracle = GNG(**settings), Oracle(**settings)
    for row in X:
        oracle.learn(row)
        compare(model.partial_fit([row]), oracle)
    assert oracle.margin > 1e-12
    assert model.n_nodes_ < 2 + 150 // 3, "nothing was deleted"


def test_errors_do_not_vanish_in_a_long_stream():
    """δ^t alone would be zero after some thousand signals."""
    rows = np.tile(X, (60, 1))
    model = GNG(**BUSY | {"delta": 0.9, "max_nodes": 10}).fit(rows)
    oracle = Oracle(**BUSY | {"delta": 0.9, "max_nodes": 10})
    for row in rows:
        oracle.learn(row)
    compare(model, oracle)
    assert errors(model).max() > 0


# Invariants


@pytest.mark.parametrize("a_max", [1, 3, 50])
def test_invariants(a_max):
    model = GNG(**BUSY | {"a_max": a_max})
    n_deleted = 0
    for t, row in enumerate(np.tile(X, (3, 1)), start=1):
        model.partial_fit([row])
        if t == 1:
            continue
        pairs, age = edges(model._state.graph)
        assert (age <= a_max).all()
        assert (pairs[:, 0] < pairs[:, 1]).all()
        assert set(pairs.ravel()) == set(range(model.n_nodes_)), "a node without an edge"
        assert (errors(model) >= 0).all()
        assert 2 + t // 3 - model.n_nodes_ >= n_deleted
        n_deleted = 2 + t // 3 - model.n_nodes_
    assert (n_deleted > 0) == (a_max < 50)
    assert np.array_equal(model.predict(model.prototypes_), model.node_labels_)
    assert np.array_equal(np.unique(model.node_labels_), np.arange(model.n_clusters_))


def test_nodes_are_limited():
    assert GNG(**BUSY | {"max_nodes": 20, "a_max": 50}).fit(X).n_nodes_ == 20
    assert GNG(lambda_=1, max_nodes=None).fit(np.tile(X, (15, 1))).n_nodes_ == 2 + 15 * 150
    assert GNG(lambda_=1).fit(np.tile(X, (15, 1))).n_nodes_ == 2000


def test_random_start():
    same = [GNG(**BUSY, init="random", random_state=3).fit(X) for _ in range(2)]
    other = GNG(**BUSY, init="random", random_state=4).fit(X)
    assert np.array_equal(same[0].prototypes_, same[1].prototypes_)
    assert not np.array_equal(same[0].prototypes_[:5], other.prototypes_[:5])
    still = GNG(eps_b=0.0, eps_n=0.0, init="random", random_state=3).fit(X[:50])
    assert still.n_samples_seen_ == 50
    assert (still.prototypes_ >= X[:50].min(axis=0)).all()
    assert (still.prototypes_ <= X[:50].max(axis=0)).all()
    assert not (still.prototypes_[:, None] == X[None]).all(axis=2).any()


# What is published


def test_seeds_has_as_many_nodes_as_published(data_set):
    seeds = data_set("seeds")
    parameters = published("gng", "stationary", "seeds")
    counts = []
    for seed in range(1, 31):
        model = GNG(**parameters).fit(seeds[np.random.RandomState(seed).permutation(len(seeds))])
        counts.append((model.n_nodes_, model.n_clusters_))
    assert sum(count == (32, 1) for count in counts) >= 27


PUBLISHED = [  # setting, data set, mean and deviation of nodes and of clusters
    ("stationary", "iris", (50.8, 0.9), (4.6, 2.2)),
    ("stationary", "seeds", (32.0, 0.0), (1.0, 0.2)),
    ("stationary", "yeast", (484.0, 4.0), (21.3, 4.7)),
    ("nonstationary", "iris", (48.6, 1.0), (4.1, 2.2)),
    ("nonstationary", "seeds", (69.5, 1.0), (5.8, 2.2)),
]


@pytest.mark.parametrize(
    ("setting", "name", "nodes", "clusters"), others_slow(PUBLISHED, now=PUBLISHED[:2] + PUBLISHED[3:])
)
def test_tuned_parameters_give_the_published_counts(setting, name, nodes, clusters, data_set):
    rows = data_set(name)
    y = np.arange(len(rows)) * 3 // len(rows)  # Iris and Seeds come class after class
    counts = []
    for seed in range(1, 11):
        steps = (
            class_incremental(rows, y, seed) if setting == "nonstationary" else [stationary(rows, y, seed)]
        )
        model = GNG(**tuned("gng", setting, name)).fit(rows[np.concatenate(steps)])
        counts.append((model.n_nodes_, model.n_clusters_))
    for mean, (expected, deviation) in zip(np.mean(counts, axis=0), (nodes, clusters), strict=True):
        assert mean == pytest.approx(expected, abs=2 * deviation + 1e-9)


@pytest.mark.parametrize("found", [published, tuned])
def test_parameters_are_within_the_searched_space(found):
    bounds = space("gng")
    assert set(bounds) <= set(GNG().get_params())
    for setting in ("stationary", "nonstationary"):
        for name in ("iris", "seeds", "yeast", "optdigits", "statlog", "penbased", "letter"):
            parameters = found("gng", setting, name)
            assert set(parameters) == set(bounds)
            assert all(bounds[key][0] <= value <= bounds[key][1] for key, value in parameters.items())
