"""Jobs one by one and across cores: nothing is done twice, and nothing that goes wrong stops the rest."""

import importlib
import json
import os
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Semaphore

import numpy as np
import pytest
from joblib import parallel_config, register_parallel_backend
from joblib._parallel_backends import LokyBackend
from sklearn.datasets import load_digits, load_iris

from everclust import IDAT
from everclust.benchmark.run import isolation, runner
from everclust.benchmark.run.jobs import Job, run_job
from everclust.benchmark.run.measures import ami, ari
from everclust.benchmark.run.meter import Stopwatch
from everclust.benchmark.run.plan import PlanError, cost, fetchable, import_plugin, plan
from everclust.benchmark.run.registry import ALGORITHMS, Algorithm
from everclust.benchmark.run.runner import run
from everclust.benchmark.run.settings import class_incremental, stationary
from everclust.benchmark.run.store import Store

IRIS = load_iris()
SCORES = ("ari", "ami", "step_ari", "step_ami", "ai_ari", "ai_ami", "bwt_ari", "bwt_ami", "nodes", "clusters")
LIMIT = 3  # seconds: enough for a slow machine to learn a hundred rows
TIMES = {"started_at", "finished_at", "train_seconds", "train_cpu_seconds", "peak_memory"}


pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path))
    np.savez(tmp_path / "flowers.npz", X=IRIS.data, y=IRIS.target)
    np.savez(tmp_path / "pair.npz", X=IRIS.data[:100], y=IRIS.target[:100])
    np.savez(tmp_path / "gaps.npz", X=np.where(IRIS.data > 7, np.nan, IRIS.data), y=IRIS.target)
    return tmp_path


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        yield store


def done(algorithm="idat", dataset="flowers", setting="stationary", seed=1):
    return run_job(Job(algorithm, dataset, setting, seed), ALGORITHMS[algorithm])


def lasting(store):
    """What must not depend on when and where it was run."""
    rows = [{name: row[name] for name in row if name not in TIMES} for row in store.results()]
    return sorted(rows, key=lambda row: (row["algorithm"], row["dataset"], row["setting"], row["seed"]))


# One job


def test_a_sentence_about_memory_ends_once():
    def full(params, seed):
        raise MemoryError("The distances would take 27 GB; cluster fewer samples.")

    result = run_job(Job("full", "flowers", "stationary", 1), Algorithm("full", "Full", make=full))
    words = "Out of memory: The distances would take 27 GB; cluster fewer samples."
    assert (result.status, result.error) == ("memory", words)


def test_stationary_by_hand():
    order = stationary(IRIS.data, IRIS.target, 3)
    model = IDAT().fit(IRIS.data[order])
    result = done(seed=3)
    assert result.status == "ok"
    labels = model.predict(IRIS.data)
    assert (result.ari, result.ami) == (ari(IRIS.target, labels), ami(IRIS.target, labels))
    assert (result.nodes, result.clusters) == (model.n_active_nodes_, model.n_clusters_)
    assert result.step_ari is result.ai_ari is result.bwt_ari is result.bwt_printed_ari is None


@pytest.mark.parametrize(("setting", "within_seed"), [("nonstationary", 0), ("nonstationary:3", 3)])
def test_nonstationary_by_hand(setting, within_seed):
    steps = class_incremental(IRIS.data, IRIS.target, 2, within_seed=within_seed)
    model, scores, single = IDAT(), [1.0], []
    for k, step in enumerate(steps):
        model.partial_fit(IRIS.data[step])
        seen = np.concatenate(steps[: k + 1])
        if k:
            scores.append(ari(IRIS.target[seen], model.predict(IRIS.data[seen])))
        single.append(ari(IRIS.target[step], model.predict(IRIS.data[step])))
    result = done(setting=setting, seed=2)
    assert result.step_ari == scores
    assert result.ari == scores[-1]
    assert result.ai_ari == pytest.approx(np.mean(scores))
    assert result.bwt_ari == pytest.approx(1.5 * (scores[-1] - np.mean(scores)))
    last = [ari(IRIS.target[step], model.predict(IRIS.data[step])) for step in steps]
    assert result.bwt_printed_ari == pytest.approx(np.mean(np.subtract(last, single)[:-1]))
    assert (result.step_ami[0], len(result.step_ami), result.step_ami[-1]) == (1.0, 3, result.ami)


@pytest.mark.parametrize(
    ("algorithm", "setting"),
    [
        *(("idat", setting) for setting in ("stationary", "nonstationary", "nonstationary:3")),
        *((algorithm, "nonstationary") for algorithm in ("gng", "ddvfa", "caea")),
        ("torque-clustering", "stationary"),
    ],
)
def test_a_trial_of_a_search_has_the_same_ari_and_nothing_else(algorithm, setting):
    whole = done(algorithm, setting=setting, seed=2)
    job = Job(algorithm, "flowers", setting, 2, final_ari_only=True)
    brief = run_job(job, ALGORITHMS[algorithm])
    assert (brief.status, brief.ari) == ("ok", whole.ari)
    assert brief.ami is brief.step_ari is brief.history is brief.details is None
    assert job == whole.job  # the same identity


def test_a_trial_of_a_search_labels_the_rows_once(monkeypatch):
    labelled = []
    predict = IDAT.predict
    monkeypatch.setattr(IDAT, "predict", lambda self, X: labelled.append(len(X)) or predict(self, X))
    run_job(Job("idat", "flowers", "nonstationary", 1, final_ari_only=True), ALGORITHMS["idat"])
    assert labelled == [150]


@pytest.mark.parametrize("setting", ["stationary", "nonstationary"])
def test_the_history_is_that_of_the_stream(setting, tmp_path):
    digits = load_digits()
    np.savez(tmp_path / "digits.npz", X=digits.data, y=digits.target)
    history = done(dataset="digits", setting=setting).history
    assert history["n_samples_seen"] == list(range(9, 1798, 9))  # 1797 samples: every 9th, 199 moments
    if setting == "stationary":
        stream = digits.data[stationary(digits.data, digits.target, 1)]
    else:
        stream = digits.data[np.concatenate(class_incremental(digits.data, digits.target, 1))]
    model = IDAT().partial_fit(stream[:900])
    assert (model.interval_, model.vigilance_) == (history["interval"][99], history["vigilance"][99])


def test_time_and_memory_are_measured():
    result = done()
    assert 0 < result.train_seconds < 5
    assert result.train_cpu_seconds >= 0
    assert 0 <= result.peak_memory < 2**30
    assert result.started_at <= result.finished_at


class Calls:
    """Says what is called, and takes time in `fit` and `predict`."""

    def __init__(self, calls):
        self.calls = calls

    def fit(self, X):
        self.calls.append(("fit", len(X)))
        burn(0.05)
        return self

    def partial_fit(self, X):
        self.calls.append(("partial_fit", len(X)))
        return self

    def predict(self, X):
        burn(0.05)
        return np.zeros(len(X), dtype=int)


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_all_algorithms_are_timed_in_the_same_call(monkeypatch):
    # One `fit` of all rows with their labels, whether the estimator labels them in `fit` or later.
    calls = []
    plain = Algorithm(
        "plain", "Plain", lambda params, seed: Calls(calls), lambda model: (None, 1), warms_up=False
    )
    monkeypatch.setitem(ALGORITHMS, "plain", plain)
    assert done("plain").train_cpu_seconds >= 0.1
    assert calls == [("fit", 150)]


def test_the_history_is_not_part_of_the_time(monkeypatch):
    sizes = []
    real = Stopwatch.running

    @contextmanager
    def running(watch):
        sizes.append(len(learnt))
        with real(watch):
            yield
        sizes.append(len(learnt))

    learnt = []
    original = IDAT.partial_fit
    monkeypatch.setattr(
        IDAT, "partial_fit", lambda self, X, y=None: learnt.append(len(X)) or original(self, X)
    )
    monkeypatch.setattr(Stopwatch, "running", running)
    result = done(setting="nonstationary")
    assert learnt[: sizes[-1]][-3:] == [50, 50, 50]  # within the time: whole classes, in one call each
    assert len(result.history["interval"]) == 150  # afterwards: piece by piece


def test_nodes_of_caea_have_scores_of_their_own():
    result = done("caea")
    assert result.node_ari is not None
    assert result.node_ari != result.ari
    assert done("toy-cut").node_ari is None


def test_a_package_that_is_not_installed_is_in_the_result(monkeypatch, store):
    def absent(params, seed):
        raise ImportError("No module named 'torch'")

    monkeypatch.setitem(ALGORITHMS, "absent", Algorithm("absent", "Absent", absent))
    job = Job("absent", "flowers", "stationary", 1)
    assert run([job], store).statuses == {"uninstalled": 1}
    assert run([job], store).statuses == {"uninstalled": 1}  # it is tried again: it may be there now


def test_an_algorithm_without_history():
    result = done("toy-cut", setting="nonstationary")
    assert (result.status, result.history, result.nodes, result.clusters) == ("ok", None, None, 2)


@pytest.mark.parametrize(
    ("algorithm", "dataset", "status", "words"),
    [
        ("toy-fail", "flowers", "failed", "RuntimeError: no luck today"),
        ("idat", "nowhere", "missing", "There is no data set called 'nowhere'"),
        ("idat", "stl10", "missing", "STL10 is not available: put stl10.npz"),
        ("idat", "gaps", "failed", "BadDataSet: gaps holds 12 cells that are NaN"),
    ],
)
def test_what_goes_wrong_is_in_the_result(algorithm, dataset, status, words):
    result = done(algorithm, dataset)
    assert (result.status, result.ari) == (status, None)
    assert words in result.error


# Many jobs


@pytest.mark.slow
def test_two_processes_find_what_one_does(tmp_path, store):
    jobs = plan(["idat", "idat-without-growth", "toy-cut"], ["flowers", "pair"], ["both"], 4)
    assert run(jobs, store, n_jobs=1).statuses == {"ok": 40}
    with Store(tmp_path / "other.sqlite") as other:
        assert run(jobs, other, n_jobs=2).statuses == {"ok": 40}
        assert lasting(store) == lasting(other)


def test_what_is_done_is_not_done_again(tmp_path, store, monkeypatch):
    monkeypatch.setenv("EVERCLUST_TEST_LOG", str(tmp_path / "log"))
    first = run(plan(["toy-logged"], ["flowers"], ["stationary"], 2), store)
    again = run(plan(["toy-logged"], ["flowers"], ["stationary"], 3), store)
    assert (first.statuses, first.skipped) == ({"ok": 2}, 0)
    assert (again.statuses, again.skipped) == ({"ok": 1}, 2)
    assert (tmp_path / "log").read_text().split() == ["1", "2", "3"]


def test_a_job_given_twice_is_done_once(store):
    assert run([Job("toy-cut", "flowers", "stationary", 1)] * 2, store).statuses == {"ok": 1}


def test_failures_are_rows_and_can_be_retried(store):
    jobs = plan(["toy-fail", "toy-cut"], ["flowers"], ["stationary"], 2)
    seen = []
    assert run(jobs, store, progress=seen.append).statuses == {"failed": 2, "ok": 2}
    assert len(seen) == 4
    assert run(jobs, store).statuses == {}
    assert run(jobs, store, retry=True).statuses == {"failed": 2}


def test_a_data_set_that_comes_later_is_run_then(store, folder):
    jobs = [Job("toy-cut", "later", "stationary", 1)]
    assert run(jobs, store).statuses == {"missing": 1}
    np.savez(folder / "later.npz", X=IRIS.data, y=IRIS.target)
    assert run(jobs, store).statuses == {"ok": 1}
    assert [row["status"] for row in store.results()] == ["ok"]


@pytest.mark.slow
def test_limits_and_crashes_are_rows_and_never_stop_the_rest(store):
    names = ["toy-cut", "toy-sleep", "toy-eat", "toy-crash", "toy-fail"]
    jobs = [*plan(names, ["flowers"], ["stationary"], 1), Job("toy-cut", "flowers", "stationary", 2)]
    summary = run(jobs, store, limit_seconds=LIMIT, limit_memory=2**29)
    isolation.stop()
    rows = {(row["algorithm"], row["seed"]): (row["status"], row["error"]) for row in store.results()}
    assert rows.pop(("toy-cut", 1)) == rows.pop(("toy-cut", 2)) == ("ok", None)
    assert rows.pop(("toy-sleep", 1)) == ("timeout", f"Not finished after {LIMIT} s.")
    assert rows.pop(("toy-crash", 1)) == ("failed", "The process of the job crashed.")
    assert rows.pop(("toy-fail", 1)) == ("failed", "RuntimeError: no luck today")
    status, error = rows.pop(("toy-eat", 1))
    assert status == "memory"
    assert error.startswith("Out of memory: Unable to allocate 2.00 GiB")
    assert not rows
    assert summary.statuses == {"ok": 2, "timeout": 1, "memory": 1, "failed": 2}


@pytest.mark.slow
def test_what_is_loaded_first_does_not_count_against_the_limit(store, tmp_path, monkeypatch):
    (tmp_path / "heavy.py").write_text(
        "import os, time\nfrom support.toy_algorithms import Cut\n"
        f"if os.getpid() != {os.getpid()}: time.sleep({LIMIT + 0.5})\n"
        "def make(params, seed): return Cut()\n"
    )
    sys.path.append(str(tmp_path))
    heavy = Algorithm("heavy", "Heavy", importlib.import_module("heavy").make)
    monkeypatch.setitem(ALGORITHMS, "heavy", heavy)
    summary = run(plan(["heavy"], ["flowers"], ["stationary"], 1), store, limit_seconds=LIMIT)
    isolation.stop()
    assert summary.statuses == {"ok": 1}


@pytest.mark.slow
def test_what_took_too_long_once_is_not_begun_again(store):
    jobs = plan(["toy-sleep", "toy-cut"], ["flowers"], ["stationary"], 3)
    run(jobs, store, limit_seconds=LIMIT)
    isolation.stop()
    rows = {(row["algorithm"], row["seed"]): row["error"] for row in store.results()}
    assert [rows["toy-cut", seed] for seed in (1, 2, 3)] == [None] * 3
    assert rows["toy-sleep", 1] == f"Not finished after {LIMIT} s."
    for seed in (2, 3):
        assert rows["toy-sleep", seed] == f"Not started: another run was not finished after {LIMIT} s."


@pytest.mark.slow
def test_a_worker_that_dies_takes_nothing_with_it(store):
    jobs = plan(["toy-cut", "toy-vanish"], ["flowers"], ["stationary"], 1)
    jobs += [Job("toy-cut", "flowers", "stationary", seed) for seed in range(2, 9)]
    run(jobs, store, n_jobs=2)
    rows = {(row["algorithm"], row["seed"]): row["status"] for row in store.results()}
    assert rows.pop(("toy-vanish", 1)) == "memory"  # a worker killed from outside counts as out of memory
    assert set(rows.values()) == {"ok"}
    assert len(rows) == 8


def test_a_job_that_had_not_begun_when_the_run_was_interrupted_does_not_begin(monkeypatch):
    """The run would wait for it, as long as the job takes."""
    take, are_sent, is_stopped, begun = isolation._take, Semaphore(0), Event(), []

    def take_late(is_interrupted):
        are_sent.release()
        assert is_stopped.wait(30)
        begun.append("asked")
        worker = take(is_interrupted)
        begun.append("begun")
        return worker

    def stop():
        isolation.stop()
        is_stopped.set()

    monkeypatch.setattr(isolation, "_take", take_late)
    monkeypatch.setattr(runner, "stop", stop)

    def interrupted():
        yield Job("toy-sleep", "iris", "stationary", 1), ALGORITHMS["toy-sleep"]
        are_sent.acquire()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(runner._in_workers(interrupted(), 2, isolation.Limits(60)))
    assert begun == ["asked"]


def test_a_back_end_that_answers_all_at_once(store):
    class Plain(LokyBackend):
        supports_return_generator = False

    register_parallel_backend("plain", Plain)
    with parallel_config(backend="plain"):
        run(plan(["toy-cut"], ["flowers"], ["stationary"], 12), store, n_jobs=2)
    assert Counter(row["status"] for row in store.results()) == {"ok": 12}


# From names to jobs


def test_the_plan_has_every_combination_once():
    jobs = plan(["idat", "all"], ["flowers", "all", "flowers"], ["both", "stationary"], 3)
    idat = [job for job in jobs if job.algorithm == "idat"]
    assert len(idat) == len(set(idat)) == 25 * 2 * 3
    assert {job.seed for job in jobs} == {1, 2, 3}
    assert not any(ALGORITHMS[job.algorithm].kind == "ablation" for job in jobs)


def test_the_ablation_is_nonstationary():
    jobs = plan(["ablation"], ["flowers"], ["both"], 1)
    assert len(jobs) == 7
    assert {job.setting for job in jobs} == {"nonstationary"}
    with pytest.raises(PlanError, match="There is nothing to run: idat-500 do not take part in stationary"):
        plan(["idat-500"], ["flowers"], ["stationary"], 1)


def test_other_shuffles_are_for_two_classes_only():
    jobs = plan(["idat", "idat-500"], ["flowers", "pair"], ["both"], 1, shuffles=2)
    found = [(job.algorithm, job.dataset, job.setting) for job in jobs if ":" in job.setting]
    assert found == [("idat", "pair", "nonstationary:1"), ("idat", "pair", "nonstationary:2")]


def test_names_that_are_wrong():
    with pytest.raises(ValueError, match="There is no algorithm called 'nonsense'"):
        plan(["nonsense"], ["flowers"], ["both"], 1)
    with pytest.raises(ValueError, match="There is no setting called 'nonsense'"):
        plan(["idat"], ["flowers"], ["nonsense"], 1)
    with pytest.raises(ValueError, match="at least 1 seed, but 0"):
        plan(["idat"], ["flowers"], ["both"], 0)
    with pytest.raises(PlanError, match=r"There is no file nowhere\.py"):
        import_plugin(Path("nowhere.py"))


def test_files_that_cannot_be_taken_in(tmp_path):
    for name, text in {"faulty.py": "1 / 0", "json.py": ""}.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(
        PlanError, match=r"faulty\.py cannot be imported \(ZeroDivisionError: division by zero\)"
    ):
        import_plugin(tmp_path / "faulty.py")
    with pytest.raises(PlanError, match="There is another module called 'json'"):
        import_plugin(tmp_path / "json.py")


def test_larger_data_sets_cost_more():
    costs = [cost(Job("idat", name, "stationary", 1)) for name in ("iris", "flowers", "skin")]
    assert costs == sorted(costs)


def test_all_that_can_be_fetched():
    names = fetchable(["iris", "all"])
    assert names[0] == "iris"
    assert len(names) == len(set(names)) == 20
    assert "stl10" not in names
    assert fetchable(["stl10"]) == ["stl10"]


def test_rows_are_plain(store):
    run([Job("idat", "flowers", "nonstationary", 1)], store)
    (row,) = store.results()
    assert {"bwt_printed_ami", *SCORES} <= set(row)
    assert json.loads(row["history"])["n_samples_seen"][-1] == 150


# Workers


def of_this_module(model):
    return None, 1


@pytest.mark.slow
def test_a_worker_serves_many_jobs_until_one_has_to_be_killed():
    def own_process(model):
        return None, os.getpid()

    pid = Algorithm("pid", "Pid", ALGORITHMS["toy-cut"].make, own_process)
    jobs = [Job("pid", "flowers", "stationary", seed) for seed in range(5)]
    limits = isolation.Limits(seconds=60)
    first, *others = [isolation.run_isolated(job, pid, limits).clusters for job in jobs]
    assert first != os.getpid()
    assert set(others) == {first}
    sleeper = Job("toy-sleep", "flowers", "stationary", 1)
    assert isolation.run_isolated(sleeper, ALGORITHMS["toy-sleep"], isolation.Limits(1.0)).status == "timeout"
    assert isolation.run_isolated(jobs[0], pid, limits).clusters not in (None, first)
    isolation.stop()


@pytest.mark.slow
def test_what_a_worker_cannot_import_is_in_the_result():
    far = Algorithm(
        "far", "Far", ALGORITHMS["toy-cut"].make, of_this_module
    )  # tests are on no path of a worker
    result = isolation.run_isolated(Job("far", "flowers", "stationary", 1), far, isolation.Limits())
    isolation.stop()
    assert result.status == "failed"
    assert result.error.startswith(
        "The algorithm cannot be imported in another process (ModuleNotFoundError: "
    )


@pytest.mark.slow
def test_what_an_algorithm_prints_does_not_disturb_its_worker():
    def noisy(params, seed):
        os.write(1, b"more noise")
        return ALGORITHMS["toy-cut"].make(params, seed)

    job = Job("noisy", "flowers", "stationary", 1)
    result = isolation.run_isolated(job, Algorithm("noisy", "Noisy", noisy), isolation.Limits(60))
    isolation.stop()
    assert result.status == "ok", result.error
