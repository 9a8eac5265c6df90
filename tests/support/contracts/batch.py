"""What the tests of Torque Clustering and SR-PCM-HDP share: bad input, which changes nothing."""

import re

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_iris

BAD = {
    "nan": ([[1.0, np.nan]], "NaN"),
    "infinity": ([[1.0, np.inf]], "infinity"),
    "huge": ([[1.0, 1e200]], "rescale"),
    "complex": (np.array([[1.0, 1j]]), "Complex"),
    "text": ([["a", "b"]], "could not convert"),
    "empty": (np.empty((0, 2)), "0 sample"),
    "flat": ([1.0, 2.0], "1D array"),
}


def refuses(model, rows, message):
    """A model that has learnt is exactly as it was."""
    model.fit(load_iris().data)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(rows)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


def refuses_sparse_input(model):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.fit(scipy.sparse.eye(3).tocsr())


def refuses_other_width(model):
    model.fit(load_iris().data)
    with pytest.raises(ValueError, match="4 features"):
        model.predict([[1.0, 2.0]])
