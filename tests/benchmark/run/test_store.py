"""The store: what was added stays, and what is no store is told."""

import json
import multiprocessing
import sqlite3

import pytest

from everclust.benchmark.run.jobs import Job, Result, as_json
from everclust.benchmark.run.store import Store, StoreError

JOB = Job("idat", "iris", "nonstationary", 1)
RESULT = Result(JOB, "ok", ari=0.25, step_ari=[1.0, 0.25], history={"interval": [2, 4]}, nodes=3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_a_result_comes_back(path):
    with Store(path) as store:
        store.add(RESULT)
    with Store(path, create=False) as store:
        (row,) = store.results()
        assert store.done() == {JOB.key}
    assert (row["algorithm"], row["dataset"], row["setting"], row["seed"]) == JOB.key[:4]
    assert (row["params_json"], row["status"], row["ari"], row["nodes"]) == ("{}", "ok", 0.25, 3)
    assert (row["ami"], row["error"], row["peak_memory"]) == (None, None, None)
    assert json.loads(row["step_ari"]) == [1.0, 0.25]
    assert json.loads(row["history"]) == {"interval": [2, 4]}
    assert {"everclust", "numpy", "numba", "scikit-learn", "python"} <= set(json.loads(row["versions"]))
    assert {"platform", "cpu_count"} == set(json.loads(row["machine"]))
    assert row["started_at"] <= row["finished_at"]


def test_a_row_is_seen_by_others_at_once(path):
    with Store(path) as one, Store(path) as other:
        one.add(RESULT)
        assert other.done() == {JOB.key}


def test_the_file_is_in_wal_mode_and_every_row_on_the_disk(path):
    with Store(path) as store:
        assert store._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert store._connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL


def test_every_part_of_the_key_tells_jobs_apart(path):
    others = [
        Job("idat-500", "iris", "nonstationary", 1),
        Job("idat", "seeds", "nonstationary", 1),
        Job("idat", "iris", "stationary", 1),
        Job("idat", "iris", "nonstationary", 2),
        Job("idat", "iris", "nonstationary", 1, as_json({"b": 1, "a": 2})),
    ]
    with Store(path) as store:
        for job in [JOB, *others]:
            store.add(Result(job, "ok"))
        assert store.done() == {job.key for job in [JOB, *others]}
    assert as_json({"b": 1, "a": 2}) == as_json({"a": 2, "b": 1})


def test_a_good_result_stays_and_others_give_way(path):
    with Store(path) as store:
        store.add(Result(JOB, "failed", "no luck"))
        store.add(RESULT)
        store.add(Result(JOB, "failed", "later"))
        (row,) = store.results()
    assert (row["status"], row["error"], row["ari"]) == ("ok", None, 0.25)


def test_what_was_missing_is_not_done_and_what_failed_is_not_to_be_retried_unasked(path):
    with Store(path) as store:
        for seed, status in enumerate(("ok", "failed", "timeout", "memory", "missing")):
            store.add(Result(Job("idat", "iris", "stationary", seed), status))
        assert {key[3] for key in store.done()} == {0, 1, 2, 3}
        assert {key[3] for key in store.done(retry=True)} == {0}


def add_many(path, first):
    with Store(path) as store:
        for seed in range(first, first + 50):
            store.add(Result(Job("idat", "iris", "stationary", seed), "ok"))


def test_two_processes_may_write(path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=add_many, args=(path, first)) for first in (0, 25)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert [worker.exitcode for worker in workers] == [0, 0]
    with Store(path) as store:
        assert {key[3] for key in store.done()} == set(range(75))


# What is no store


@pytest.mark.parametrize("content", [b"Not a data base, but long enough to be taken for one. " * 90, b"x"])
def test_another_file(path, content):
    path.write_bytes(content)
    with pytest.raises(
        StoreError, match=r"results\.sqlite is not a store of results, or damaged .* choose another file"
    ):
        Store(path)
    assert path.read_bytes() == content


def test_a_damaged_store(path):
    with Store(path) as store:
        for seed in range(300):
            store.add(Result(Job("idat", "iris", "stationary", seed), "ok", history={"interval": [1] * 200}))
    data = bytearray(path.read_bytes())
    data[4096 * 2 : 4096 * 20] = bytes(4096 * 18)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        Store(path)


def test_a_truncated_store(path):
    add_many(path, 0)
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(StoreError, match="damaged"):
        Store(path)


@pytest.mark.parametrize(
    "columns", ["CREATE TABLE results (something TEXT)", "CREATE TABLE results (ari REAL, ami REAL)"]
)
def test_another_data_base(path, columns):
    with sqlite3.connect(path) as connection:
        connection.execute(columns)
    connection.close()
    with pytest.raises(StoreError, match="is not a store of results"):
        Store(path)


def test_a_newer_store(path):
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match=r"has format 99, but this everclust reads up to 2; upgrade it"):
        Store(path)


def test_a_folder_that_is_not_there(path):
    with pytest.raises(StoreError, match="cannot be used"):
        Store(path / "nowhere" / "results.sqlite")


def test_a_store_to_read_must_be_there(path):
    with pytest.raises(StoreError, match="There is no store at"):
        Store(path, create=False)
    assert not path.exists()
