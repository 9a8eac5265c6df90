"""SR-PCM-HDP: steps worked out by hand, the slow twin, invariants, and how it behaves on known data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import SRPCMHDP, memory
from everclust.baselines.distances import distances, points
from everclust.baselines.parameters import published
from everclust.baselines.possibilistic import c_means as p
from everclust.baselines.possibilistic.density_peaks import dense_points, densities, separations
from oracles.baselines import sr_pcm_hdp as oracle
from support.contracts.batch import BAD, refuses, refuses_other_width, refuses_sparse_input
from support.slow import others_slow


@pytest.mark.slow
@parametrize_with_checks([SRPCMHDP()])
def test_estimator_check(estimator, check):
    check(estimator)


def blobs(seed, n=40):
    random = np.random.RandomState(seed)
    return np.concatenate([random.normal(centre, 0.3, (n, 2)) for centre in ((0, 0), (5, 0), (0, 6))])


def column(*numbers):
    return np.array(numbers, float)[:, None]


# Worked out by hand


def test_dense_points_by_hand():
    X = column(0, 1, 2, 10, 11.5)  # K = 2
    density = densities(X)
    assert np.allclose(density, [2 / 3, 1, 2 / 3, 2 / 9.5, 2 / 11])
    assert np.allclose(separations(X, density), [1, 10.5, 1, 8, 1.5])
    assert dense_points(X, 2).tolist() == [1, 3]  # products .667, 10.5, .667, 1.684, .273


def test_an_iteration_by_hand():
    X, clusters = column(0, 1, 10, 11), p.Clusters(column(0.5, 10.5), np.array([0.5, 0.5]), 0.5)
    membership = p.memberships(distances(clusters.centre, points(X)), clusters, alpha=1.0)
    assert np.allclose(membership, math.exp(-1) * np.array([[1, 1, 0, 0], [0, 0, 1, 1]]))
    pull = p.Pull(column(0, 10), 1.0)
    share = p.shares(distances(clusters.centre, points(pull.goal)))
    assert np.allclose(share, [[0.99774, 0.00276], [0.00226, 0.99724]], atol=5e-6)
    assert np.allclose(p.attract(X, membership, pull, clusters.centre)[:, 0], [0.22779, 10.19896], atol=5e-6)


def test_what_hits_a_point_has_all_of_it():
    # Centres 0, 0, 3 and points 0, 1: the first is shared by two, the second by 1 : 1 : 1/4.
    assert np.allclose(
        p.shares(np.array([[0.0, 1], [0, 1], [3, 2]])), [[0.5, 4 / 9], [0.5, 4 / 9], [0, 1 / 9]]
    )
    assert np.allclose(p.shares(np.array([[1e-200], [2e-200]])), [[0.8], [0.2]])


def test_quirk_of_the_reference():
    away = np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, 1]])  # two of three centres hit
    right = [[1, 0, 1 / 3], [0, 1, 1 / 3], [0, 0, 1 / 3]]
    block = [[1, 1, 1 / 3], [1, 1, 1 / 3], [0, 0, 1 / 3]]
    assert np.allclose(p.fuzzy_memberships(away, reference_quirks=False), right)
    assert np.allclose(p.fuzzy_memberships(away, reference_quirks=True), block)


def test_clusters_without_width_have_no_members():
    clusters = p.Clusters(column(0, 1), np.array([0.0, 1.0]), 0.5)
    membership = p.memberships(distances(clusters.centre, points(column(0, 1))), clusters, alpha=1.0)
    assert np.allclose(membership, [[0, 0], [math.exp(-2), 1]])


def test_ties_go_to_the_last_centre():
    assert p.winners(np.array([[0.5, 0.2, 0.0], [0.5, 0.3, 0.0], [0.1, 0.3, 0.0]])).tolist() == [1, 2, 2]


def test_core_by_hand():
    X = column(0, 2, 10, 20, 21, 22)
    membership = np.array([[0.9, 0.8, 0.1, 0, 0, 0], [0, 0, 0, 0.1, 0.1, 0.1]])
    # Mean memberships .6 and .1: the core is {0, 2} of the first, all of the second, though (.1+.1+.1)/3 > .1
    assert np.allclose(p.core_widths(X, membership, np.array([0, 0, 0, 1, 1, 1])), [1, 2 / 3])
    assert p.core_widths(X[:1], np.array([[0.4]]), np.array([0])).tolist() == [0]


def test_a_centre_that_nothing_pulls_stays():
    pull = p.Pull(column(0), 0.0)
    assert p.attract(column(0, 1), np.zeros((1, 2)), pull, column(7)).tolist() == [[7]]


def test_the_first_iteration_is_never_the_last():
    X = blobs(0)
    V, to = X[::30], points(X)
    for _ in range(2):
        square = p.fuzzy_memberships(distances(V, to), True) ** 2
        V = square @ X / square.sum(axis=1, keepdims=True)
    start = p.fuzzy_c_means(X, X[::30], True, tolerance=np.inf)
    assert np.allclose(start.centre, V)
    assert len(p.eliminate(X, start, p.Pull(X[:1], 0.1), 0.5, tolerance=np.inf).counts) == 2


def test_an_iteration_that_drops_clusters_is_not_the_last():
    X = load_iris().data
    start = p.fuzzy_c_means(X, X[::5], True)
    counts = p.eliminate(X, start, p.Pull(X[:1], 0.1), 1.0, tolerance=np.inf).counts
    assert len(counts) > 2
    assert counts[-1] == counts[-2]
    assert np.all(np.diff(counts[1:-1]) < 0)


# The slow twin


@given(st.lists(st.integers(0, 12), min_size=1, max_size=30), st.integers(1, 8))
def test_twin_of_the_dense_points(numbers, n_points):
    X = column(*numbers)  # whole numbers on a line: every distance and sum is exact, so ties are ties
    rows = X.tolist()
    density = oracle.densities(rows)
    assert densities(X).tolist() == density
    assert separations(X, densities(X)).tolist() == oracle.separations(rows, density)
    assert dense_points(X, n_points).tolist() == oracle.dense_points(rows, n_points)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("quirks", [True, False])
def test_twin(seed, quirks):
    random = np.random.RandomState(seed)
    X = blobs(seed, 12) if seed % 2 else random.normal(size=(40, 3))
    V, G = X[random.choice(len(X), 6, replace=False)], X[dense_points(X, 2)]
    alpha, strength = random.uniform(0.3, 3), random.uniform(0, 0.9)
    start = p.fuzzy_c_means(X, V, quirks)
    centre, width = oracle.fuzzy_c_means(V.tolist(), X.tolist(), quirks)
    assert np.allclose(start.centre, centre, rtol=0, atol=1e-10)
    assert np.allclose(start.width, width, rtol=0, atol=1e-10)
    found = p.eliminate(X, start, p.Pull(G, strength), alpha)
    expected = oracle.eliminate(centre, width, X.tolist(), G.tolist(), alpha, strength)
    assert found.counts == expected[3]
    assert found.winner.tolist() == expected[0]
    assert np.allclose(found.clusters.centre, expected[1], rtol=0, atol=1e-8)
    assert np.allclose(found.clusters.width, expected[2], rtol=0, atol=1e-8)


# Invariants


@pytest.mark.parametrize("seed", range(3))
def test_invariants(seed):
    X = load_wine().data
    model = SRPCMHDP(alpha=2.0, random_state=seed, n_dense_points=4).fit(X)
    assert np.all(np.diff(model.counts_) <= 0)
    assert 12 >= model.counts_[0] >= model.counts_[-1] == model.n_clusters_ == model.n_nodes_
    assert len(model.counts_) == model.n_iter_
    assert np.array_equal(np.unique(model.labels_), np.arange(model.n_clusters_))
    assert model.memberships_.shape == (len(X), model.n_clusters_)
    assert model.memberships_.min() >= 0
    assert model.memberships_.max() <= 1
    assert np.array_equal(model.predict(X), model.labels_)
    assert len(set(model.dense_points_.tolist())) == 4


def test_random_state_decides_everything():
    X = load_iris().data
    model, same = (SRPCMHDP(random_state=7).fit(X) for _ in range(2))
    assert model.memberships_.tobytes() == same.memberships_.tobytes()
    others = [SRPCMHDP(random_state=seed).fit(X).memberships_.tobytes() for seed in range(5)]
    assert len(set(others)) > 1


ROTATION = np.linalg.qr(np.random.RandomState(5).normal(size=(2, 2)))[0]


@pytest.mark.parametrize(
    "change",
    [lambda X: X + np.array([3, -4]), lambda X: X @ ROTATION, lambda X: X[:, ::-1]],
    ids=["translation", "rotation", "reflection"],
)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_depends_on_axes(change, seed):
    X = blobs(seed)
    model, other = (SRPCMHDP(alpha=0.5, random_state=seed).fit(rows) for rows in (X, change(X)))
    assert np.array_equal(model.labels_, other.labels_)
    assert np.array_equal(model.counts_, other.counts_)
    assert np.allclose(change(model.cluster_centers_), other.cluster_centers_)


@pytest.mark.parametrize("scale", [1 / 1024, 1024])
def test_units_matter_only_for_the_end(scale):
    X = blobs(1)
    V, pull = X[::20], p.Pull(X[dense_points(X, 3)], 0.5)
    start = p.fuzzy_c_means(X, V, True)
    found = p.eliminate(X, start, pull, 0.5)
    scaled_start = p.fuzzy_c_means(scale * X, scale * V, True, p.TOLERANCE * scale)
    scaled_pull = p.Pull(scale * pull.goal, 0.5)
    scaled = p.eliminate(scale * X, scaled_start, scaled_pull, 0.5, p.TOLERANCE * scale)
    assert scaled.counts == found.counts
    assert np.array_equal(scaled.clusters.centre, scale * found.clusters.centre)  # a power of two


def test_order_of_rows_does_not_matter():
    X, order = blobs(2), np.random.RandomState(0).permutation(120)
    pull = p.Pull(X[dense_points(X, 3)], 0.5)
    runs = [p.eliminate(rows, p.fuzzy_c_means(rows, X[::20], True), pull, 0.5) for rows in (X, X[order])]
    assert np.array_equal(runs[0].winner[order], runs[1].winner)


def test_without_attraction_the_dense_points_do_not_matter():
    X = blobs(3)
    start = p.fuzzy_c_means(X, X[::20], True)
    one, other = (p.eliminate(X, start, p.Pull(goal, 0.0), 0.5) for goal in (X[:3], X[50:60]))
    assert np.array_equal(one.membership, other.membership)
    pulled = p.eliminate(X, start, p.Pull(X[:3], 0.9), 0.5)
    assert not np.array_equal(pulled.clusters.centre, one.clusters.centre)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=20), st.booleans())
def test_few_distinct_rows_do_no_harm(rows, quirks):
    X = np.array(rows, float)
    model = SRPCMHDP(n_dense_points=4, reference_quirks=quirks, random_state=len(X)).fit(X)
    assert np.isfinite(model.cluster_centers_).all()
    assert np.isfinite(model.memberships_).all()
    assert np.array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("X", [[[3.0, 4.0]], [[1.0], [1.0]], [[5.0, 2.0]] * 7], ids=["one", "two", "equal"])
@pytest.mark.parametrize("lamda", [0.0, 0.5])
def test_nothing_to_tell_apart(X, lamda):
    model = SRPCMHDP(lamda=lamda).fit(X)
    assert (model.n_clusters_, set(model.labels_.tolist())) == (1, {0})
    assert np.allclose(model.cluster_centers_, X[:1])


# Behaviour


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.3, 0.5])
def test_three_blobs(seed, alpha):
    labels = SRPCMHDP(alpha=alpha, lamda=0.5, random_state=seed).fit_predict(blobs(seed))
    assert adjusted_rand_score(np.repeat([0, 1, 2], 40), labels) == 1


@pytest.mark.parametrize(
    ("name", "n_clusters"),
    [("iris", {4, 5}), ("seeds", {3}), ("dermatology", {7}), ("pima", {5}), ("yeast", {4})],
)
def test_number_of_clusters_with_published_parameters(name, n_clusters, data_set):
    parameters = published("sr-pcm-hdp", "stationary", name)
    for seed in range(2):
        assert SRPCMHDP(**parameters, random_state=seed).fit(data_set(name)).n_clusters_ in n_clusters


@pytest.mark.parametrize(
    "name", others_slow(["binalpha", "semeion", "tuandromd", "optdigits"], now=["binalpha"])
)
def test_one_cluster_is_left_in_many_dimensions(name, data_set):
    # Fuzzy c-means puts all centres into the middle. The paper's optimum is the same for all of these sets.
    parameters = published("sr-pcm-hdp", "stationary", name)
    assert (parameters["alpha"], parameters["lamda"]) == (4.048, 0.323)
    assert SRPCMHDP(**parameters, random_state=0).fit(data_set(name)).n_clusters_ == 1


# What is refused, and that it changes nothing


@pytest.mark.parametrize(("rows", "message"), BAD.values(), ids=BAD)
def test_bad_input_changes_nothing(rows, message):
    refuses(SRPCMHDP(random_state=0), rows, message)


def test_sparse_input_is_refused():
    refuses_sparse_input(SRPCMHDP())


def test_other_width_is_refused():
    refuses_other_width(SRPCMHDP())


@pytest.mark.parametrize(
    "bad", [{"n_dense_points": 0}, {"alpha": 0.0}, {"lamda": -1.0}, {"reference_quirks": 2}]
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        SRPCMHDP(**bad).fit([[1.0], [2.0]])


def test_too_much_is_refused_before_anything_is_allocated(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 100_000)
    monkeypatch.setattr("everclust.baselines.possibilistic.sr_pcm_hdp.dense_points", None)
    model = SRPCMHDP()
    with pytest.raises(MemoryError, match=r"memberships of 1000 samples in 9 clusters would take 0\.00 GB"):
        model.fit(np.zeros((1000, 2)))
    assert vars(model) == vars(SRPCMHDP())
