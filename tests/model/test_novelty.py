"""Novelty of rows: graded, and as learning itself would decide."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import roc_auc_score

import everclust.model.chunks
from everclust import IDAT, EverClust
from everclust.core.learn import learn
from everclust.core.state import copy, scalar
from everclust.core.variants import PUBLISHED
from everclust.model.novelty import are_novel, similarities, take_known

IRIS, DIGITS, WINE = load_iris().data, load_digits().data, load_wine().data
METRICS = pytest.mark.parametrize("metric", ["euclidean", "capped"])


def lattice(n, seed=0):
    """Whole numbers, of which many are equally far from two nodes."""
    return np.random.default_rng(seed).integers(0, 6, (n, 3)).astype(float)


def known(model):
    return take_known(model._learner.state)


def founds_a_node(state, variant, x):
    """Learn a row in a copy: whether it made a node, also if one was dropped after the same sample."""
    after = learn(copy(state), x[None].copy(), variant)
    return scalar(after, "n_born") > scalar(state, "n_born")


def two_clouds(n_many=3000, n_few=60):
    """A large cloud, and a small one far away that came up again and again."""
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(n_many, 2)), 40 + 0.1 * rng.normal(size=(n_few, 2))])
    is_few = np.arange(len(X)) >= n_many
    order = rng.permutation(len(X))
    return X[order], is_few[order]


@METRICS
@pytest.mark.parametrize("n_first", [1, 2, 3, 4, 7, 40, 100])
@pytest.mark.parametrize("data", [IRIS, WINE, lattice(300)], ids=["iris", "wine", "lattice"])
def test_rows_are_novel_exactly_if_learning_them_founds_a_node(data, n_first, metric):
    X = data[np.random.default_rng(0).permutation(len(data))]
    state = EverClust(metric=metric).partial_fit(X[:n_first])._learner.state
    variant = PUBLISHED._replace(capped=metric == "capped")
    expected = [founds_a_node(state, variant, x) for x in X]
    assert are_novel(take_known(state), X).tolist() == expected


@METRICS
@pytest.mark.parametrize("data", [DIGITS[:900], lattice(900, seed=1)], ids=["digits", "lattice"])
def test_along_a_stream_novel_rows_are_those_that_found_nodes(data, metric):
    X = data[np.random.default_rng(0).permutation(len(data))]
    state = EverClust(metric=metric).partial_fit(X[:1])._learner.state
    variant, found, expected = PUBLISHED._replace(capped=metric == "capped"), [], []
    for x in X[1:, None]:
        found.append(bool(are_novel(take_known(state), x)[0]))
        n_born = scalar(state, "n_born")
        state = learn(state, x.copy(), variant)
        expected.append(scalar(state, "n_born") > n_born)
    assert found == expected
    assert 10 < sum(found) < len(found)


def test_a_bound_on_nodes_does_not_change_what_is_novel():
    state = IDAT(max_nodes=20).partial_fit(DIGITS[:1000])._learner.state
    variant = PUBLISHED._replace(max_nodes=20)
    expected = [founds_a_node(state, variant, x) for x in DIGITS[1000:1300]]
    assert are_novel(take_known(state), DIGITS[1000:1300]).tolist() == expected
    assert any(expected)


@METRICS
def test_scores_written_out(metric):
    """Nearest node by distance; a node is at least as far as it is remote."""
    model = EverClust(metric=metric).fit(DIGITS[:1000])
    nodes, weight, usage = model.prototypes_, model.feature_weights_, model.usage_
    between = np.sqrt(((nodes[:, None] - nodes) ** 2 * weight).sum(axis=2))
    reach = []
    for to in between:
        order = np.argsort(to)
        enough = np.cumsum(usage[order]) >= usage.sum() / np.sqrt(len(nodes))
        reach.append(to[order][enough.argmax()])
    remoteness = np.maximum(np.array(reach) - np.average(reach, weights=usage), 0)
    away = np.sqrt(((DIGITS[:, None] - nodes) ** 2 * weight).sum(axis=2))
    nearest = away.argmin(axis=1)
    expected = 1 / (1 + np.maximum(away.min(axis=1), remoteness[nearest]) / model.scales_[nearest])
    np.testing.assert_allclose(similarities(known(model), DIGITS), expected, rtol=1e-9)
    assert (remoteness[nearest] > away.min(axis=1)).any()  # both terms of the maximum are tested


def test_answers_do_not_depend_on_how_clusters_are_read_out():
    components, handover = IDAT().fit(DIGITS), EverClust(metric="euclidean").fit(DIGITS)
    assert np.array_equal(similarities(known(components), DIGITS), similarities(known(handover), DIGITS))
    assert np.array_equal(are_novel(known(components), DIGITS), are_novel(known(handover), DIGITS))


@METRICS
def test_rows_that_would_found_a_node_score_below_the_vigilance(metric):
    model = EverClust(metric=metric).partial_fit(DIGITS[:500])
    is_novel = are_novel(known(model), DIGITS)
    assert 0 < is_novel.sum() < len(DIGITS)
    assert (similarities(known(model), DIGITS[is_novel]) < model.vigilance_).all()


@METRICS
def test_a_rare_cluster_stays_novel_although_it_has_nodes(metric):
    X, is_few = two_clouds()
    model = EverClust(metric=metric).partial_fit(X)
    assert ((model.prototypes_ > 30).all(axis=1) & (model.usage_ > 1)).any()  # it was learnt
    assert roc_auc_score(is_few, -similarities(known(model), X)) > 0.99


def test_scores_are_in_range_for_any_row():
    for data in (IRIS[:1], IRIS[:2], IRIS[:3], np.ones((50, 4)), IRIS):
        nodes = known(IDAT().partial_fit(data))
        for rows in (IRIS, -3 * IRIS, np.full((1, 4), 1e140)):
            score = similarities(nodes, rows)
            assert ((score > 0) & (score <= 1)).all()
    assert (similarities(known(IDAT().partial_fit(np.ones((50, 4)))), np.ones((1, 4))) == 1).all()


@pytest.mark.parametrize("exponent", [-20, 9])
def test_scaling_by_a_power_of_two_changes_nothing(exponent):
    X = 1000 * WINE  # far above the least scale, in both units
    one, other = (known(IDAT().partial_fit(X[:100] * factor)) for factor in (1.0, 2.0**exponent))
    assert np.array_equal(similarities(one, X), similarities(other, X * 2.0**exponent))
    assert np.array_equal(are_novel(one, X), are_novel(other, X * 2.0**exponent))


def test_answers_are_the_same_on_all_cores(monkeypatch):
    nodes = known(IDAT().fit(DIGITS))
    expected = similarities(nodes, DIGITS), are_novel(nodes, DIGITS)
    monkeypatch.setattr(everclust.model.chunks, "n_cores", lambda: 3)
    monkeypatch.setattr(everclust.model.chunks, "PARALLEL_WORK", 1)
    assert np.array_equal(similarities(nodes, DIGITS[:, ::-1][:, ::-1]), expected[0])  # not contiguous
    assert np.array_equal(are_novel(nodes, DIGITS.astype(np.float32)), expected[1])


def test_what_is_known_is_a_copy():
    model = IDAT().partial_fit(IRIS[:100])
    nodes = known(model)
    before = similarities(nodes, IRIS)
    model.partial_fit(IRIS)
    assert np.array_equal(similarities(nodes, IRIS), before)
    assert not np.array_equal(similarities(known(model), IRIS), before)


def test_another_number_of_features_is_refused():
    for answer in (similarities, are_novel):
        with pytest.raises(ValueError, match="X has 3 features, but the model has 4"):
            answer(known(IDAT().fit(IRIS)), IRIS[:, :3])
