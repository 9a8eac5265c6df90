"""A run over a source: what the model is while it lasts."""

from threading import Event

import numpy as np
import pytest

from everclust import IDAT, EverClust
from everclust.stream import Columns, Run, open_source
from everclust.stream.blocks import one_ahead
from everclust.stream.run import run
from support.stream_fixtures import NAMES


def names_while_running(model, url, columns):
    """The feature names that a model has after each block."""
    seen = []

    def look(job, block):
        seen.append(getattr(job.model, "feature_names_in_", None))

    run(Run(model, open_source(url, columns), columns, block=700, on_block=look))
    assert len(seen) > 3
    return seen


def test_the_model_has_its_names_while_it_learns(points, X):
    model, columns = IDAT(), Columns(NAMES)
    for names in names_while_running(model, str(points), columns):
        assert list(names) == NAMES
    assert list(model.feature_names_in_) == NAMES
    assert np.array_equal(model.prototypes_, IDAT().partial_fit(X).prototypes_)


def test_a_model_without_names_stays_without(points, X):
    model = IDAT().partial_fit(X)
    columns = Columns(NAMES, width=model.n_features_in_)
    assert set(names_while_running(model, str(points), columns)) == {None}
    assert np.array_equal(model.prototypes_, IDAT().partial_fit(X).partial_fit(X).prototypes_)


def test_trusted_rows_are_learnt_and_answered_as_others(X):
    """The methods that streams use skip validation, and change nothing else."""
    told = [[], []]
    trusted = EverClust(metric="euclidean").on_event(told[0].append)
    checked = EverClust(metric="euclidean").on_event(told[1].append)
    for start in range(0, len(X), 500):
        trusted._learn_rows(X[start : start + 500])
        checked.partial_fit(X[start : start + 500])
    assert trusted.n_features_in_ == checked.n_features_in_
    assert np.array_equal(trusted.prototypes_, checked.prototypes_)
    assert np.array_equal(trusted._predict_rows(X), checked.predict(X))
    assert np.array_equal(trusted._score_rows(X), checked.score_samples(X))
    assert told[0] == told[1] != []


def test_the_first_block_is_read_while_kernels_are_loaded():
    is_read = Event()

    def arriving():
        yield None
        is_read.set()
        yield "first"
        yield None
        yield "second"

    found = list(one_ahead(arriving(), lambda: is_read.wait(20) or pytest.fail("nothing was read")))
    assert found == ["first", None, "second"]
