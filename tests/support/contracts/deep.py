"""What the tests of TableDC and G-CEALS share: data, and what both must do with good and bad input."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

X = load_iris().data
NEEDED = "PyTorch is not installed here; `make deep-test` makes an environment that has it"
SMALL = {
    "hidden_layers": (16,),
    "n_latent": 3,
    "pretraining_epochs": 30,
    "training_epochs": 10,
    "device": "cpu",
    "random_state": 0,
}


def far_blobs():
    """Two far blobs of 50 rows in 5 dimensions."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 0.1, (50, 5)), rng.normal(10, 0.1, (50, 5))])
    return rows, np.repeat([0, 1], 50)


def state_of(model):
    """Everything in the model, comparable."""
    return pickle.dumps(model.__dict__)


BAD = {
    "nan": ([[0.0, 1.0], [np.nan, 1.0], [2.0, 1.0]], ValueError, "NaN"),
    "inf": ([[0.0, 1.0], [np.inf, 1.0], [2.0, 1.0]], ValueError, "infinity"),
    "empty": (np.empty((0, 4)), ValueError, "0 sample"),
    "flat": (np.arange(4.0), ValueError, "1D"),
    "sparse": (scipy.sparse.csr_matrix(X), TypeError, "[Ss]parse"),
    "complex": (X + 1j, ValueError, "Complex"),
    "words": ([["a", "b"]] * 9, ValueError, "could not convert"),
    "few": (X[:1], ValueError, "n_samples=1 should be >= n_clusters"),
    "huge": (X * 1e141, ValueError, "rescale"),
}


def refuses_bad_input(model):
    """Every bad input raises, and a model that has learnt is exactly as it was."""
    for rows, error, message in BAD.values():
        with pytest.raises(error, match=message):
            clone(model).fit(rows)
    model.fit(X)
    before = state_of(model)
    for rows, error, message in BAD.values():
        with pytest.raises(error, match=message):
            model.fit(rows)
        assert state_of(model) == before
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(X[:, :3])
    assert state_of(model) == before


def is_deterministic(model):
    """The same seed gives the same bits, another seed others; the global generators stay untouched."""
    import torch

    torch.manual_seed(7)
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - it is this one that must be left alone
    first, second = clone(model).fit(X), clone(model).fit(X)
    assert float(torch.rand(())) == float(torch.rand((), generator=torch.Generator().manual_seed(7)))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert state_of(first) == state_of(second)
    other = clone(model).set_params(random_state=1).fit(X)
    assert not np.array_equal(first.encode(X), other.encode(X))
    drawn = [clone(model).set_params(random_state=np.random.RandomState(3)).fit(X) for _ in range(2)]
    assert np.array_equal(drawn[0].encode(X), drawn[1].encode(X))
    assert not np.array_equal(first.encode(X), drawn[0].encode(X))


def shows_progress_when_asked(model, capfd):
    """Both stages and both losses on stderr; by default nothing. The result is the same."""
    plain = clone(model).fit(X)
    assert capfd.readouterr() == ("", "")
    shown = clone(model).set_params(progress=True).fit(X)
    printed, bars = capfd.readouterr()
    assert printed == ""
    for text in ("pretraining: 100%", "training: 100%", "reconstruction=", "clustering=", "epochs"):
        assert text in bars
    assert np.array_equal(plain.encode(X), shown.encode(X))


def answers_for_new_rows(model):
    """Labels, soft assignments and codes agree; a pickled copy answers the same."""
    model.fit(X)
    assert np.array_equal(model.labels_, model.predict(X))
    assert model.n_clusters_ == len(set(model.labels_))
    assert set(model.labels_) == set(range(model.n_clusters_))
    soft = model.predict_proba(X)
    assert soft.shape == (len(X), model.n_nodes_)
    assert np.allclose(soft.sum(axis=1), 1, atol=1e-6)
    assert np.array_equal(soft.argmax(axis=1), model.labels_)
    assert model.encode(X).shape == (len(X), model.n_latent)
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.predict_proba(X[::3]), model.predict_proba(X[::3]))
