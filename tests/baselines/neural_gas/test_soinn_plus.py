"""SOINN+: the specification's example, an oracle in lock-step, invariants, contracts, published counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import SOINNPlus
from everclust.baselines.graph.graph import edges
from everclust.baselines.neural_gas.soinn_plus_loop import most_wins
from everclust.baselines.parameters import space
from everclust.jit.compile import kernel
from oracles.baselines.soinn_plus import Oracle
from support.slow import others_slow

random = np.random.RandomState(0)
X = load_iris().data[random.permutation(150)]
CROWD = random.normal(size=(600, 2)) + 3 * random.randint(2, size=(600, 1))


@pytest.mark.slow
@parametrize_with_checks([SOINNPlus(), SOINNPlus(reference_quirks=False)])
def test_estimator_check(estimator, check):
    check(estimator)


# Against the specification


def scalars(model):
    return model._state.scalars[0]


def lifetimes(model):
    pairs, age = edges(model._state.graph)
    return {tuple(pair): a for pair, a in zip(pairs.tolist(), age.tolist(), strict=True)}


def test_worked_example():
    steps = [  # x, w, wins, lifetimes, D_n, D_u after it
        (0.0, [0], [1], {}, 0, 0),
        (1.0, [0, 1], [1, 1], {}, 0, 0),
        (3.0, [0, 1, 3], [1, 1, 1], {}, 0, 0),
        (0.1, [0.05, 0.991, 3], [2, 1, 1], {(0, 1): 2}, 0, 0),
        (0.9, [0.05425, 0.9455], [2, 2], {(0, 1): 2}, 1, 2),
        (0.5, [0.05425, 0.9455, 0.5], [2, 2, 1], {(0, 1): 2}, 1, 2),
        (3.2, [0.05425, 0.9455, 0.5, 3.2], [2, 2, 1, 1], {(0, 1): 2}, 1, 2),
    ]
    model = SOINNPlus()
    for t, (x, w, wins, life, n_dropped, idleness) in enumerate(steps, start=1):
        model.partial_fit([[x]])
        assert model.n_samples_seen_ == t
        assert model.prototypes_.ravel() == pytest.approx(w, rel=1e-12)
        assert model.usage_.tolist() == wins
        assert lifetimes(model) == life
        assert (scalars(model)["n_dropped"], scalars(model)["dropped_idleness"]) == (n_dropped, idleness)
    assert scalars(model)["n_links"] == 1
    assert scalars(model)["first_mean"] == pytest.approx(0.941)
    assert scalars(model)["second_square_sum"] == 0
    assert model.n_clusters_ == 3
    assert model.predict([[0.9], [0.6], [2.5]]).tolist() == [0, 1, 2]


@st.composite
def streams(draw):
    """Few features on a coarse grid, so that there are ties and duplicates; or anything."""
    n_features = draw(st.integers(1, 3))
    value = draw(st.sampled_from([st.integers(-3, 3).map(float), st.floats(-100, 100, width=32)]))
    return np.array(draw(st.lists(st.tuples(*[value] * n_features), min_size=2, max_size=80)))


def compare(model, oracle):
    """All operations are done in the same order: the bits are the same."""
    assert model.n_nodes_ == len(oracle.w)
    assert np.array_equal(model.prototypes_, oracle.w)
    assert model.usage_.tolist() == oracle.wt
    assert model._state.node["stamp"][: model.n_nodes_].tolist() == oracle.ts
    assert lifetimes(model) == {tuple(sorted(pair)): age for pair, age in oracle.life.items()}
    assert model.node_labels_.tolist() == oracle.components()
    expected = (oracle.t, oracle.n_l, *oracle.mu, *oracle.s, oracle.e_n, oracle.e_m, oracle.d_n, oracle.d_u)
    assert tuple(scalars(model)) == expected


@given(streams(), st.booleans(), st.sampled_from([2, 0.5, 0]), st.sampled_from([100, 3]))
def test_lock_step(rows, quirks, factor, divisor):
    model = SOINNPlus(
        link_factor=factor,
        edge_factor=factor,
        node_factor=factor,
        neighbour_divisor=divisor,
        reference_quirks=quirks,
    )
    oracle = Oracle(factor, factor, factor, divisor, quirks)
    for row in rows:
        oracle.learn(row)
        compare(model.partial_fit([row]), oracle)


@pytest.mark.parametrize(
    ("factor", "quirks"), others_slow([(2, True), (0.2, True), (0.2, False)], now=[(0.2, True)])
)
def test_lock_step_in_a_long_stream(factor, quirks):
    """Long enough for every rule to be used; with a low factor many nodes are cut off."""
    model = SOINNPlus(edge_factor=factor, reference_quirks=quirks)
    oracle = Oracle(edge=factor, sums_indices=quirks)
    for row in CROWD:
        oracle.learn(row)
        compare(model.partial_fit([row]), oracle)
    assert oracle.e_n > 10
    assert oracle.n_l > 100
    assert oracle.d_n > 100


def test_lock_step_with_a_long_memory():
    """After thousands of deletions the limits hardly depend on what is there now."""
    model, oracle = SOINNPlus().partial_fit(CROWD[:1]), Oracle()
    oracle.learn(CROWD[0])
    oracle.e_n, oracle.e_m, oracle.d_n, oracle.d_u = 3000, 7.0, 3000, 12.0
    for name, value in (("n_cut", 3000), ("cut_age", 7.0), ("n_dropped", 3000), ("dropped_idleness", 12.0)):
        model._state.scalars[name] = value
    for row in CROWD[1:]:
        oracle.learn(row)
        compare(model.partial_fit([row]), oracle)
    assert oracle.e_n > 3010
    assert oracle.d_n > 3010


@kernel
def largest_usage(state):
    return most_wins(state)


def test_trust_is_relative_to_nodes_with_edges():
    model = SOINNPlus().fit([[0.0], [1.0], [3.0], [0.1]])
    assert model.edges_.tolist() == [[0, 1]]
    state = model._state
    state.node["wins"][:3] = [4, 5, 9]
    assert largest_usage(state) == 5
    assert largest_usage(state._replace(graph=SOINNPlus().fit([[0.0], [1.0], [3.0]])._state.graph)) == 9


# Invariants


def test_invariants():
    model = SOINNPlus()
    for t, row in enumerate(np.tile(X, (3, 1)), start=1):
        model.partial_fit([row])
        assert model.n_samples_seen_ == t
        assert model.n_nodes_ >= min(t, 2)
        assert (model.usage_ >= 1).all()
        assert model.usage_.sum() <= t
        assert (model._state.node["stamp"][: model.n_nodes_] <= t).all()
        pairs, age = edges(model._state.graph)
        assert (age >= 2).all()
        assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(model.edges_) > 0
    assert np.array_equal(model.predict(model.prototypes_), model.node_labels_)
    assert np.array_equal(np.unique(model.node_labels_), np.arange(model.n_clusters_))


def test_quirks_make_a_difference():
    with_quirks, without = (
        scalars(SOINNPlus(edge_factor=0.2, reference_quirks=quirks).fit(CROWD)) for quirks in (True, False)
    )
    assert with_quirks["n_dropped"] > without["n_dropped"] > 0


def test_duplicates_are_absorbed():
    rows = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 20, axis=0)
    model = SOINNPlus().fit(rows)
    assert set(map(tuple, model.prototypes_)) <= set(map(tuple, rows))
    # Three nodes in one place: the first always wins, the second is linked to it. The third has been idle for
    # t − 3 samples, the second for t − 2: the limit, median plus two deviations, is never below that.
    model = SOINNPlus().fit(np.ones((50, 2)))
    assert (model.n_nodes_, model.n_clusters_, model.usage_.tolist()) == (3, 2, [48, 1, 1])


# What is published


@pytest.mark.parametrize(
    ("name", "nodes", "clusters"), [("iris", (24.9, 3), (9.3, 2)), ("seeds", (29.2, 4), (7.9, 2.5))]
)
def test_counts_are_as_published(data_set, name, nodes, clusters):
    rows = data_set(name)
    counts = []
    for seed in range(1, 31):
        model = SOINNPlus().fit(rows[np.random.RandomState(seed).permutation(len(rows))])
        counts.append((model.n_nodes_, model.n_clusters_))
    mean = np.mean(counts, axis=0)
    assert mean[0] == pytest.approx(nodes[0], abs=nodes[1])
    assert mean[1] == pytest.approx(clusters[0], abs=clusters[1])


def test_there_is_nothing_to_tune():
    assert space("soinn-plus") == {}
