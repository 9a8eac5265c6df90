"""What holds for the incremental networks alike: batches, copies, bad input and bad parameters."""

import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from everclust.baselines import CAE, CAEA, DDVFA, GNG, SRPCMHDP, TBMP, SOINNPlus, TorqueClustering
from everclust.baselines.graph.graph import edges

X = load_iris().data[np.random.RandomState(0).permutation(150)]
MODELS = [GNG(eps_b=0.1, eps_n=0.02, a_max=2, lambda_=3, alpha=0.3, delta=0.95), SOINNPlus()]
every_model = pytest.mark.parametrize("new", MODELS, ids=["GNG", "SOINN+"])


def same(a, b):
    """Have both learnt the same, to the bit?"""
    same = np.array_equal(a._state.scalars, b._state.scalars)
    graphs = zip(edges(a._state.graph), edges(b._state.graph), strict=True)
    return same and np.array_equal(a.prototypes_, b.prototypes_) and all(np.array_equal(*g) for g in graphs)


@every_model
@given(cuts=st.lists(st.integers(0, 150), max_size=5))
def test_batches_cut_anyhow_give_the_same_bits(new, cuts):
    whole, parts = clone(new).fit(X), clone(new)
    for part in np.split(X, sorted(cuts)):
        if len(part):
            parts.partial_fit(part)
    assert same(whole, parts)
    assert np.array_equal(whole.labels_, parts.predict(X))


@every_model
def test_fit_forgets(new):
    model = clone(new).fit(X + 100)
    assert same(model.fit(X), clone(new).fit(X))
    assert not hasattr(model.partial_fit(X), "labels_")
    assert model.fit(X[:, :2]).n_features_in_ == 2


@every_model
def test_models_can_be_pickled_and_cloned(new):
    model = clone(new).fit(X[:100])
    twin = pickle.loads(pickle.dumps(model))
    assert same(twin.partial_fit(X[100:]), model.partial_fit(X[100:]))
    assert same(model, clone(new).fit(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@every_model
@pytest.mark.parametrize("name", ["n_nodes_", "n_clusters_", "prototypes_", "edges_", "n_samples_seen_"])
def test_nothing_is_known_before_learning(new, name):
    with pytest.raises(NotFittedError):
        getattr(clone(new), name)


@every_model
def test_other_kinds_of_numbers(new):
    rounded = np.round(X * 10)
    expected = clone(new).fit(rounded)
    assert same(expected, clone(new).fit(rounded.astype(np.float32)))
    assert same(expected, clone(new).fit(rounded.astype(np.int8)))
    assert same(expected, clone(new).fit(np.asfortranarray(rounded)))
    assert same(expected, clone(new).fit(rounded.tolist()))
    rounded.flags.writeable = False
    assert same(expected, clone(new).fit(rounded))


BAD = {
    "NaN": np.where(np.arange(4) == 2, np.nan, X[:5]),
    "infinity": np.where(np.arange(4) == 2, np.inf, X[:5]),
    "too large": X[:5] * 1e200,
    "too narrow": X[:5, :3],
    "empty": X[:0],
    "one-dimensional": X[0],
    "complex": X[:5] * 1j,
    "words": np.array([["a", "b", "c", "d"]]),
}
CASES = [(method, kind) for method in ("fit", "partial_fit", "predict") for kind in BAD]
CASES.remove(("fit", "too narrow"))


@every_model
@pytest.mark.parametrize(("method", "kind"), CASES)
def test_bad_input_changes_nothing(new, method, kind):
    model = clone(new).fit(X)
    before = pickle.dumps(model)
    with pytest.raises(ValueError):  # noqa: PT011
        getattr(model, method)(BAD[kind])
    assert pickle.dumps(model) == before


@every_model
def test_bad_first_input_leaves_no_trace(new):
    model = clone(new)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(BAD["NaN"])
    assert vars(model) == vars(clone(new))


@every_model
def test_values_near_the_limit(new):
    """Squares and their sums stay finite up to the largest values that are taken."""
    model = clone(new).fit(np.sign(X - X.mean(axis=0)) * 1e140)
    assert np.isfinite(model.prototypes_).all()
    assert all(np.isfinite(value) for value in model._state.scalars[0])


# Models that are mapped from a file, and data of a very small scale

MAPPED = [*MODELS, CAE(), CAEA(lambda_=20), DDVFA(bounds=(X.min(axis=0), X.max(axis=0)))]


@pytest.mark.parametrize("new", MAPPED, ids=lambda model: type(model).__name__)
def test_memory_mapped_models_go_on_learning(new, tmp_path):
    joblib.dump(clone(new).fit(X[:100]), tmp_path / "model.joblib")
    before = (tmp_path / "model.joblib").read_bytes()
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert np.array_equal(mapped.predict(X), clone(new).fit(X[:100]).predict(X))
    mapped.partial_fit(X[100:])
    in_memory = clone(new).fit(X[:100]).partial_fit(X[100:])
    assert np.array_equal(mapped.predict(X), in_memory.predict(X))
    assert mapped.n_samples_seen_ == 150
    assert (tmp_path / "model.joblib").read_bytes() == before


TINY = [GNG(), SOINNPlus(), CAE(), CAEA(), TBMP(), TorqueClustering(), SRPCMHDP(n_dense_points=3)]


@pytest.mark.parametrize("new", TINY, ids=lambda model: type(model).__name__)
def test_data_of_a_vanishing_scale_are_refused(new):
    model = clone(new)
    before = vars(model).copy()
    with pytest.raises(
        ValueError, match=r"X has a scale of .*e-200, but differences below .* rescale the features"
    ):
        model.fit(X * 1e-200)
    assert vars(model) == before
    model.fit(np.zeros((5, 2)))  # without any scale


def test_what_scales_itself_takes_any_scale():
    model = DDVFA(rho_lower=0.6, rho_upper=0.75)
    labels = model.fit(X).labels_
    assert np.array_equal(model.fit(X * 1e-200).labels_, labels)


@every_model
def test_a_row_of_a_stream_may_be_almost_nought(new):
    model = clone(new).partial_fit(X[:1] * 1e-200).partial_fit(X).partial_fit(X[:2] * 1e-200)
    assert model.n_samples_seen_ == 153


WRONG = [
    (GNG, {"eps_b": -0.1}),
    (GNG, {"eps_n": 1.1}),
    (GNG, {"a_max": -1}),
    (GNG, {"a_max": 1.5}),
    (GNG, {"lambda_": 0}),
    (GNG, {"alpha": 2.0}),
    (GNG, {"delta": 0.0}),
    (GNG, {"max_nodes": 1}),
    (GNG, {"init": "last"}),
    (SOINNPlus, {"link_factor": -1}),
    (SOINNPlus, {"edge_factor": "2"}),
    (SOINNPlus, {"node_factor": None}),
    (SOINNPlus, {"neighbour_divisor": 0}),
    (SOINNPlus, {"reference_quirks": "yes"}),
]


@pytest.mark.parametrize(("kind", "wrong"), WRONG)
def test_bad_parameters_are_refused(kind, wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        kind(**wrong).fit(X)
    model = kind().fit(X)
    before = model.prototypes_
    with pytest.raises(ValueError, match=name):
        model.set_params(**wrong).partial_fit(X)
    assert np.array_equal(model.prototypes_, before)
