"""scikit-learn's own contract, and what its tools do with the estimator."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.parallel import Parallel, delayed

from everclust import IDAT, EverClust

X = load_iris().data


@parametrize_with_checks([IDAT(), EverClust()])
def test_estimator_check(estimator, check):
    check(estimator)


def test_there_is_nothing_to_tune():
    """A metric, a bound on memory and a number of threads: nothing that has to be found by trial."""
    assert IDAT().get_params() == {"max_nodes": None}
    assert EverClust().get_params() == {"metric": "capped", "max_nodes": None, "n_jobs": None}
    with pytest.raises(TypeError):
        IDAT(3)


def test_clone_is_a_new_model():
    with pytest.raises(NotFittedError):
        clone(IDAT().fit(X)).predict(X)


def test_pipeline():
    pipeline = make_pipeline(MinMaxScaler(), IDAT())
    scaled = MinMaxScaler().fit_transform(X)
    assert np.array_equal(pipeline.fit_predict(X), IDAT().fit_predict(scaled))
    assert np.array_equal(pipeline.predict(X), pipeline[-1].labels_)
    assert np.array_equal(pipeline.score_samples(X), pipeline[-1].score_samples(scaled))


def test_parallel_processes():
    fitted = Parallel(n_jobs=2)(delayed(IDAT().fit)(X[start:]) for start in (0, 50))
    for start, model in zip((0, 50), fitted, strict=True):
        assert np.array_equal(model.labels_, IDAT().fit(X[start:]).labels_)


# Callbacks: scikit-learn 1.9 and newer

needs_callbacks = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9), reason="scikit-learn has no callbacks yet"
)


class Recorder:
    """Writes down what it is told; ends the fit after so many parts."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after

    def setup(self, estimator, context):
        self.events, self.rows, self.seen = [("setup", context.task_name)], 0, []

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.events.append(("end", context.task_name))
        if context.task_name == "learn":
            self.rows += len(X)
            self.seen.append(fitted_estimator)
        return self.stop_after is not None and len(self.seen) == self.stop_after


@needs_callbacks
def test_callbacks_are_told_of_every_part():
    recorder = Recorder()
    model = IDAT().set_callbacks(recorder).fit(X)
    first, *parts, last = (event for event in recorder.events if event[0] in ("begin", "end"))
    assert (first, last) == (("begin", "fit"), ("end", "fit"))
    assert parts == [("begin", "learn"), ("end", "learn")] * len(recorder.seen)
    assert recorder.events[0] == ("setup", "fit")
    assert recorder.events[-1] == ("teardown", "fit")
    assert 10 < len(recorder.seen) <= 100
    assert recorder.rows == model.n_samples_seen_ == len(X)


@needs_callbacks
def test_callbacks_change_nothing():
    plain, watched = IDAT().fit(X), IDAT().set_callbacks(Recorder()).fit(X)
    assert np.array_equal(plain.labels_, watched.labels_)
    assert np.array_equal(plain.prototypes_, watched.prototypes_)
    assert np.array_equal(plain.node_labels_, watched.node_labels_)


@needs_callbacks
def test_callbacks_get_the_model_as_it_was_then():
    recorder = Recorder()
    IDAT().set_callbacks(recorder).fit(X)
    n_rows = [model.n_samples_seen_ for model in recorder.seen]
    assert n_rows == sorted(set(n_rows))
    for model in recorder.seen[::10]:
        alone = IDAT().partial_fit(X[: model.n_samples_seen_])
        assert np.array_equal(model.predict(X), alone.predict(X))


@needs_callbacks
def test_a_callback_can_end_the_fit():
    recorder = Recorder(stop_after=7)
    model = IDAT().set_callbacks(recorder).fit(X)
    assert 0 < model.n_samples_seen_ == recorder.rows < len(X)
    alone = IDAT().fit(X[: recorder.rows])
    assert np.array_equal(model.prototypes_, alone.prototypes_)
    assert np.array_equal(model.labels_, model.predict(X))
    assert recorder.events[-1] == ("teardown", "fit")


@needs_callbacks
def test_models_with_callbacks_can_be_cloned_and_pickled():
    model = IDAT().set_callbacks(Recorder(stop_after=7)).fit(X)
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.predict(X), model.predict(X))
    assert clone(model).fit(X).n_samples_seen_ == model.n_samples_seen_
    assert np.array_equal(model.partial_fit(X).predict(X), twin.partial_fit(X).predict(X))


@needs_callbacks
def test_a_failing_callback_leaves_a_valid_model():
    class Failing(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise OSError("no room for the log")

    model = IDAT().set_callbacks(Failing())
    with pytest.raises(OSError, match="no room"):
        model.fit(X)
    assert 0 < model.n_samples_seen_ < len(X)
    assert not hasattr(model, "labels_")
    assert np.array_equal(
        model.partial_fit(X[model.n_samples_seen_ :]).prototypes_, IDAT().fit(X).prototypes_
    )
