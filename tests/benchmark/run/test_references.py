"""The references: who is told what, and what is left out."""

import sys
from types import ModuleType

import numpy as np
import pytest
from sklearn.datasets import load_iris

from everclust.benchmark.run import references, streams
from everclust.benchmark.run.jobs import Job, run_job
from everclust.benchmark.run.plan import PlanError, algorithms_named, left_out, plan
from everclust.benchmark.run.registry import ALGORITHMS, Algorithm
from everclust.benchmark.run.streams import StandardisedStream

X, Y = load_iris(return_X_y=True)
TOLD = [
    f"{name}{suffix}" for name in ("k-means", "ward", "gaussian-mixture") for suffix in ("", "-standardised")
]
OFFLINE = [*TOLD, "hdbscan", "birch"]
RIVER = ["dbstream", "denstream", "clustream", "streamkmeans"]


@pytest.fixture
def without_river(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "river"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "river", None)


@pytest.fixture
def flowers(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path))
    np.savez(tmp_path / "flowers.npz", X=X, y=Y)


def fitted(name, rows=X, classes=Y, seed=1):
    algorithm = ALGORITHMS[name]
    return algorithm.make(algorithm.given(rows, classes), seed).fit(rows)


def n_found(model):
    return len(set(model.labels_))


# Groups


def test_references_are_groups_of_their_own():
    assert [algorithm.name for algorithm in algorithms_named(["references"])] == OFFLINE
    assert [name for name, algorithm in ALGORITHMS.items() if algorithm.kind == "streams"] == RIVER
    assert {algorithm.name for algorithm in algorithms_named(["all"])}.isdisjoint([*OFFLINE, *RIVER])


def test_offline_references_run_in_the_stationary_setting_only(flowers):
    jobs = plan(["references"], ["flowers"], ["both"], 1)
    assert [(job.algorithm, job.setting) for job in jobs] == [(name, "stationary") for name in OFFLINE]
    with pytest.raises(PlanError, match="references do not take part in nonstationary"):
        plan(["references"], ["flowers"], ["nonstationary"], 1)
    assert all(ALGORITHMS[name].incremental for name in RIVER)


# Who is told what


@pytest.mark.parametrize("name", TOLD)
def test_the_number_of_classes_is_told(name):
    assert ALGORITHMS[name].is_told == "number of classes"
    assert n_found(fitted(name)) == 3
    assert n_found(fitted(name, classes=np.arange(150) % 5)) == 5


@pytest.mark.parametrize("name", ["hdbscan", "birch"])
def test_defaults_are_told_nothing(name):
    assert ALGORITHMS[name].is_told == "nothing"
    assert ALGORITHMS[name].given(X, Y) == {}


def test_what_is_told_covers_given_parameters_and_the_search():
    told = {name: algorithm.is_told for name, algorithm in ALGORITHMS.items()}
    assert told["everclust"] == told["idat"] == "nothing"
    assert told["g-ceals"].startswith("number of classes")
    assert told["gng"] == "parameters, by a search with the classes"
    assert told["ddvfa"] == "range of each feature; parameters, by a search with the classes"
    assert told["dbstream"] == "scale of each feature; parameters, by a search with the classes"
    for name in ("clustream", "streamkmeans"):
        assert told[name].startswith("number of classes; scale of each feature; parameters")


@pytest.mark.parametrize("name", ["k-means", "ward"])
def test_only_standardised_references_ignore_the_unit_of_a_feature(name):
    inches = X * [1, 1, 1, 1000]
    assert (fitted(name).labels_ != fitted(name, inches).labels_).any()
    standardised = f"{name}-standardised"
    assert (fitted(standardised).labels_ == fitted(standardised, inches).labels_).all()


def test_the_seed_is_passed_on():
    models = [ALGORITHMS["k-means"].make({}, seed) for seed in (1, 2)]
    assert [model._pipeline[-1].random_state for model in models] == [1, 2]


# Jobs


@pytest.mark.parametrize("name", OFFLINE)
def test_references_run_as_jobs(name, flowers):
    result = run_job(Job(name, "flowers", "stationary", 1), ALGORITHMS[name])
    assert (result.status, result.error) == ("ok", None)
    assert result.ari > 0.4
    assert result.nodes is None
    assert result.clusters >= 2


def test_ward_is_not_run_on_many_rows(flowers, monkeypatch):
    monkeypatch.setattr(references, "WARD_ROWS", 149)
    result = run_job(Job("ward-standardised", "flowers", "stationary", 1), ALGORITHMS["ward-standardised"])
    assert (result.status, result.ari) == ("memory", None)
    assert "the distances between all pairs of 150 rows; Ward takes up to 149" in result.error


# river


def test_without_river_groups_leave_it_out(without_river):
    assert [algorithm.name for algorithm in algorithms_named(["references", "streams"])] == OFFLINE
    assert [algorithm.name for algorithm in left_out(["references", "streams"])] == RIVER


@pytest.mark.parametrize("names", [["streams"], ["dbstream"], ["references", "clustream"]])
def test_without_river_its_algorithms_cannot_be_named(names, without_river):
    with pytest.raises(ImportError, match=r'river.*pip install "everclust\[bench\]"'):
        algorithms_named(names)


def test_nothing_is_left_out_when_it_is_installed(monkeypatch):
    monkeypatch.setattr("everclust.benchmark.run.registry.find_spec", lambda name: object())
    assert left_out(["references", "streams"]) == []
    assert [algorithm.name for algorithm in algorithms_named(["streams"])] == RIVER


class Recorder:
    """Has river's methods, and writes down what it learns."""

    def __init__(self, **params):
        self.params, self.learnt, self.centers = params, [], {}

    def learn_one(self, x):
        self.learnt.append(x)

    def predict_one(self, x):
        return 0


@pytest.fixture
def fake_river(monkeypatch):
    module = ModuleType("river.cluster")
    module.DBSTREAM = module.CluStream = Recorder
    monkeypatch.setitem(sys.modules, "river", ModuleType("river"))
    monkeypatch.setitem(sys.modules, "river.cluster", module)


def test_streams_learn_standardised_samples_one_by_one():
    rows = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0]])
    given = ALGORITHMS["dbstream"].given(rows, np.zeros(3))
    model = StandardisedStream(Recorder(), given["mean"], given["scale"])
    model.fit(rows[:1]).partial_fit(rows[1:])
    expected = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    assert [list(x) for x in model.model.learnt] == [[0, 1]] * 3
    assert np.allclose([list(x.values()) for x in model.model.learnt], expected)
    assert model.predict(rows).tolist() == [0, 0, 0]  # while there are no centres


def test_a_constant_feature_stays_finite():
    assert ALGORITHMS["dbstream"].given(np.ones((3, 2)), np.zeros(3))["scale"].tolist() == [1, 1]


def test_radii_grow_with_the_root_of_the_number_of_features(fake_river):
    algorithm = ALGORITHMS["dbstream"]
    found = {"clustering_threshold": 0.5, "fading_factor": 0.01}
    model = algorithm.make(algorithm.given(X, Y) | found, 7)
    assert model.model.params == {"clustering_threshold": 1.0, "fading_factor": 0.01}


def test_streams_with_a_number_of_clusters_get_number_and_seed(fake_river):
    algorithm = ALGORITHMS["clustream"]
    model = algorithm.make(algorithm.given(X, Y) | {"time_gap": 10}, 7)
    assert model.model.params == {"n_macro_clusters": 3, "time_gap": 10, "seed": 7}


def test_rows_belong_to_the_nearest_centre():
    model = StandardisedStream(Recorder(), np.zeros(2), np.ones(2))
    model.model.centers = {0: {0: 0.0, 1: 0.0}, 1: {0: 4.0, 1: 0.0}}
    assert model.predict(np.array([[1.0, 0.0], [3.0, 1.0]])).tolist() == [0, 1]
    assert ALGORITHMS["dbstream"].count(model) == (None, 2)


def test_clustream_is_asked_row_by_row():
    asked = []
    CluStream = type("CluStream", (Recorder,), {"predict_one": lambda self, x: asked.append(x) or len(asked)})
    model = StandardisedStream(CluStream(), np.zeros(1), np.ones(1))
    model.model.centers = {0: {0: 0.0}, 1: {0: 10.0}}
    assert model.predict(np.array([[5.9], [7.0]])).tolist() == [1, 2]
    assert asked == [{0: 5.9}, {0: 7.0}]


def searched(name, share=0.5):
    """Parameters from the middle of the search space."""
    found = {}
    for key, (low, high, *_) in ALGORITHMS[name].space.items():
        value = low + share * (high - low)
        found[key] = int(value) if isinstance(low, int) else value
    return found


@pytest.mark.parametrize("name", RIVER)
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_predictions_are_those_of_river(name, share):
    pytest.importorskip("river")
    algorithm = ALGORITHMS[name]
    order = np.random.RandomState(0).permutation(150)
    rows = X[order]
    model = algorithm.make(algorithm.given(rows, Y) | searched(name, share), 1).fit(rows)
    samples = ((rows - rows.mean(axis=0)) / rows.std(axis=0)).tolist()
    one_by_one = [model.model.predict_one(dict(enumerate(sample))) for sample in samples]
    assert model.predict(rows).tolist() == one_by_one


def test_every_space_is_one_that_river_accepts():
    pytest.importorskip("river")
    for name in RIVER:
        algorithm = ALGORITHMS[name]
        for share in (0.0, 1.0):
            algorithm.make(algorithm.given(X, Y) | searched(name, share), 1)
    assert {river.name for river in streams.RIVER} == set(RIVER)


def test_an_algorithm_that_needs_nothing_is_installed():
    assert Algorithm("x", "X", lambda params, seed: None).is_installed
