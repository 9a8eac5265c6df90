"""Torque clustering: the worked example, the slow twin, invariants, and the published numbers of clusters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import TorqueClustering, memory
from everclust.baselines.torque.neighbours import distinct
from oracles.baselines import torque_clustering as oracle
from support.contracts.batch import BAD, refuses, refuses_other_width, refuses_sparse_input
from support.slow import others_slow

ALGORITHMS = ("dense", "low_memory")
PUBLISHED = {  # with the rows as they are in the file
    "iris": 2,
    "seeds": 7,
    "dermatology": 10,
    "binalpha": 327,
    "semeion": 347,
    "image_segmentation": 2,
    "rice": 25,
    "phoneme": 37,
    "texture": 11,
    "optdigits": 10,
    "statlog": 22,
    "anuran_calls": 5,
    "penbased": 12,
}


@pytest.mark.slow
@parametrize_with_checks([TorqueClustering(), TorqueClustering(algorithm="low_memory")])
def test_estimator_check(estimator, check):
    check(estimator)


SMALL = ("iris", "seeds", "dermatology", "binalpha", "semeion")


@pytest.mark.parametrize("name", others_slow(PUBLISHED, now=SMALL))
def test_published_number_of_clusters(name, data_set):
    assert TorqueClustering().fit(data_set(name)).n_clusters_ == PUBLISHED[name]


def normal(seed, n=60, d=3):
    return np.random.RandomState(seed).normal(size=(n, d))


def blobs(seed):
    random = np.random.RandomState(seed)
    return np.concatenate([random.normal(centre, 0.3, (40, 2)) for centre in ((0, 0), (5, 0), (0, 6))])


def same(model, other):
    """To the bit."""
    return (
        model.labels_.tobytes() == other.labels_.tobytes()
        and model.connections_.tobytes() == other.connections_.tobytes()
        and model.n_cut_ == other.n_cut_
    )


# The worked example


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_by_hand(algorithm):
    X = np.array([0, 1, 2.2, 10, 11.1, 12.4, 30, 31.5])[:, None]
    model = TorqueClustering(algorithm=algorithm).fit(X)
    found = model.connections_
    assert np.allclose(found["torque"], [1858.56, 547.56, 2.25, 1.69, 1.44, 1.21, 1.0])
    assert found["layer"].tolist() == [2, 2, 1, 1, 1, 1, 1]
    assert found[["a", "b", "mass_a", "mass_b"]].tolist()[:3] == [(5, 6, 3, 2), (2, 3, 3, 3), (6, 7, 1, 1)]
    assert np.allclose(found["distance"][:2], [17.6, 7.8])
    # Gaps 3.394 and 243.36; none has all of R ≥ 185.30, M ≥ 7.5 and τ ≥ 1203.06, so they count as they are.
    assert (model.n_cut_, model.n_clusters_, model.n_nodes_) == (2, 3, 8)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert model.predict([[2.9], [-5], [20], [40]]).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_three_blobs(seed):
    assert TorqueClustering().fit(blobs(seed)).labels_.tolist() == [0] * 40 + [1] * 40 + [2] * 40


# The slow twin

grids = st.integers(1, 24).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=n, max_size=n)
)
matrices = st.integers(2, 9).flatmap(lambda n: st.lists(st.integers(0, 4), min_size=n * n, max_size=n * n))


def agrees(model, D, n_clusters=None):
    label, ordered, cut = oracle.cluster(D, n_clusters)
    fields = ["layer", "a", "b", "mass_a", "mass_b", "distance"]
    assert model.connections_[fields].tolist() == ordered
    assert (model.labels_.tolist(), model.n_cut_) == (label, cut)


@given(grids)
def test_twin_on_grids_full_of_ties(rows):
    X = np.array(rows, float)
    for algorithm in ALGORITHMS:
        agrees(TorqueClustering(algorithm=algorithm).fit(X), oracle.euclidean(X.tolist()))


@given(matrices)
def test_twin_on_any_matrix(numbers):
    n = math.isqrt(len(numbers))
    D = np.array(numbers, float).reshape(n, n)
    D = np.maximum(D, D.T)
    agrees(TorqueClustering(metric="precomputed").fit(D), D.tolist())


@given(grids, st.integers(1, 24))
def test_twin_with_a_given_number_of_clusters(rows, k):
    X = np.array(rows, float)
    k = min(k, len(X))
    for algorithm in ALGORITHMS:
        model = TorqueClustering(n_clusters=k, algorithm=algorithm).fit(X)
        agrees(model, oracle.euclidean(X.tolist()), k)


@pytest.mark.parametrize("seed", range(10))
def test_twin_on_numbers_without_ties(seed):
    X = normal(seed)
    label, ordered, cut = oracle.cluster(oracle.euclidean(X.tolist()))
    model = TorqueClustering().fit(X)
    assert (model.labels_.tolist(), model.n_cut_) == (label, cut)
    assert np.allclose(model.connections_["distance"], [c[-1] for c in ordered], rtol=1e-13)


# Invariants


@pytest.mark.parametrize("seed", range(5))
def test_invariants(seed):
    X = normal(seed, 200)
    model = TorqueClustering().fit(X)
    found = model.connections_
    assert len(found) == len(X) - 1
    assert model.n_clusters_ == model.n_cut_ + 1
    assert np.array_equal(np.unique(model.labels_), np.arange(model.n_clusters_))
    assert np.all(np.diff(found["torque"]) <= 0)
    assert np.isclose(found["distance"].sum(), minimum_spanning_tree(cdist(X, X)).sum())  # is one


@pytest.mark.parametrize("n", [7, 63, 64, 65, 300])
def test_algorithms_are_the_same_to_the_bit(n):
    X = np.random.RandomState(n).randint(0, 8, (n, 3)).astype(float)  # ties and equal rows
    assert same(TorqueClustering().fit(X), TorqueClustering(algorithm="low_memory").fit(X))


def test_two_runs_are_the_same_to_the_bit():
    X = normal(0, 300)
    assert same(TorqueClustering().fit(X), TorqueClustering().fit(X))


@pytest.mark.parametrize(
    "change",
    [
        lambda X: 3.7 * X,
        lambda X: X + np.array([5, -7, 11]),
        lambda X: X @ np.linalg.qr(normal(99, 3))[0],
        lambda X: X[:, ::-1],
    ],
    ids=["scaling", "translation", "rotation", "reflection"],
)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_depends_on_units_and_axes(change, seed):
    X = normal(seed, 150)
    assert np.array_equal(TorqueClustering().fit_predict(X), TorqueClustering().fit_predict(change(X)))


@pytest.mark.parametrize("seed", range(3))
def test_order_of_rows_does_not_matter_without_ties(seed):
    X = normal(seed, 150)
    order = np.random.RandomState(seed).permutation(len(X))
    labels, shuffled = TorqueClustering().fit_predict(X), TorqueClustering().fit_predict(X[order])
    assert adjusted_rand_score(labels[order], shuffled) == 1


def test_partitions_are_nested():
    X = normal(1, 40)
    finer = np.arange(40)
    for k in range(40, 0, -1):
        model = TorqueClustering(n_clusters=k).fit(X)
        assert model.n_clusters_ == k == len(np.unique(model.labels_))
        assert len(np.unique(np.stack([finer, model.labels_]), axis=1).T) == len(np.unique(finer))
        finer = model.labels_


def test_equal_rows_stay_together_and_are_predicted():
    X = np.random.RandomState(0).randint(0, 5, (200, 3)).astype(float)
    model = TorqueClustering().fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    first, group = distinct(X)
    assert np.array_equal(X[first][group], X)
    assert np.array_equal(model.labels_[first][group], model.labels_)


def test_minus_zero_is_zero():
    assert distinct(np.array([[0.0, 1.0], [-0.0, 1.0]]))[1].tolist() == [0, 0]


@pytest.mark.parametrize("X", [[[3.0, 4.0]], [[1.0], [2.0]], [[5.0]] * 7], ids=["one", "two", "equal"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nothing_to_tell_apart(X, algorithm):
    model = TorqueClustering(algorithm=algorithm).fit(X)
    assert (model.n_clusters_, model.n_cut_, set(model.labels_.tolist())) == (1, 0, {0})


# Metrics


def test_precomputed():
    X = blobs(0)
    D = cdist(X, X)
    D += np.diag(np.full(len(X), 7.0))  # only what is off the diagonal counts
    model = TorqueClustering(metric="precomputed").fit(D)
    assert np.array_equal(model.labels_, TorqueClustering().fit_predict(X))
    assert model.predict(cdist([[0, 0], [5, 0], [0, 6]], X)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_cosine(seed, algorithm):
    X = normal(seed, 150)
    model = TorqueClustering(metric="cosine", algorithm=algorithm).fit(X)
    expected = TorqueClustering(metric="precomputed").fit(cdist(X, X, "cosine"))
    assert np.array_equal(model.labels_, expected.labels_)
    assert np.allclose(model.connections_["distance"], expected.connections_["distance"])
    assert np.array_equal(model.predict(1e-200 * X), model.labels_)


def test_cosine_needs_directions():
    with pytest.raises(ValueError, match="Row 1 of X is zero"):
        TorqueClustering(metric="cosine").fit([[1.0, 2.0], [0.0, 0.0]])


# What is refused, and that it changes nothing

FEW = {"few": ([[1.0, 2.0]], "n_samples=1 should be >= n_clusters=2")}


@pytest.mark.parametrize(("rows", "message"), (BAD | FEW).values(), ids=BAD | FEW)
def test_bad_input_changes_nothing(rows, message):
    refuses(TorqueClustering(n_clusters=2), rows, message)


def test_sparse_input_is_refused():
    refuses_sparse_input(TorqueClustering())


def test_other_width_is_refused():
    refuses_other_width(TorqueClustering())


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.zeros((2, 3)), "square"),
        ([[0, 1], [2, 0]], "symmetric"),
        ([[0, -1], [-1, 0]], "negative"),
    ],
)
def test_other_matrices_are_refused(D, message):
    with pytest.raises(ValueError, match=message):
        TorqueClustering(metric="precomputed").fit(D)


@pytest.mark.parametrize("bad", [{"n_clusters": 0}, {"metric": "l1"}, {"algorithm": "mst"}])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        TorqueClustering(**bad).fit([[1.0], [2.0]])


def test_too_many_samples_are_refused_before_anything_is_allocated(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 200_000)
    small, large = normal(0, 150), normal(0, 160)
    model = TorqueClustering().fit(small)
    before = dict(vars(model))
    monkeypatch.setattr("everclust.baselines.torque.torque_clustering.distance_matrix", None)
    with pytest.raises(MemoryError, match=r"between 160 samples would take 0\.00 GB .*low_memory"):
        model.fit(large)
    assert vars(model) == before
    assert TorqueClustering(algorithm="low_memory").fit(large).n_nodes_ == 160


def test_a_million_samples_do_not_fit():
    with pytest.raises(MemoryError, match=r"between 1000000 samples would take 8000\.00 GB of memory"):
        TorqueClustering().fit(np.zeros((1_000_000, 1)))
