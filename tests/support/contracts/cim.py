"""What the tests of CAEA and CAE share: streams, the comparison with a specification, bad input."""

import math

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_iris

from everclust.baselines.graph.graph import edges
from oracles.baselines import cim as oracle_cim
from support.streams import blobs, grid, tasks

X = load_iris().data[np.random.RandomState(0).permutation(150)]
BLURRED = np.tile(X, (3, 1)) + 0.01 * np.random.default_rng(0).normal(size=(450, 4))  # without ties
SAFE_MARGIN = 1e-11  # closer decisions may fall either way


def duplicates(rng, n, d):
    """Every sample has been there before, often just before."""
    distinct = np.round(8 * rng.normal(size=(rng.integers(1, 30), d))) / 8
    return np.repeat(distinct[rng.integers(0, len(distinct), n)], rng.integers(1, 4), axis=0)[:n]


def tiny(rng, n, d):
    """A spread around and below the floor of the standard deviation."""
    return rng.choice([0.0, 1.0, 1e3]) + rng.normal(size=(n, d)) * 10.0 ** -rng.integers(3, 8)


TEXTURES = [grid, duplicates, blobs, tasks, tiny]


def ages(model):
    """{(i, j): age} of all edges."""
    pairs, age = edges(model._present().graph)
    return {tuple(pair): a for pair, a in zip(pairs.tolist(), age.tolist(), strict=True)}


def compare(model, oracle):
    """Model and specification hold the same."""
    assert model.n_nodes_ == len(oracle.w)
    assert model.usage_.tolist() == oracle.count
    assert model.scales_ == pytest.approx(oracle.scale, rel=1e-12)
    assert ages(model) == oracle.edges
    expected = np.array(oracle.w).reshape(model.prototypes_.shape)
    assert model.prototypes_ == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert model.node_labels_.tolist() == oracle_cim.components(len(oracle.w), oracle.edges)
    assert model.n_clusters_ == len(set(model.node_labels_.tolist()))


def compare_predictions(model, oracle, probes):
    for x, label in zip(probes, model.predict(probes).tolist(), strict=True):
        if not oracle.w:
            assert label == 0
            continue
        (_, winner), _, margin = oracle_cim.nearest_two(x, oracle.w, oracle_cim.mean(oracle.scale))
        if margin >= SAFE_MARGIN:
            assert label == oracle_cim.components(len(oracle.w), oracle.edges)[winner]


def same_number(a, b):
    return a == pytest.approx(b, rel=1e-12) or (math.isnan(a) and math.isnan(b))


def contents(model):
    """Everything that was learnt, to the last bit."""
    state = model._present()
    n = model.n_nodes_
    scalars = state.scalars[0].tolist()
    return (
        repr(scalars),
        model.prototypes_.tobytes(),
        model.usage_.tobytes(),
        model.scales_.tobytes(),
        ages(model),
        n,
    )


BAD = {
    "NaN": (np.where(np.arange(4) == 2, np.nan, X[:5]), ValueError, "NaN"),
    "infinity": (np.where(np.arange(4) == 2, np.inf, X[:5]), ValueError, "infinity"),
    "too large": (X[:5] * 1e200, ValueError, "rescale"),
    "too wide": (np.ones((5, 7)), ValueError, "features"),
    "sparse": (scipy.sparse.csr_array(X[:5]), TypeError, "[Ss]parse"),
    "complex": (X[:5] + 1j, ValueError, "[Cc]omplex"),
    "empty": (X[:0], ValueError, "0 sample"),
    "one row": (X[0], ValueError, "2D"),
    "text": (np.full((5, 4), "a"), ValueError, "could not convert"),
}


def refuses(model, name):
    """Bad input raises and leaves everything as it was."""
    rows, error, message = BAD[name]
    before = contents(model), dict(vars(model))
    for learn in (model.partial_fit, model.fit) if name != "too wide" else (model.partial_fit,):
        with pytest.raises(error, match=message):
            learn(rows)
        assert contents(model) == before[0]
        assert vars(model).keys() == before[1].keys()
    with pytest.raises(error, match=message):
        model.predict(rows)


def forgets_and_numbers_without_gaps(model, new):
    """`fit` of a model that knew something else is that of a new one; labels are 0, 1, 2 … as predicted."""
    assert contents(model.fit(X)) == contents(new.fit(X))
    assert np.array_equal(np.unique(model.labels_), np.arange(model.labels_.max() + 1))
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.fit_predict(X), model.labels_)
    assert not hasattr(model.partial_fit(X[:1]), "labels_")


def knows_the_nearest_nodes(model):
    """Nodes have the labels of the samples they win, and win themselves."""
    nodes = model.predict_nodes(X)
    assert np.array_equal(model.node_labels_[nodes], model.labels_)
    assert np.array_equal(model.predict_nodes(model.prototypes_), np.arange(model.n_nodes_))
