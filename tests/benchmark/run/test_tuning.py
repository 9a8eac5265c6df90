"""Tuning: a toy with one parameter, the best value of which is known."""

import sys

import numpy as np
import pytest

from everclust.baselines.parameters import published
from everclust.baselines.parameters import tuned as fitted
from everclust.benchmark.run import isolation
from everclust.benchmark.run import tuning as search
from everclust.benchmark.run.jobs import Job, Result
from everclust.benchmark.run.runner import run
from everclust.benchmark.run.store import Store
from everclust.benchmark.run.tuning import Tuning, journal_beside, tuned

optuna = pytest.importorskip("optuna")
PLACE = ("toy-cut", "steps", "stationary")


pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """One feature; everything above 3 is of the second class."""
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path))
    X = np.linspace(0, 10, 101)[:, None]
    np.savez(tmp_path / "steps.npz", X=X, y=(X[:, 0] > 3).astype(int))
    return tmp_path


@pytest.fixture
def inline(monkeypatch):
    """Do the jobs here, and count them."""
    given = []

    def results(jobs, *, n_jobs, limits):
        assert limits.seconds <= 60
        for job in jobs:
            given.append(job)
            score = -abs(job.params["cut"] - 3)
            status = "failed" if job.params["cut"] > 8 else "ok"
            yield Result(job, status, ari=score)

    monkeypatch.setattr(search, "results", results)
    return given


def find(folder, trials=8, name="trials", limit_seconds=60.0):
    return search.search(*PLACE, folder / name, trials=trials, limit_seconds=limit_seconds)


def params_of(folder, name):
    return [trial.params["cut"] for trial in study(folder, name).trials]


def study(folder, name="trials"):
    backend = optuna.storages.journal.JournalFileBackend(str(folder / name))
    return optuna.load_study(study_name="/".join(PLACE), storage=optuna.storages.JournalStorage(backend))


def test_the_best_parameter_is_found(folder, inline):
    tuning = find(folder, trials=25)
    assert tuning.n_finished == 25
    assert tuning.params["cut"] == pytest.approx(3, abs=0.5)
    assert tuning.score == pytest.approx(-abs(tuning.params["cut"] - 3))
    assert [job.seed for job in inline[:10]] == list(range(10))
    assert all(job.final_ari_only for job in inline)
    assert max(params_of(folder, "trials")) > 8  # runs that fail prune their trial, and it counts as finished
    assert "PRUNED" in {trial.state.name for trial in study(folder).trials}


def test_a_search_that_was_interrupted_finds_the_same(folder, inline):
    whole = find(folder, name="whole")
    for trials in (1, 2, 5, 6):
        assert find(folder, trials=trials, name="parts").n_finished == trials
    assert find(folder, name="parts") == whole
    assert params_of(folder, "parts") == params_of(folder, "whole")


def test_a_trial_that_was_killed_is_done_again(folder, inline):
    whole = find(folder, name="whole")
    find(folder, trials=3)
    study(folder).ask()  # and killed
    assert find(folder) == whole
    assert [trial.state.name for trial in study(folder).trials].count("FAIL") == 1


def test_a_finished_search_runs_nothing(folder, inline):
    first = find(folder)
    inline.clear()
    assert find(folder) == first
    assert inline == []


def test_time_that_runs_out_means_not_available(folder, monkeypatch):
    def results(jobs, *, n_jobs, limits):
        yield Result(jobs[0], "timeout")

    monkeypatch.setattr(search, "results", results)
    assert find(folder, limit_seconds=0.05) == Tuning(None, None, 0)
    assert find(folder, limit_seconds=0.05) == Tuning(None, None, 0)  # that of before counts


@pytest.mark.slow  # processes of its own
def test_a_real_search_within_its_limit(folder):
    """Every run is in a process with a deadline."""
    with Store(folder / "results.sqlite") as store:
        jobs = tuned([Job(*PLACE, seed) for seed in (1, 2)], store, trials=3)
        assert run(jobs, store).statuses == {"ok": 2}
        (params,) = {row["params_json"] for row in store.results()}
    isolation.stop()
    assert params.startswith('{"cut": ')
    assert journal_beside(folder / "results.sqlite").exists()


def test_jobs_that_cannot_be_tuned(folder, monkeypatch):
    monkeypatch.setattr(search, "search", lambda *place, **options: Tuning(None, None, 7))
    jobs = [Job("idat", "steps", "stationary", 1), Job("toy-cut", "nowhere", "stationary", 1)]
    with Store(folder / "results.sqlite") as store:
        assert tuned([*jobs, Job(*PLACE, 1)], store, limit_seconds=60) == jobs
        (row,) = store.results()
    assert (row["algorithm"], row["status"]) == ("toy-cut", "timeout")
    assert row["error"] == "Only 7 of 25 trials finished within 60 s."


def test_all_trials_failed(folder, monkeypatch):
    def results(jobs, *, n_jobs, limits):
        yield Result(jobs[0], "failed")

    monkeypatch.setattr(search, "results", results)
    tuning = find(folder)
    assert tuning == Tuning(None, None, 8)
    assert search._not_available(tuning, 8, 60) == "None of 8 trials succeeded."


def test_whole_numbers_stay_whole(folder):
    trial = optuna.create_study().ask()
    assert type(search._suggest_one(trial, "a", (1, 50))) is int
    assert type(search._suggest_one(trial, "b", (1.0, 50.0))) is float


def test_the_sampler_starts_at_random_and_goes_with_torch(monkeypatch):
    assert type(search._sampler(optuna, 1)).__name__ == "TPESampler" or "torch" in sys.modules
    monkeypatch.setattr(search.importlib.util, "find_spec", lambda name: name == "torch")
    made = []
    monkeypatch.setattr(optuna.samplers, "GPSampler", lambda **options: made.append(options))
    search._sampler(optuna, 5)
    assert made == [{"seed": 5, "n_startup_trials": 4}]


def test_without_optuna(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r'pip install "everclust\[bench\]"'):
        find(folder)


# Parameters that need no search


def taken(folder, take, *places):
    """Parameters of one job at each place, and where they come from; a search would fail."""
    with Store(folder / "results.sqlite") as store:
        jobs = tuned([Job(*place, 1) for place in places], store, take=take)
        assert [row["params_json"] for row in store.asked()] == [job.params_json for job in jobs]
    return [(job.parameters, job.params) for job in jobs]


def test_as_in_paper_takes_what_the_paper_prints(folder):
    ((kind, params),) = taken(folder, "printed", ("gng", "iris", "stationary"))
    assert (kind, params) == ("printed", published("gng", "stationary", "iris"))
    assert params != fitted("gng", "stationary", "iris")


def test_fitted_takes_ours_and_else_the_printed_ones(folder):
    places = [("gng", "iris", "stationary"), ("gng", "rice", "stationary"), ("idat", "iris", "stationary")]
    assert taken(folder, "fitted", *places) == [
        ("fitted", fitted("gng", "stationary", "iris")),
        ("printed", published("gng", "stationary", "rice")),
        ("none", {}),
    ]


@pytest.mark.parametrize("name", ["tbm-p", "ddvfa"])
def test_as_in_paper_follows_the_authors_program(folder, name):
    ((_, params),) = taken(folder, "printed", (name, "iris", "stationary"))
    assert params == published(name, "stationary", "iris") | {"reference_quirks": True}


def test_a_search_as_in_paper_follows_the_authors_program_too(folder, monkeypatch):
    np.savez(folder / "iris.npz", X=np.arange(12.0).reshape(6, 2), y=[0, 0, 1, 1, 2, 2])
    asked = {}
    monkeypatch.setattr(
        search, "search", lambda *place, **options: asked.update(options) or Tuning({"a_max": 5}, 0.5, 25)
    )
    ((kind, _),) = taken(folder, "printed", ("caea", "iris", "stationary"))
    assert kind == "searched"
    assert asked["fixed"] == {"reference_quirks": True}


def test_fixed_parameters_are_in_every_trial_and_in_the_result(folder, inline):
    tuning = search.search(*PLACE, folder / "trials", trials=2, limit_seconds=60.0, fixed={"seed": 7})
    assert {job.params["seed"] for job in inline} == {7}
    assert tuning.params["seed"] == 7


def test_another_shuffle_has_the_same_parameters(folder):
    found = taken(folder, "printed", ("gng", "rice", "nonstationary"), ("gng", "rice", "nonstationary:2"))
    assert found[0] == found[1]


def test_what_a_search_has_found_is_stored_before_the_next_begins(folder, monkeypatch):
    np.savez(folder / "more.npz", X=np.arange(12.0).reshape(6, 2), y=[0, 0, 1, 1, 2, 2])
    heard = []

    def found(algorithm, dataset, setting, journal, **options):
        if dataset == "more":
            raise KeyboardInterrupt
        return Tuning({"cut": 3.0}, 0.5, 25)

    monkeypatch.setattr(search, "search", found)
    with Store(folder / "results.sqlite") as store:
        with pytest.raises(KeyboardInterrupt):
            tuned([Job(*PLACE, 1), Job("toy-cut", "more", "stationary", 1)], store, progress=heard.append)
        assert [row["params_json"] for row in store.asked()] == ['{"cut": 3.0}', None]
    assert heard == ["searched toy-cut, steps, stationary: 25 of 25 trials, mean ARI 0.500"]
