"""TBM-P against its worked example, its literal twin, and the published numbers of nodes and clusters."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import TBMP
from everclust.baselines.fuzzy_art.correlation import standardise
from everclust.baselines.fuzzy_art.fuzzy_art import complement_code
from everclust.baselines.fuzzy_art.tbm_p import CUSHION
from everclust.baselines.fuzzy_art.topo_art import learn_while_room
from everclust.baselines.fuzzy_art.topo_module import grow, n_prototypes, new_module
from everclust.baselines.graph.graph import edges
from everclust.baselines.parameters import published, space
from everclust.baselines.scaling import observed_bounds, rescale
from everclust.benchmark.run.settings import stationary
from oracles.baselines import tbm_p as oracle
from support.slow import examples_slow, others_slow

IRIS, SPECIES = load_iris(return_X_y=True)
SAFE_MARGIN = 1e-9  # closer decisions may fall either way: the mean correlation is added up differently


def expected_failures(estimator):
    return {
        "check_clustering": "the check's data have two features, each a group of its own: nothing correlates"
    }


@pytest.mark.slow
@parametrize_with_checks([TBMP()], expected_failed_checks=expected_failures)
def test_estimator_check(estimator, check):
    check(estimator)


# The worked example

EXAMPLE = [(1, 2, 8, 9), (2, 3, 9, 10), (1, 3, 9, 8), (9, 8, 2, 1), (10, 9, 3, 1), (8, 9, 1, 2)]
RULES = {"phi_a": 0, "phi_b": 0, "tau_a": 0.5, "tau_b": 0.5, "beta_sb_a": 0.5, "beta_sb_b": 0.5}


def test_worked_example():
    model = TBMP(rho_a=0.5, rho_b=0.6, eta=0.5, **RULES).fit(EXAMPLE)
    assert model.feature_labels_.tolist() == [0, 0, 1, 1]
    assert model.n_nodes_ == model.n_clusters_ == 4
    assert model.usage_.tolist() == [1, 2, 2, 1]
    assert model.edges_.tolist() == []
    assert model.labels_.tolist() == [0, 1, 1, 2, 2, 3]
    twin = oracle.TBMP(EXAMPLE, rho_a=0.5, rho_b=0.6, eta=0.5, **RULES)
    for i in range(6):
        twin.present(i)
    assert twin.b.labels == [0, 0, 1, 1]
    assert twin.label_rest() == [0, 1, 1, 2, 2, 3]


def test_rows_are_standardised_block_by_block():
    X = np.array([[1.0, 5.0, 3.0, 9.0], [4.0, 2.0, 4.0, 7.0]])
    rows, start = standardise(X, np.array([0, 1, 0, 2]))
    half = math.sqrt(0.5)
    assert rows == pytest.approx(np.array([[-half, half, 0, 0], [0, 0, 0, 0]]))
    assert start.tolist() == [0, 2, 3, 4]


def test_a_constant_row_correlates_with_nothing():
    X = np.full((1, 3), 0.1)
    assert X.mean() != 0.1  # so it is not by its deviations that it can be told
    assert standardise(X, np.zeros(3, np.int64))[0].tolist() == [[0, 0, 0]]


# In step with the literal twin


def textures(rng, n, d):
    """On a coarse grid that is exact when scaled (ties, duplicates), in blobs, or along lines."""
    kind = rng.integers(3)
    if kind == 0:
        X = rng.integers(0, 5, (n, d)) / 4.0
        X[0], X[1] = 0.0, 1.0
        return X[rng.permutation(n)]
    if kind == 1:
        return rng.normal(size=(4, d))[rng.integers(0, 4, n)] + 0.2 * rng.normal(size=(n, d))
    return rng.normal(size=(n, 1)) * rng.normal(size=d) + 0.1 * rng.normal(size=(n, d))


class Steps:
    """The samples' module, one sample after the other."""

    def __init__(self, params, X):
        model = TBMP(**params)
        scaled = rescale(X, observed_bounds(X), CUSHION)
        self.feature_labels = model._group_features(X)
        self.items, self.rules = complement_code(scaled), model._rules_a(len(X))
        self.rows, self.start = standardise(scaled, self.feature_labels)
        self.name = np.empty(len(X), np.int64)
        self.module = new_module(len(X), 2 * X.shape[1], X.shape[1])

    def present(self, i):
        seen = self.items[: i + 1]
        while learn_while_room(self.module, seen, self.rows, self.start, self.rules, self.name) <= i:
            self.module = grow(self.module)

    def weights(self):
        return self.module.weight[:, : n_prototypes(self.module)].T

    def usage(self):
        return self.module.usage[: n_prototypes(self.module)].tolist()

    def labels(self, i):
        alive = self.module.name[: n_prototypes(self.module)].tolist()
        return [alive.index(name) if name in alive else -1 for name in self.name[: i + 1]]


def draw_parameters(rng):
    """Anything that is allowed, and mostly what leaves something to see."""
    return {
        "rho_a": rng.choice([0.0, rng.uniform(0.3, 0.7), rng.uniform(0.6, 0.9)]),
        "rho_b": rng.choice([0.0, rng.uniform(0.2, 0.9)]),
        "beta_sb_a": rng.choice([0.0, 0.5, 1.0]),
        "beta_sb_b": rng.choice([0.0, 0.5, 1.0]),
        "phi_a": rng.choice([0.3, 0.7, 2.2]),
        "phi_b": rng.choice([0.0, 0.5, 1.0]),
        "tau_a": rng.uniform(0, 0.8),
        "tau_b": rng.uniform(0, 0.6),
        "eta": rng.choice([-1.5, -0.1234, 0.2137, 0.4321, 0.6543, 0.8765, 0.9731, 1.5]),
    }


@examples_slow(6, 50)
def test_lockstep(n_examples):
    drawn = given(seed=st.integers(0, 2**32 - 1), quirks=st.booleans())
    settings(max_examples=n_examples)(drawn(lockstep))()


def lockstep(seed, quirks):
    rng = np.random.default_rng(seed)
    X, params = textures(rng, int(rng.integers(2, 70)), int(rng.integers(1, 7))), draw_parameters(rng)
    twin, steps = oracle.TBMP(X, **params, quirks=quirks), Steps(params | {"reference_quirks": quirks}, X)
    assert steps.feature_labels.tolist() == twin.b.labels
    for i in range(len(X)):
        twin.present(i)
        assume(twin.margin > SAFE_MARGIN)
        steps.present(i)
        expected = np.array(twin.a.prototypes).reshape(-1, 2 * X.shape[1])
        assert steps.weights() == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert ((expected >= 0) & (expected <= 1)).all()
        assert steps.usage() == twin.a.counters
        assert steps.labels(i) == twin.a.labels
        assert edges(steps.module.graph)[0].tolist() == sorted(map(sorted, twin.a.edges))
    model = TBMP(**params, reference_quirks=quirks).fit(X)
    assert model.labels_.tolist() == twin.label_rest()
    assert model.n_clusters_ == len(set(twin.a.components()))
    assert model.node_labels_.tolist() == twin.a.components()
    assert model.usage_.tolist() == twin.a.counters
    expected = [model.node_labels_[twin.a.nearest(oracle.code(row))] for row in twin.F]
    assert model.predict(X).tolist() == expected


def literally(X, params, quirks=False):
    """The twin after all samples, and the most prototypes that it ever had."""
    twin, most = oracle.TBMP(X, **params, quirks=quirks), 0
    for i in range(len(X)):
        twin.present(i)
        most = max(most, len(twin.a.prototypes))
    return twin, most


MANY = RULES | {"rho_a": 0.95, "rho_b": 0.5, "phi_a": 1.0, "tau_a": 0.8, "eta": 0.99}
FEW = RULES | {"rho_a": 0.5, "rho_b": 0.0, "phi_a": 1.0, "eta": 0.8}


@pytest.mark.parametrize(
    ("params", "seed", "quirks"),
    [(MANY, 1, False), (FEW, 13, False), (FEW, 13, True)],
    ids=["more than there is room for at first", "few", "few, with the oldest joined"],
)
def test_iris_is_literally_the_same(params, seed, quirks):
    X = IRIS[stationary(IRIS, SPECIES, seed)]
    twin, most = literally(X, params, quirks)
    model = TBMP(**params, reference_quirks=quirks).fit(X)
    assert model.labels_.tolist() == twin.label_rest()
    assert model.weights_ == pytest.approx(np.array(twin.a.prototypes), rel=1e-12)
    assert model.edges_.tolist() == sorted(map(sorted, twin.a.edges))
    assert len(model.edges_) > 0
    assert most > 64 or params is FEW


def test_the_reference_may_join_the_oldest():
    X = IRIS[stationary(IRIS, SPECIES, 13)]
    plain, quirky = (TBMP(**FEW, reference_quirks=quirks).fit(X) for quirks in (False, True))
    assert [edge for edge in quirky.edges_.tolist() if edge not in plain.edges_.tolist()] == [[0, 8]]
    assert (plain.n_clusters_, quirky.n_clusters_) == (3, 2)


# What must be so


def test_when_nothing_can_correlate_only_duplicates_share_a_prototype():
    X = np.round(IRIS, 0)
    model = TBMP(rho_a=0.3, tau_a=0.0, eta=1.5).fit(X)
    assert model.n_nodes_ == model.n_clusters_ == len(np.unique(X, axis=0))
    assert (np.sort(model.usage_) == np.sort(np.unique(X, axis=0, return_counts=True)[1])).all()


def test_when_everything_correlates_it_is_topo_art():
    X = IRIS[::3]
    model = TBMP(rho_a=0.8, beta_sb_a=0.5, phi_a=1, tau_a=0.2, eta=-1.5).fit(X)
    module = oracle.TopoART(0.8, 0.5, 1, 10)
    items = complement_code(rescale(X, observed_bounds(X), CUSHION)).tolist()
    for item in items:
        module.present(item)
    module.label_rest(items)
    assert model.weights_ == pytest.approx(np.array(module.prototypes), rel=1e-12)
    assert model.labels_.tolist() == [module.components()[k] for k in module.labels]
    assert len(module.edges) > 0


def test_with_all_features_in_one_group_their_order_means_nothing():
    params = {"rho_b": 0.0, "phi_b": 0, "rho_a": 0.5, "eta": 0.4321}
    X = np.random.default_rng(0).integers(0, 9, (300, 6)) / 8.0
    model = TBMP(**params).fit(X)
    other = TBMP(**params).fit(X[:, [3, 1, 5, 0, 4, 2]])
    assert set(model.feature_labels_) == set(other.feature_labels_) == {0}
    assert 3 < model.n_nodes_ == other.n_nodes_
    assert model.labels_.tolist() == other.labels_.tolist()


def test_when_all_prototypes_are_deleted_one_of_ones_is_left():
    model = TBMP(rho_a=1.0, phi_a=5, tau_a=0.5).fit(np.random.default_rng(0).random((40, 3)))
    assert model.n_nodes_ == model.n_clusters_ == 1
    assert (model.weights_ == 1).all()
    assert (model.labels_ == 0).all()


# Contract


def everything(model):
    names = ("labels_", "node_labels_", "usage_", "edges_", "weights_", "feature_labels_", "bounds_")
    return [np.asarray(getattr(model, name)).tolist() for name in names] + [model.n_features_in_]


def test_predict_takes_new_rows():
    model = TBMP().fit(IRIS)
    assert adjusted_rand_score(SPECIES, model.predict(IRIS)) > 0.5
    clipped = np.clip(IRIS * 3 - 5, IRIS.min(axis=0), IRIS.max(axis=0))
    assert model.predict(IRIS * 3 - 5).tolist() == model.predict(clipped).tolist()
    with pytest.raises(NotFittedError):
        TBMP().predict(IRIS)


def test_it_is_a_batch_method():
    assert not hasattr(TBMP(), "partial_fit")


def test_twice_is_the_same_and_copies_agree():
    model = TBMP().fit(IRIS)
    assert everything(TBMP().fit(IRIS)) == everything(model)
    assert everything(pickle.loads(pickle.dumps(model))) == everything(model)


@pytest.mark.parametrize(
    "bad",
    [
        np.full((3, 4), np.nan),
        np.full((3, 4), np.inf),
        np.full((3, 4), 1e200),
        np.zeros((0, 4)),
        np.zeros(4),
        np.zeros((3, 4), complex),
        [["a", "b", "c", "d"]],
    ],
)
def test_bad_input_changes_nothing(bad):
    model = TBMP().fit(IRIS)
    before = everything(model)
    for verb in (model.fit, model.predict):
        with pytest.raises(ValueError):  # noqa: PT011 - scikit-learn's own words
            verb(bad)
        assert everything(model) == before
    with pytest.raises(ValueError, match="5 features"):
        model.predict(np.zeros((3, 5)))


@pytest.mark.parametrize(
    "params",
    [{"rho_a": 1.1}, {"beta_sb_b": -0.1}, {"phi_a": -1}, {"tau_b": 2.0}, {"eta": "high"}, {"eta": np.nan}],
)
def test_bad_parameters_are_refused(params):
    model = TBMP().fit(IRIS)
    before = everything(model)
    with pytest.raises(ValueError, match=next(iter(params))):
        model.set_params(**params).fit(IRIS[:20, :2])
    assert everything(model) == before


# Published parameters


def test_parameters_of_the_paper():
    assert space("tbm-p").keys() <= TBMP().get_params().keys()
    assert space("tbm-p")["rho_a"] == (0.0, 0.95)
    found = published("tbm-p", "stationary", "letter")
    assert list(found.values()) == [0.946, 0.753, 3.679, 0.211, 0.564, 0.719, 2.589, 0.257, 0.949]
    assert list(found) == list(space("tbm-p"))
    assert published("tbm-p", "nonstationary", "iris") is None


PUBLISHED = [
    ("seeds", 30, (4.6, 1.0), (3.7, 0.9)),
    ("pima", 30, (7.5, 0.6), (7.5, 0.6)),
    ("yeast", 10, (47.7, 2.7), (34.6, 4.3)),
    ("image_segmentation", 10, (85.8, 4.8), (25.1, 4.4)),
    ("phoneme", 5, (427.5, 11.0), (134.8, 12.5)),
    ("optdigits", 3, (201.1, 4.5), (146.7, 7.1)),
    ("statlog", 3, (133.3, 3.2), (110.2, 6.2)),
]


@pytest.mark.parametrize(("name", "n_runs", "nodes", "clusters"), others_slow(PUBLISHED, now=PUBLISHED[:2]))
def test_published_numbers_of_nodes_and_clusters(name, n_runs, nodes, clusters, data_set):
    """Within two of the published standard deviations."""
    X, found = data_set(name), []
    for seed in range(1, n_runs + 1):
        model = TBMP(**published("tbm-p", "stationary", name)).fit(X[stationary(X, X[:, 0], seed)])
        found.append((model.n_nodes_, model.n_clusters_))
    for mean, (expected, deviation) in zip(np.mean(found, axis=0), (nodes, clusters), strict=True):
        assert mean == pytest.approx(expected, abs=2 * deviation)
