"""What must not change, or must change in a known way, when the data are changed in a known way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

from everclust.core.learn import learn
from everclust.core.serialise import export
from everclust.core.state import new_state, scalars_of
from support.jit_mode import PLAIN
from support.slow import others_slow

N = 60 if PLAIN else 400
LIKE_SAMPLES = ("prototype", "scale", "mean", "window")


def _streams():
    rng = np.random.default_rng(7)
    centre = 4 * rng.normal(size=(5, 3))
    return {
        "iris": rng.permutation(load_iris().data),
        "digits": load_digits().data[:N],  # half of its features are often constant, many values tie
        "blobs": centre[rng.integers(0, 5, N)] + rng.normal(size=(N, 3)),
        "drift": rng.normal(size=(N, 2)) + np.arange(N)[:, None] / 20,
        "heavy tails": rng.standard_t(1.5, size=(N, 2)),
    }


STREAMS = _streams()
streams = pytest.mark.parametrize("X", STREAMS.values(), ids=STREAMS)


def learnt(X):
    return export(learn(new_state(X.shape[1]), np.ascontiguousarray(X)))


def assert_same(ours, theirs):
    assert ours[0] == theirs[0]
    for name, array in ours[1].items():
        assert np.array_equal(array, theirs[1][name]), name


@streams
@pytest.mark.parametrize("power", [-9, 1, 30, 300])
def test_scaling_by_a_power_of_two(X, power):
    scalars, fields = learnt(X)
    for name in LIKE_SAMPLES:
        fields[name] = fields[name] * 2.0**power
    fields["square_sum"] = fields["square_sum"] * 4.0**power
    assert_same(learnt(X * 2.0**power), (scalars, fields))


@streams
@pytest.mark.parametrize("features", [[0], [-1], slice(None)])
def test_reflecting_features(X, features):
    sign = np.ones(X.shape[1])
    sign[features] = -1
    scalars, fields = learnt(X)
    for name in ("prototype", "mean", "window"):
        fields[name] = fields[name] * sign
    assert_same(learnt(X * sign), (scalars, fields))


@streams
def test_translation_up_to_rounding(X):
    shift = np.arange(1, X.shape[1] + 1) * 0.7
    scalars, fields = learnt(X)
    for name in ("prototype", "mean", "window"):
        fields[name] = fields[name] + shift
    moved_scalars, moved_fields = learnt(X + shift)
    assert moved_scalars == pytest.approx(scalars, rel=1e-9)
    for name, array in fields.items():
        np.testing.assert_allclose(moved_fields[name], array, rtol=1e-9, atol=1e-9, err_msg=name)


@streams
def test_a_constant_feature_changes_nothing(X):
    scalars, fields = learnt(X)
    wider_scalars, wider = learnt(np.column_stack([X, np.full(len(X), 3.5)]))
    for name in ("prototype", "mean", "square_sum", "weight", "window"):
        wider[name] = wider[name][..., :-1]
    assert_same((wider_scalars, wider), (scalars, fields))


@streams
@given(cuts=st.lists(st.integers(0, N), max_size=8))
def test_one_batch_is_any_split(X, cuts):
    state = new_state(X.shape[1])
    for part in np.split(X, sorted(min(cut, len(X)) for cut in cuts)):
        state = learn(state, np.ascontiguousarray(part))
    assert_same(export(state), learnt(X))


@streams
def test_one_batch_is_one_by_one(X):
    state = new_state(X.shape[1])
    for i in range(len(X)):
        state = learn(state, np.ascontiguousarray(X[i : i + 1]))
    assert_same(export(state), learnt(X))


# ---- The search is exact ----

# Alone a sample is searched for as plainly as can be; together they may be looked at several at a time.


def search_plainly(nodes, X):
    """Direct differences, added up in feature order, over all nodes."""
    squares = np.zeros((len(X), len(nodes)))
    for j in range(nodes.shape[1]):
        squares += (X[:, j : j + 1] - nodes[:, j]) ** 2
    return np.argsort(np.sqrt(squares), axis=1, kind="stable")[:, :2]


@pytest.fixture(scope="module")
def assert_exact(winners):
    def compare(state, X):
        nodes = state.prototype[: scalars_of(state).n_nodes]
        np.testing.assert_array_equal(winners(state, X), search_plainly(nodes, X))

    return compare


def random(rng, n, d):
    return rng.normal(size=(n, d))


def clustered(rng, n, d):
    return rng.normal(size=(4, d))[rng.integers(0, 4, n)] * 100 + rng.normal(size=(n, d)) * 1e-3


def offset(rng, n, d):
    return 1e8 + rng.normal(size=(n, d))


def far_offset(rng, n, d):
    return -3e12 + rng.normal(size=(n, d))


def magnitude_30(rng, n, d):
    return rng.normal(size=(n, d)) * 1e30


def magnitude_100(rng, n, d):
    return rng.normal(size=(n, d)) * 1e100


def magnitudes(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-100, 100, (n, 1))


def tiny(rng, n, d):
    return rng.normal(size=(n, d)) * 1e-30


def tiny_around_one(rng, n, d):
    return 1.0 + rng.normal(size=(n, d)) * 1e-15


def grid(rng, n, d):
    return rng.integers(-1, 2, (n, d)) * 0.5


def duplicates(rng, n, d):
    return rng.normal(size=(5, d))[rng.integers(0, 5, n)]


def near_duplicates(rng, n, d):
    X = duplicates(rng, n, d)
    return X + np.spacing(X) * rng.integers(-2, 3, X.shape)


def outliers(rng, n, d):
    X = rng.normal(size=(n, d))
    X[rng.random(n) < 0.1] *= 1e9
    X[0] = 1e18
    return X


def on_a_sphere(rng, n, d):
    X = rng.normal(size=(n, d))
    return X / np.sqrt((X * X).sum(axis=1, keepdims=True))


TEXTURES = [
    random,
    clustered,
    offset,
    far_offset,
    magnitude_30,
    magnitude_100,
    magnitudes,
    tiny,
    tiny_around_one,
    grid,
    duplicates,
    near_duplicates,
    outliers,
    on_a_sphere,
]
COUNTS = [3, 4, 17, 63, 64, 65, 127, 128, 129, 200, 300]
DIMENSIONS = [1, 2, 3, 4, 5, 8, 17, 33, 70]


@pytest.mark.parametrize("texture", TEXTURES)
@pytest.mark.parametrize("n_nodes", others_slow(COUNTS, now=[65, 200]))
def test_search_is_exact(texture, n_nodes, model, assert_exact):
    rng = np.random.default_rng(n_nodes)
    for d in DIMENSIONS[::4] if PLAIN else DIMENSIONS:
        nodes = texture(rng, n_nodes, d)
        # Centre and scale of the coarse copy come from what was seen, which the nodes are a part of.
        state = model(nodes, mean=nodes.mean(axis=0), square_sum=nodes.var(axis=0) * n_nodes)
        between = (nodes[rng.integers(0, n_nodes, 20)] + nodes[rng.integers(0, n_nodes, 20)]) / 2
        here = nodes[rng.integers(0, n_nodes, 20)]
        X = np.concatenate([texture(rng, 20, d), here, between, np.zeros((1, d)), -here[:5]])
        assert_exact(state, rng.permutation(X))


@pytest.mark.parametrize("texture", TEXTURES)
def test_search_is_exact_far_from_the_centre(texture, model, assert_exact):
    """Nothing that was seen before is anywhere near: neither centre nor scale fit."""
    rng = np.random.default_rng(1)
    for d, n_nodes, mean, spread in [(2, 70, 0, 1), (5, 130, 1e6, 1e-3), (9, 65, -1e9, 1e6), (3, 300, 1, 0)]:
        nodes = texture(rng, n_nodes, d)
        state = model(nodes, mean=[mean] * d, square_sum=[spread * n_nodes] * d)
        X = np.concatenate([texture(rng, 30, d), nodes[:30], np.full((1, d), float(mean))])
        assert_exact(state, rng.permutation(X))


@pytest.mark.parametrize("texture", TEXTURES)
@pytest.mark.parametrize("d", [1, 4, 9])
def test_samples_learnt_together_find_what_they_find_alone(texture, d):
    X = texture(np.random.default_rng(d), 60 if PLAIN else 500, d)
    state = new_state(d)
    for i in range(len(X)):
        state = learn(state, X[i : i + 1])
    assert_same(export(state), learnt(X))


@pytest.mark.parametrize("speed", [1e-3, 1.0, 1e3, 1e7])
@pytest.mark.parametrize("d", others_slow([1, 3, 20], now=[3]))
def test_search_is_exact_while_the_stream_drifts_away(speed, d, assert_exact):
    """The coarse copy is centred early in the stream, and again only now and then."""
    rng = np.random.default_rng(0)
    n = 100 if PLAIN else 1500
    X = rng.normal(size=(n, d)) + speed * np.arange(n)[:, None]
    state = new_state(d)
    for i in range(0, n, 50):
        state = learn(state, X[i : i + 50])
        assert_exact(state, X[max(0, i - 10) : i + 60])


@pytest.mark.parametrize("d", others_slow([2, 8, 64], now=[8]))
def test_search_is_exact_after_nodes_were_dropped(d, assert_exact):
    """Lanes that had a node are empty again."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(300, d)), 50 + rng.normal(size=(300, d))])
    state = new_state(d)
    n_before, n_drops = 0, 0
    for i in range(100 if PLAIN else len(X)):
        state = learn(state, X[i : i + 1])
        n_nodes = scalars_of(state).n_nodes
        n_drops += n_nodes < n_before
        n_before = n_nodes
        if n_nodes > 2:
            assert_exact(state, X[i : i + 3])
    assert PLAIN or n_drops > 1


def test_the_expanded_form_is_wrong_for_near_duplicates_far_from_the_origin(model, winners):
    """‖x‖² − 2xy + ‖y‖² cancels: at 1e8 the squares are 1e16, where floats are 2 apart."""
    nodes = 1e8 + np.array([[0.0, 0.0], [0.5, 0.0], [0.25, 0.5], [1.0, 1.0]])
    x = 1e8 + np.array([[0.25, 0.375]])  # 0.125 from node 2
    expanded = (x * x).sum() - 2 * nodes @ x[0] + (nodes * nodes).sum(axis=1)
    assert np.argmin(expanded) != 2
    state = model(nodes, mean=nodes.mean(axis=0), square_sum=nodes.var(axis=0) * 4)
    assert winners(state, x).tolist() == [[2, 0]]  # 0.125, then 0.45 to nodes 0 and 1 alike
