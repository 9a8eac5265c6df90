"""DDVFA against its worked example, its slow twin, and Fuzzy ART, of which it is made."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import DDVFA
from everclust.baselines.parameters import published, space
from everclust.benchmark.run.settings import class_incremental, stationary
from oracles.baselines import ddvfa as oracle
from support.slow import others_slow

IRIS, SPECIES = load_iris(return_X_y=True)
UNIT = (0.0, 1.0)
LINKAGES = ["single", "complete", "average", "median", "weighted", "centroid"]


@pytest.mark.slow
@parametrize_with_checks([DDVFA(), DDVFA(linkage="median", reference_quirks=True)])
def test_estimator_check(estimator, check):
    check(estimator)


def everything(model):
    """All that a model knows, to the bit."""
    arrays = [model.weights_, model.node_labels_, model.usage_, *model.bounds_]
    counts = [model.n_samples_seen_, model.n_nodes_, model.n_clusters_, model.n_features_in_]
    return counts, [a.tolist() for a in arrays], np.asarray(getattr(model, "labels_", [])).tolist()


# The worked example

EXAMPLE = [(0.2, 0.2), (0.22, 0.2), (0.3, 0.25), (0.8, 0.8), (0.75, 0.8)]
LOOKS = [  # T and M/d of every category, before the sample is learnt
    [],
    [(0.968845, 0.968845)],
    [(0.814445, 0.806301)],
    [(0.065859, 0.065201), (0.107011, 0.107011)],
    [(0.078996, 0.078206), (0.124813, 0.124813), (0.925470, 0.925470)],
]


def test_worked_example():
    model = DDVFA(rho_lower=0.7, rho_upper=0.9, bounds=UNIT)
    twin = oracle.DDVFA(rho_lower=0.7, rho_upper=0.9)
    for x, look in zip(EXAMPLE, LOOKS, strict=True):
        pairs = [twin.choice_and_match(oracle.code(x), weight) for weight in twin.weights]
        assert [(T, M / 2) for T, M in pairs] == [pytest.approx(pair, abs=1e-6) for pair in look]
        twin.learn(x)
        model.partial_fit([x])
    expected = [(0.2, 0.2, 0.78, 0.8), (0.3, 0.25, 0.7, 0.75), (0.75, 0.8, 0.2, 0.2)]
    assert model.weights_ == pytest.approx(np.array(expected), abs=1e-15)
    assert model.node_labels_.tolist() == [0, 0, 1]
    assert model.usage_.tolist() == [2, 1, 2]
    assert model.predict([[0.1, 0.1], [0.9, 0.9], [0.31, 0.25]]).tolist() == [0, 1, 0]


# In step with the slow twin


def textures(rng, n, d):
    """Samples in [0, 1]: on a coarse grid (ties, duplicates), in blobs, or anywhere."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(0, 5, (n, d)) / 4.0
    if kind == 1:
        centre = rng.random((4, d))
        return np.clip(centre[rng.integers(0, 4, n)] + 0.05 * rng.normal(size=(n, d)), 0.0, 1.0)
    return rng.random((n, d))


def check_invariants(weights, before, d):
    assert ((weights >= 0) & (weights <= 1)).all()
    assert (weights[: len(before)] <= before).all()  # no weight ever grows
    assert (weights.sum(axis=1) <= d + 1e-12).all()
    assert (weights[:, :d] + weights[:, d:] <= 1 + 1e-15).all()


def draw_parameters(rng):
    """Anything that is allowed, and mostly what gives clusters with several categories."""
    return {
        "rho_lower": rng.choice([rng.uniform(0.3, 0.99), rng.uniform(0.3, 0.7), rng.uniform(0.3, 0.7)]),
        "rho_upper": rng.choice([rng.uniform(0.3, 0.99), rng.uniform(0.7, 0.99)]),
        "beta": rng.choice([1.0, 1.0, 0.9, 0.5]),
        "gamma": rng.choice([rng.uniform(0.5, 5), rng.uniform(0.5, 2)]),
        "gamma_ref": rng.uniform(0.5, 5),
        "max_nodes": int(rng.choice([1, 7, 2000, 2000, 2000])),
    }


@pytest.mark.parametrize("linkage", others_slow(LINKAGES, now=["median"]))
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), quirks=st.booleans())
def test_lockstep(linkage, seed, quirks):
    rng = np.random.default_rng(seed)
    X = textures(rng, 40, int(rng.integers(1, 5)))
    params = draw_parameters(rng) | {"linkage": linkage, "reference_quirks": quirks}
    twin, model = oracle.DDVFA(**params), DDVFA(**params, bounds=UNIT)
    before = np.empty((0, 2 * X.shape[1]))
    given = []
    for x in X:
        given.append(twin.learn(x))
        model.partial_fit([x])
        assert model.weights_ == pytest.approx(np.array(twin.weights), rel=1e-12, abs=1e-15)
        assert model.node_labels_.tolist() == twin.owner
        assert model.usage_.tolist() == twin.usage
        check_invariants(model.weights_, before, X.shape[1])
        before = model.weights_
    assert model.fit(X).labels_.tolist() == given
    for strict in (False, True):
        assert model.predict(X, strict=strict).tolist() == [twin.predict(x, strict) for x in X]


def test_the_model_grows_beyond_its_first_room():
    X = np.random.default_rng(0).random((300, 3))
    twin = oracle.DDVFA(rho_lower=0.8, rho_upper=0.97)
    given = [twin.learn(x) for x in X]
    model = DDVFA(rho_lower=0.8, rho_upper=0.97, bounds=UNIT).fit(X)
    assert model.n_nodes_ == len(twin.weights) > 2 * 80
    assert model.weights_ == pytest.approx(np.array(twin.weights), rel=1e-12)
    assert model.labels_.tolist() == given


# The limit of plain Fuzzy ART

FUZZY_ART = {"alpha": 1e-7, "gamma": 1.0, "gamma_ref": 1.0, "bounds": UNIT}


@pytest.mark.parametrize("rho", [0.5, 0.7, 0.9])
def test_with_equal_vigilances_it_is_fuzzy_art(rho):
    X = np.random.default_rng(1).random((150, 3))
    model = DDVFA(rho_lower=rho, rho_upper=rho, **FUZZY_ART).fit(X)
    labels, weights = oracle.plain_fuzzy_art(X, rho)
    assert model.n_nodes_ == model.n_clusters_ == len(weights)
    assert model.labels_.tolist() == labels
    assert model.weights_ == pytest.approx(np.array(weights), abs=1e-12)


@pytest.mark.parametrize("rho", [0.5, 0.7, 0.9])
def test_with_equal_vigilances_it_is_the_fuzzy_art_of_artlib(rho):
    artlib = pytest.importorskip("artlib", reason="artlib is not installed")
    X = np.random.default_rng(2).random((150, 3))
    other = artlib.FuzzyART(rho, 1e-7, 1.0)
    other.fit(np.hstack([X, 1.0 - X]))
    model = DDVFA(rho_lower=rho, rho_upper=rho, **FUZZY_ART).fit(X)
    assert model.labels_.tolist() == other.labels_.tolist()
    assert model.weights_ == pytest.approx(np.array(other.W), abs=1e-12)


def test_an_upper_vigilance_below_the_lower_one_never_adds_to_a_cluster():
    model = DDVFA(rho_lower=0.8, rho_upper=0.6).fit(IRIS)
    assert model.n_nodes_ == model.n_clusters_ > 3


def test_the_reference_lets_the_oldest_cluster_win():
    X = [(0.0, 0.0), (1.0, 1.0), (0.6, 0.6)]  # the third is nearer to the second, but both would take it
    rules = {"rho_lower": 0.0, "rho_upper": 0.99, "bounds": UNIT}
    params = {"rho_lower": 0.3, "rho_upper": 0.99, "gamma": 1.0, "bounds": UNIT}
    assert DDVFA(**params).fit(X).labels_.tolist() == [0, 1, 1]
    assert DDVFA(**params, reference_quirks=True).fit(X).labels_.tolist() == [0, 1, 0]
    assert DDVFA(**rules).fit(X).n_clusters_ == 1


# The cap


def test_at_the_cap_nothing_changes_that_needs_a_category():
    X = 0.5 + 0.5 * np.random.default_rng(3).random((200, 2))
    full = DDVFA(rho_lower=0.8, rho_upper=0.98, max_nodes=20, bounds=UNIT).fit(X)
    assert full.n_nodes_ == 20
    twin = oracle.DDVFA(rho_lower=0.8, rho_upper=0.98, max_nodes=20)
    assert full.labels_.tolist() == [twin.learn(x) for x in X]
    before = everything(full)[1]
    assert full.usage_.sum() < 200 == full.n_samples_seen_
    far = [[0.0, 0.0]]
    assert full.predict(far, strict=True).tolist() == [-1]
    assert everything(full.partial_fit(far))[1] == before
    more = DDVFA(rho_lower=0.8, rho_upper=0.98, max_nodes=None, bounds=UNIT).fit(X)
    assert more.n_nodes_ > 20
    assert more.usage_.sum() == 200


# Scaling of the stream


def test_the_first_batch_fixes_the_bounds():
    model = DDVFA().partial_fit(IRIS[:75])
    low, high = model.bounds_
    assert (low == IRIS[:75].min(axis=0)).all()
    assert (high == IRIS[:75].max(axis=0)).all()
    model.partial_fit(IRIS[75:])
    assert model.bounds_[1].tolist() == high.tolist()
    twin = oracle.DDVFA()
    for x in np.clip((IRIS - low) / (high - low), 0.0, 1.0):
        twin.learn(x)
    assert model.weights_ == pytest.approx(np.array(twin.weights), abs=1e-12)


def test_bounds_in_advance_are_those_of_all_rows():
    model = DDVFA(bounds=(IRIS.min(axis=0), IRIS.max(axis=0)))
    assert everything(model.fit(IRIS)) == everything(DDVFA().fit(IRIS))


def test_a_constant_feature_is_worth_nothing():
    X = np.column_stack([IRIS, np.full(150, 7.0)])
    model = DDVFA().fit(X)
    assert (model.weights_[:, 4] == 0).all()
    assert (model.weights_[:, 9] == 1).all()


def test_a_stream_that_begins_with_one_row_needs_bounds():
    model = DDVFA()
    with pytest.raises(ValueError, match=r"n_samples=1; .*bounds=\(minima, maxima\)"):
        model.partial_fit(IRIS[:1])
    with pytest.raises(NotFittedError):
        model.predict(IRIS)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("bounds", "complaint"),
    [
        ((0.0, 1.0, 2.0), "each a number or 4 of them"),
        (([0.0] * 3, [1.0] * 3), "each a number or 4 of them"),
        (("a", "b"), "each a number or 4 of them"),
        (3.0, "each a number or 4 of them"),
        ((0.0, np.nan), "numbers between"),
        ((-np.inf, 0.0), "numbers between"),
        (([0, 0, 9, 0], [8, 8, 8, 8]), "feature 2 has minimum 9 > maximum 8"),
    ],
)
def test_bounds_that_make_no_sense(bounds, complaint):
    model = DDVFA().fit(IRIS[:, :3])
    before = everything(model)
    with pytest.raises(ValueError, match=complaint):
        model.set_params(bounds=bounds).fit(IRIS)
    assert everything(model) == before
    with pytest.raises(ValueError, match=complaint):
        DDVFA(bounds=bounds).partial_fit(IRIS)


@settings(max_examples=20)
@given(cuts=st.lists(st.integers(1, 149), max_size=8, unique=True).map(sorted))
def test_batches_cut_anyhow_give_the_same_model(cuts):
    model = DDVFA(beta=0.7, bounds=(IRIS.min(axis=0), IRIS.max(axis=0)))
    for part in np.split(IRIS, cuts):
        model.partial_fit(part)
    whole = DDVFA(beta=0.7).fit(IRIS)
    assert everything(model)[:2] == everything(whole)[:2]
    assert not hasattr(model, "labels_")


def test_long_input_is_coded_in_pieces(monkeypatch):
    whole = DDVFA().fit(IRIS)
    monkeypatch.setattr("everclust.baselines.fuzzy_art.ddvfa.AT_ONCE", 41)
    assert everything(DDVFA().fit(IRIS)) == everything(whole)
    assert whole.predict(IRIS).tolist() == DDVFA().fit(IRIS).predict(IRIS).tolist()


# Contract


@pytest.mark.parametrize(
    "bad",
    [
        np.full((3, 4), np.nan),
        np.full((3, 4), np.inf),
        np.full((3, 4), 1e200),
        np.zeros((3, 5)),
        np.zeros((0, 4)),
        np.zeros(4),
        np.zeros((3, 4), complex),
        [["a", "b", "c", "d"]],
    ],
)
def test_bad_input_changes_nothing(bad):
    model = DDVFA().fit(IRIS)
    before = everything(model)
    for verb in (model.partial_fit, model.predict):
        with pytest.raises(ValueError):  # noqa: PT011 - scikit-learn's own words
            verb(bad)
        assert everything(model) == before
    if np.shape(bad) != (3, 5):
        with pytest.raises(ValueError):  # noqa: PT011
            model.fit(bad)
        assert everything(model) == before


@pytest.mark.parametrize(
    "params",
    [
        {"rho_lower": 1.1},
        {"rho_upper": -0.1},
        {"alpha": 0.0},
        {"beta": 0.0},
        {"gamma": 0.0},
        {"gamma_ref": -1.0},
        {"linkage": "ward"},
        {"max_nodes": 0},
    ],
)
def test_bad_parameters_are_refused(params):
    model = DDVFA().fit(IRIS)
    before = everything(model)
    model.set_params(**params)
    for verb in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=next(iter(params))):
            verb(IRIS)
        assert everything(model) == before


def test_copies_go_their_own_way():
    model = DDVFA().fit(IRIS[::2])
    before = everything(model)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert everything(twin.partial_fit(IRIS)) != before
    assert everything(model) == before
    assert everything(DDVFA().fit(IRIS[::2])) == before


def test_a_model_mapped_from_a_file_goes_on_learning(tmp_path):
    joblib.dump(DDVFA().fit(IRIS), tmp_path / "model")
    twin = joblib.load(tmp_path / "model", mmap_mode="r")
    assert everything(twin.partial_fit(IRIS))[:2] == everything(DDVFA().fit(IRIS).partial_fit(IRIS))[:2]


# Published parameters


def test_parameters_of_the_paper():
    assert space("ddvfa").keys() <= DDVFA().get_params().keys()
    assert space("ddvfa")["alpha"] == (1e-4, 0.1, "log")
    found = published("ddvfa", "nonstationary", "letter")
    assert list(found.values()) == [0.529, 0.535, 0.037, 0.557, 4.891, 0.612]
    assert published("ddvfa", "stationary", "skin") is None


def runs_on_iris(**params):
    """Mean numbers of clusters and categories, mean ARI, over 30 shuffles."""
    found = []
    for seed in range(1, 31):
        model = DDVFA(**params).fit(IRIS[stationary(IRIS, SPECIES, seed)])
        score = adjusted_rand_score(SPECIES, model.predict(IRIS))
        found.append((model.n_clusters_, model.n_nodes_, score))
    return np.mean(found, axis=0)


def test_iris_as_often_as_not():
    """Figures of the first port; the published 2.2 (0.5) clusters could not be had from the article."""
    clusters, _, score = runs_on_iris(**published("ddvfa", "stationary", "iris"))
    assert clusters == pytest.approx(3.0, abs=0.5)
    assert score == pytest.approx(0.603, abs=0.05)
    clusters, nodes, score = runs_on_iris(rho_lower=0.6, rho_upper=0.75)
    assert clusters == pytest.approx(4.3, abs=0.5)
    assert nodes == pytest.approx(21.3, abs=1.0)
    assert score == pytest.approx(0.596, abs=0.05)


def test_class_after_class_with_bounds_in_advance():
    model = DDVFA(rho_lower=0.6, rho_upper=0.75, bounds=(IRIS.min(axis=0), IRIS.max(axis=0)))
    for step in class_incremental(IRIS, SPECIES, seed=1):
        model.partial_fit(IRIS[step])
    assert model.n_samples_seen_ == 150
    assert adjusted_rand_score(SPECIES, model.predict(IRIS)) > 0.5
