"""Further scores and labels of every run, in stores old and new."""

import sqlite3

import numpy as np
import pytest
from sklearn.datasets import load_iris

from everclust import IDAT
from everclust.benchmark.data.entry import NOISE
from everclust.benchmark.run.details import Details, smallest
from everclust.benchmark.run.jobs import Job, Result, run_job
from everclust.benchmark.run.measures import ari
from everclust.benchmark.run.partitions import FURTHER, further_scores, labelling_scores
from everclust.benchmark.run.registry import algorithm_called
from everclust.benchmark.run.settings import class_incremental, stationary
from everclust.benchmark.run.store import TYPES, Store

IRIS = load_iris()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path))
    np.savez(tmp_path / "iris.npz", X=IRIS.data, y=IRIS.target)
    return tmp_path


def run(job):
    result = run_job(job, algorithm_called(job.algorithm))
    assert result.status == "ok", result.error
    return result


@pytest.mark.parametrize("setting", ["stationary", "nonstationary"])
def test_labels_are_in_the_order_of_the_file(setting):
    details = run(Job("idat", "iris", setting, 2)).details
    steps = class_incremental(IRIS.data, IRIS.target, 2)
    order = np.concatenate(steps) if setting == "nonstationary" else stationary(IRIS.data, IRIS.target, 2)
    labels = IDAT().fit(IRIS.data[order]).predict(IRIS.data)
    assert ari(details.labels, labels) == 1.0  # ids depend on the pieces in which a stream is learnt
    assert details.scores == pytest.approx(further_scores(IRIS.target, labels))


def test_references_have_details_too():
    details = run(Job("k-means", "iris", "stationary", 1)).details
    assert set(details.labels.tolist()) == {0, 1, 2}


def test_details_come_back_from_the_store(tmp_path):
    results = [run(Job("idat", "iris", "stationary", seed)) for seed in (1, 2)]
    with Store(tmp_path / "s.sqlite") as store:
        for result in results:
            store.add(result)
        store.add(Result(Job("idat", "iris", "stationary", 3), "timeout", "late"))
        store.add(results[0])
        rows, labels = store.results(), dict(store.labels())
    assert [row["fowlkes_mallows"] for row in rows] == [
        *(result.details.scores["fowlkes_mallows"] for result in results),
        None,
    ]
    assert set(labels) == {result.job.key for result in results}
    for result in results:
        assert np.array_equal(labels[result.job.key], result.details.labels)


def test_a_failed_run_leaves_no_details_and_a_good_one_keeps_its_own(tmp_path):
    job, other = Job("idat", "iris", "stationary", 1), Details({"homogeneity": 0.1}, np.array([1, 2]))
    with Store(tmp_path / "s.sqlite") as store:
        store.add(Result(job, "failed", "no", details=other))
        assert dict(store.labels()) == {}
        store.add(Result(job, "ok", details=Details({"homogeneity": 0.5}, np.array([3]))))
        store.add(Result(job, "ok", details=other))
        assert [row["homogeneity"] for row in store.results()] == [0.5]


def test_a_store_made_before_there_were_details_goes_on(tmp_path):
    path = tmp_path / "old.sqlite"
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    key = "algorithm, dataset, setting, seed, params_json"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"CREATE TABLE results ({columns}, PRIMARY KEY ({key}))")
        row = Result(Job("idat", "iris", "stationary", 1), "ok", ari=0.5).row()
        marks = ", ".join(f":{name}" for name in TYPES)
        connection.execute(f"INSERT INTO results ({', '.join(TYPES)}) VALUES ({marks})", row)
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with Store(path) as store:
        assert [(row["ari"], row["fowlkes_mallows"]) for row in store.results()] == [(0.5, None)]
        assert list(store.labels()) == []
        store.add(run(Job("idat", "iris", "stationary", 2)))
        old, new = store.results()
    assert old["homogeneity"] is None
    assert 0 < new["homogeneity"] <= 1
    assert {name for name in FURTHER if name in old} == set(FURTHER)


def test_details_do_not_change_the_table_of_results(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add(run(Job("idat", "iris", "stationary", 1)))
        columns = {row["name"] for row in store._connection.execute("PRAGMA table_info(results)")}
        assert columns == set(TYPES)


@pytest.mark.parametrize("labels", [[0, 255], [0, 256], [-1, 127], [-1, 128], [-1, 200, 70000], [5], []])
def test_the_smallest_integers_hold_all_labels(labels):
    kept = smallest(np.array(labels, dtype=np.int64))
    assert kept.tolist() == labels
    assert kept.dtype.itemsize <= 4
    assert smallest(np.array([0, 255])).dtype == np.uint8


def test_several_labellings_are_scored_one_by_one_and_noise_is_left_out(folder):
    battery = folder / "b"
    battery.mkdir()
    np.savetxt(battery / "x.data.gz", IRIS.data)
    first = IRIS.target + 1
    first[:10] = 0
    np.savetxt(battery / "x.labels0.gz", first, fmt="%d")
    np.savetxt(battery / "x.labels1.gz", np.minimum(IRIS.target, 1) + 1, fmt="%d")
    result = run(Job("idat", "b/x", "nonstationary", 1))
    y = [np.where(first == 0, NOISE, first), np.minimum(IRIS.target, 1) + 1]
    expected = labelling_scores(y, result.details.labels)
    assert {name: pytest.approx(of) for name, of in expected.items()} == result.details.scores["labellings"]
    assert result.ari == pytest.approx(expected["ari"][0])
    assert len(result.step_ari) == 3
    assert len(result.details.labels) == 150
    with Store(folder / "s.sqlite") as store:
        store.add(result)
        assert store.results()[0]["labellings"] == result.details.scores["labellings"]
