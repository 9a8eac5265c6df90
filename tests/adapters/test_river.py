"""EverClust as a river clusterer."""

import copy
import pickle
import random
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_mutual_info_score

from everclust import IDAT, EverClust
from support.paths import DATA_FOLDERS
from support.slow import others_slow

pytest.importorskip("river")
from river import checks, compose, metrics, preprocessing, stream
from river.checks import common

from everclust.adapters.river import BLOCK, RiverEverClust

ALGORITHMS = pytest.mark.parametrize("algorithm", ["everclust", "idat"])
PARAMETERS = pytest.mark.parametrize("params", list(RiverEverClust._unit_test_params()), ids=str)
ESTIMATORS = {"everclust": EverClust, "idat": IDAT}

DIGITS, CLASSES = load_digits(return_X_y=True)
DIGITS = np.ascontiguousarray(DIGITS)
ORDER = np.random.default_rng(3).permutation(len(DIGITS))


def as_dicts(X):
    return [dict(enumerate(row)) for row in X.tolist()]


def data_set(name):
    for folder in DATA_FOLDERS:
        if (folder / f"{name}.npz").exists():
            with np.load(folder / f"{name}.npz") as arrays:
                return arrays["X"].astype(float), arrays["y"]
    pytest.skip(f"{name}.npz is in none of {', '.join(map(str, DATA_FOLDERS))}")


def learnt(rows, **params):
    model = RiverEverClust(**params)
    for x in rows:
        model.learn_one(x)
    return model


def run(model, rows):
    """What it predicts of each row before it learns the row, as river evaluates."""
    predicted = []
    for x in rows:
        predicted.append(model.predict_one(x))
        model.learn_one(x)
    return predicted


# river's checks. It has no data for clusterers, so that all that need some are run with ours as well.

WITH_DATA = [
    getattr(common, name)
    for name in (
        "check_learn_one",
        "check_pickling",
        "check_shuffle_features_no_impact",
        "check_emerging_features",
        "check_disappearing_features",
        "check_radically_disappearing_features",
        "check_predict_one_pure",
        "check_predict_one_before_any_learn",
        "check_no_state_aliasing_with_input",
        "check_clone_is_independent",
        "check_bounded_memory_growth",
    )
    if hasattr(common, name)
]
FITS_CLUSTERERS = pytest.mark.skipif(
    not hasattr(common, "check_clone_is_independent"), reason="river's older checks are for supervised models"
)


@PARAMETERS
def test_the_checks_of_river(params):
    checks.check_estimator(RiverEverClust(**params))


@FITS_CLUSTERERS
@pytest.mark.parametrize("params", others_slow(RiverEverClust._unit_test_params(), now=[{}]), ids=str)
@pytest.mark.parametrize("check", WITH_DATA, ids=lambda check: check.__name__)
def test_the_checks_of_river_with_data(check, params):
    random.seed(0)
    check(RiverEverClust(**params), list(zip(as_dicts(DIGITS[:300]), CLASSES[:300], strict=True)))


@FITS_CLUSTERERS
@ALGORITHMS
def test_the_checks_of_river_in_a_pipeline(algorithm):
    model = preprocessing.StandardScaler() | RiverEverClust(algorithm)
    checks.check_estimator(model)
    for check in (common.check_learn_one, common.check_pickling, common.check_clone_is_independent):
        check(model.clone(), list(zip(as_dicts(DIGITS[:200]), CLASSES[:200], strict=True)))


# The same model


@ALGORITHMS
@pytest.mark.parametrize("n", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 1797])
def test_it_is_the_estimator(algorithm, n):
    X = DIGITS[:n]
    ours = ESTIMATORS[algorithm]().partial_fit(X)
    model = learnt(as_dicts(X), algorithm=algorithm)
    np.testing.assert_array_equal([model.predict_one(x) for x in as_dicts(X)], ours.predict(X))
    np.testing.assert_array_equal(
        [model.score_one(x) for x in as_dicts(X[:50])], 1 - ours.score_samples(X[:50])
    )
    assert type(model.estimator) is type(ours)
    np.testing.assert_array_equal(model.estimator.prototypes_, ours.prototypes_)
    assert model.n_clusters == ours.n_clusters_
    assert list(model.centers) == ours.cluster_ids_.tolist()
    np.testing.assert_array_equal(
        [list(mean.values()) for mean in model.centers.values()], ours.cluster_centers_
    )


@ALGORITHMS
def test_predictions_in_between_change_nothing_that_is_learnt(algorithm):
    rows = as_dicts(DIGITS[:700])
    model = RiverEverClust(algorithm)
    run(model, rows)
    ours = ESTIMATORS[algorithm]().partial_fit(DIGITS[:700])
    np.testing.assert_array_equal(model.estimator.prototypes_, ours.prototypes_)
    np.testing.assert_array_equal(model.estimator.edges_, ours.edges_)


@ALGORITHMS
def test_mini_batches_are_the_same_as_single_samples(algorithm):
    frame = pd.DataFrame(DIGITS[:500])
    one, many = learnt(as_dicts(DIGITS[:500]), algorithm=algorithm), RiverEverClust(algorithm)
    for start in range(0, 500, 70):
        many.learn_many(frame[start : start + 70])
    np.testing.assert_array_equal(one.estimator.prototypes_, many.estimator.prototypes_)
    assert many.predict_many(frame).tolist() == [one.predict_one(x) for x in as_dicts(DIGITS[:500])]


def test_single_samples_and_mini_batches_keep_their_order():
    frame, rows = pd.DataFrame(DIGITS[:300]), as_dicts(DIGITS[:300])
    model = learnt(rows[:50])
    model.learn_many(frame[50:200])
    for x in rows[200:]:
        model.learn_one(x)
    np.testing.assert_array_equal(
        model.estimator.prototypes_, EverClust().partial_fit(DIGITS[:300]).prototypes_
    )


def test_parameters_reach_the_estimator():
    assert RiverEverClust(metric="euclidean", max_nodes=40).estimator.get_params() == {
        "metric": "euclidean",
        "max_nodes": 40,
        "n_jobs": None,
    }
    assert RiverEverClust("idat", max_nodes=40).estimator.get_params() == {"max_nodes": 40}
    assert learnt(as_dicts(DIGITS[:900]), max_nodes=40).estimator.n_nodes_ <= 40


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"algorithm": "kmeans"}, "algorithm is 'kmeans', but it must be 'everclust' or 'idat'."),
        ({"metric": "cosine"}, "metric is 'cosine', but it must be 'capped' or 'euclidean'."),
        (
            {"algorithm": "idat", "metric": "capped"},
            "metric is 'capped', but IDAT is Euclidean; leave the metric out.",
        ),
        ({"max_nodes": 1}, "max_nodes is 1, but it must be None or an integer of 3 or more."),
    ],
)
def test_invalid_parameters_are_refused_at_once(params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        RiverEverClust(**params)


# Features


def test_before_the_first_sample():
    model = RiverEverClust()
    assert model.predict_one({"a": 1.0}) == -1
    assert model.predict_one({}) == -1
    assert model.score_one({"a": 1.0}) == 1
    assert model.predict_many(pd.DataFrame({"a": [1.0, 2.0]})).tolist() == [-1, -1]
    assert model.n_clusters == 0
    assert model.centers == {}
    model.learn_many(pd.DataFrame({"a": []}))  # no rows fix no features
    model.learn_one({"b": 1.0})
    assert model.predict_one({"b": 1.0}) == 0
    assert model.centers == {0: {"b": 1.0}}


def test_the_first_sample_fixes_the_order():
    rows = as_dicts(DIGITS[:300])
    backwards = [rows[0], *(dict(reversed(x.items())) for x in rows[1:])]
    one, other = learnt(rows), learnt(backwards)
    assert pickle.dumps(one) == pickle.dumps(other)


def test_a_missing_key_counts_as_zero_and_a_new_one_is_ignored():
    X = DIGITS[:300].copy()
    X[100:, 20] = 0
    rows = as_dicts(X)
    lacking = [*rows[:100], *({j: x[j] for j in x if j != 20} | {"new": 1e9} for x in rows[100:])]
    one, other = learnt(rows), learnt(lacking)
    assert pickle.dumps(one) == pickle.dumps(other)
    for x, y in zip(rows, lacking, strict=True):
        assert one.predict_one(x) == other.predict_one(y)
        assert one.score_one(x) == other.score_one(y)


def test_the_same_for_columns():
    frame = pd.DataFrame(DIGITS[:300])
    zeros = frame.assign(**{"20": 0.0}).rename(columns={"20": "new"})
    zeros[20] = 0.0
    lacking = zeros.drop(columns=20)[[*reversed([j for j in range(64) if j != 20]), "new"]]
    one, other = RiverEverClust(), RiverEverClust()
    for model, second in ((one, zeros), (other, lacking)):
        model.learn_many(frame[:100])
        model.learn_many(second[100:])
    assert pickle.dumps(one) == pickle.dumps(other)
    assert one.predict_many(zeros).tolist() == other.predict_many(lacking).tolist()


def test_a_single_feature():
    model = RiverEverClust()
    for value in range(50):
        model.learn_one({"a": value % 7})
    model.learn_one({"b": 3})
    assert model.estimator.n_samples_seen_ == 51
    assert model.predict_one({}) == model.predict_one({"a": 0})


def test_names_reach_the_estimator():
    model = learnt([{"width": 1.0, "height": 2.0}] * 3)
    assert list(model.estimator.feature_names_in_) == ["width", "height"]
    assert list(model.estimator.cluster_profile().columns) == ["width", "height"]


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -1e200, None, "3.5", [1], 10**400, pd.NA],
    ids=lambda value: str(value)[:8],
)
def test_invalid_values_are_refused_and_change_nothing(value):
    rows = as_dicts(DIGITS[:200])
    model, twin = learnt(rows), learnt(rows)
    sentence = re.escape(f"Feature 7 is {value!r}, but values must be finite numbers up to 1e+140; ")
    bad = rows[5] | {7: value}
    frame = pd.DataFrame([rows[4], bad], dtype=object)
    for call, argument in (
        (model.learn_one, bad),
        (model.predict_one, bad),
        (model.score_one, bad),
        (model.learn_many, frame),
        (model.predict_many, frame),
        (RiverEverClust().learn_one, bad),
        (RiverEverClust().learn_many, frame),
    ):
        with pytest.raises(ValueError, match=sentence):
            call(argument)
    assert pickle.dumps(model) == pickle.dumps(twin)


def test_an_invalid_first_sample_fixes_nothing():
    model = RiverEverClust()
    with pytest.raises(ValueError, match="Feature 'a' is nan"):
        model.learn_one({"a": float("nan")})
    with pytest.raises(ValueError, match="The first sample has no features; pass at least one"):
        model.learn_one({})
    model.learn_one({"b": 1.0, "c": np.float32(2.0)})
    assert model.centers == {0: {"b": 1.0, "c": 2.0}}


def test_large_but_finite_values_are_learnt():
    model = learnt([{"a": 1e100 * i, "b": True} for i in range(5)])
    assert model.estimator.n_samples_seen_ == 5


# DataFrames


def test_a_series_has_the_index_of_the_rows():
    frame = pd.DataFrame(DIGITS[:100], index=[f"r{i}" for i in range(100)])
    model = RiverEverClust()
    model.learn_many(frame)
    found = model.predict_many(frame)
    assert isinstance(found, pd.Series)
    assert found.index.equals(frame.index)
    assert model.predict_many(frame[:0]).empty


def test_polars():
    names = [f"p{j}" for j in range(64)]
    frame = pl.DataFrame(DIGITS[:200], schema=names)
    model, same = RiverEverClust(), RiverEverClust()
    model.learn_many(frame)
    same.learn_many(frame.to_pandas())
    found = model.predict_many(frame[:, ::-1])
    assert isinstance(found, pl.Series)
    assert found.to_list() == same.predict_many(frame.to_pandas()).to_list()


def test_integers_and_truth_values_and_nullable_columns():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, 1.5, 2.5]})
    model, same = RiverEverClust(), RiverEverClust()
    model.learn_many(frame)
    same.learn_many(frame.convert_dtypes())
    assert pickle.dumps(model) == pickle.dumps(same)
    assert model.centers[0].keys() == {"a", "b", "c"}


# Streams


@ALGORITHMS
@pytest.mark.parametrize("name", others_slow(["digits", "optdigits"], now=["digits"]))
def test_a_real_stream_behind_a_scaler(name, algorithm):
    X, y = (DIGITS[ORDER], CLASSES[ORDER]) if name == "digits" else data_set(name)
    rows = as_dicts(X)
    model = preprocessing.StandardScaler() | RiverEverClust(algorithm)
    predicted = run(model, rows)
    half = len(rows) // 2
    assert predicted[0] == -1
    assert adjusted_mutual_info_score(y[half:], predicted[half:]) > 0.5
    assert model["RiverEverClust"].estimator.n_samples_seen_ == len(rows)


def test_mini_batches_behind_a_scaler():
    model = preprocessing.StandardScaler() | RiverEverClust()
    frame = pd.DataFrame(DIGITS[ORDER]).rename(columns=str)  # river scales columns with names only
    for start in range(0, len(frame), 100):
        model.learn_many(frame[start : start + 100])
    found = model.predict_many(frame)
    assert adjusted_mutual_info_score(CLASSES[ORDER], found) > 0.5


def test_ids_are_those_of_the_estimator():
    """An id that an event has ended is never predicted again; most predictions have ids that were told."""
    model, predicted, ended = RiverEverClust(), [], set()
    for n, x in enumerate(as_dicts(DIGITS[ORDER])):
        if n % 10 == 9:
            for event in model.estimator.events(since=n - 10):
                ended |= set(event.before) - set(event.after)
            predicted.append(model.predict_one(x))
            assert predicted[-1] not in ended
        model.learn_one(x)
    told = {c for event in model.estimator.events() for c in event.after}
    assert np.isin(predicted[len(predicted) // 2 :], list(told)).mean() > 0.8


@ALGORITHMS
def test_predictions_see_clusters_that_are_at_most_a_64th_old(algorithm):
    X = np.concatenate([np.random.default_rng(0).normal(size=(640, 3)), np.full((11, 3), 50.0)])
    X[640:] += np.random.default_rng(1).normal(size=(11, 3))
    rows = as_dicts(X)
    model = learnt(rows[:640], algorithm=algorithm)
    known = model.score_one(rows[-1])
    for x in rows[640:650]:
        model.learn_one(x)
        assert model.score_one(rows[-1]) == known
    model.learn_one(rows[650])
    assert model.score_one(rows[-1]) < known
    assert model.estimator.n_samples_seen_ == 651


def test_metrics_of_river():
    model, silhouette, rand = RiverEverClust(), metrics.Silhouette(), metrics.AdjustedRand()
    information = metrics.AdjustedMutualInfo()
    for x, y in zip(as_dicts(DIGITS[ORDER][:600]), CLASSES[ORDER][:600].tolist(), strict=True):
        model.learn_one(x)
        cluster = model.predict_one(x)
        if model.n_clusters > 1:  # old versions do not take less
            silhouette.update(x, cluster, model.centers)
        rand.update(y, cluster)
        information.update(y, cluster)
    assert 0 < silhouette.get() < 1
    assert rand.get() > 0.2
    assert information.get() > 0.4


def test_anomalies():
    model = learnt(as_dicts(DIGITS[CLASSES != 4]))
    known = np.mean([model.score_one(x) for x in as_dicts(DIGITS[CLASSES == 3])])
    unknown = np.mean([model.score_one(x) for x in as_dicts(DIGITS[CLASSES == 4])])
    assert known < unknown < model.score_one(dict.fromkeys(range(64), 1000)) < 1


# Copies


@ALGORITHMS
@pytest.mark.parametrize(
    "duplicate",
    [
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
        lambda model: model.clone(include_attributes=True),
    ],
    ids=["deepcopy", "pickle", "clone"],
)
def test_a_copy_goes_on_like_the_original(algorithm, duplicate):
    rows = as_dicts(DIGITS[ORDER][:900])
    model = RiverEverClust(algorithm)
    run(model, rows[:377])
    twin = duplicate(model)
    assert run(model, rows[377:]) == run(twin, rows[377:])
    np.testing.assert_array_equal(model.estimator.prototypes_, twin.estimator.prototypes_)


def test_a_clone_is_empty_and_takes_new_parameters():
    model = learnt(as_dicts(DIGITS[:200]), max_nodes=30)
    clone = model.clone({"max_nodes": 60})
    assert clone.predict_one({}) == -1
    assert clone.estimator.max_nodes == 60
    assert model.clone().estimator.max_nodes == 30


@pytest.mark.parametrize("n_rows", [100, BLOCK])
def test_an_interruption_loses_and_doubles_nothing(n_rows, monkeypatch):
    """A sample is learnt, now or later, unless its own call was interrupted."""
    rows = as_dicts(DIGITS[:n_rows])
    model = learnt(rows)
    learner = EverClust._learn_rows

    def interrupted(self, X):
        learner(self, X[:30]) if len(X) == n_rows else None
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(EverClust, "_learn_rows", interrupted)
        for call in (model.learn_one if n_rows == BLOCK else model.predict_one, model.score_one):
            with pytest.raises(KeyboardInterrupt):
                call(rows[0])
    ours = EverClust().partial_fit(DIGITS[:n_rows])
    np.testing.assert_array_equal(model.estimator.prototypes_, ours.prototypes_)
    assert model.estimator.n_samples_seen_ == n_rows


def test_without_river(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "river"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.delitem(sys.modules, "everclust.adapters.river")
    with pytest.raises(
        ImportError, match=r'needed for clustering in river; pip install "everclust\[river\]"'
    ):
        import everclust.adapters.river  # noqa: F401


def test_a_stream_of_river():
    model = compose.Pipeline(preprocessing.MinMaxScaler(), RiverEverClust())
    for x, _ in stream.iter_array(DIGITS[:300], CLASSES[:300]):
        model.learn_one(x)
    assert model.predict_one(x) >= 0
    assert re.search("RiverEverClust", repr(model))
