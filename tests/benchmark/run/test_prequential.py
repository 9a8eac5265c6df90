"""Further settings: labels at arrival, memory over time, features in other units."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from everclust import IDAT
from everclust.benchmark.run import tuning
from everclust.benchmark.run.jobs import Job, run_job
from everclust.benchmark.run.measures import ami, ari
from everclust.benchmark.run.meter import resident
from everclust.benchmark.run.plan import PlanError, plan
from everclust.benchmark.run.registry import Algorithm, algorithm_called
from everclust.benchmark.run.settings import class_incremental, rescaled, setting_called, stationary
from everclust.benchmark.run.store import Store

IRIS = load_iris()
X = np.concatenate([IRIS.data] * 3)  # 450 rows: blocks of 3 rows
Y = np.concatenate([IRIS.target] * 3)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path))
    np.savez(tmp_path / "own.npz", X=X, y=Y)
    return tmp_path


@pytest.mark.parametrize(
    ("setting", "order"),
    [
        ("prequential", stationary(X, Y, 4)),
        ("prequential-nonstationary", np.concatenate(class_incremental(X, Y, 4))),
    ],
)
def test_every_block_is_labelled_before_it_is_learnt(setting, order):
    result = run_job(Job("idat", "own", setting, 4), algorithm_called("idat"))
    assert result.status == "ok", result.error
    model, labels = IDAT(), np.full(450, -1)
    for start in range(0, 450, 3):
        block = order[start : start + 3]
        if start:
            labels[block] = model.predict(X[block])
        model.partial_fit(X[block])
    arrived = order[3:]
    assert result.details.labels.tolist() == labels.tolist()
    assert set(labels[order[:3]]) == {-1}
    assert result.ari == pytest.approx(ari(Y[arrived], labels[arrived]))
    assert result.ami == pytest.approx(ami(Y[arrived], labels[arrived]))
    assert result.history["n_samples_seen"] == list(range(3, 451, 3))
    assert len(result.history["memory"]) == 150
    assert all(amount >= 0 for amount in result.history["memory"])
    ends = np.linspace(0, 447, 11).astype(int)
    third = arrived[ends[2] : ends[3]]
    assert result.history["window_ari"][2] == pytest.approx(ari(Y[third], labels[third]))
    assert len(result.history["window_ami"]) == 10
    assert result.clusters == model.n_clusters_


class Hoarder:
    """Keeps a megabyte for every row, and labels all alike."""

    def __init__(self):
        self.kept, self.labels_ = [], [0]

    def partial_fit(self, X):
        self.kept += [np.ones(2**17) for _ in X]
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@pytest.mark.skipif(resident("VmRSS") is None, reason="Only Linux tells")
def test_memory_over_time_shows_a_model_that_grows():
    hoarder = Algorithm(
        "hoarder", "Hoarder", lambda params, seed: Hoarder(), incremental=True, warms_up=False
    )
    memory = run_job(Job("hoarder", "own", "prequential", 1), hoarder).history["memory"]
    assert memory[-1] - memory[9] == pytest.approx(420 * 2**20, rel=0.1)
    assert memory[74] - memory[9] == pytest.approx(195 * 2**20, rel=0.1)


class Counting:
    def __init__(self, cycle):
        self.cycle, self.labels_ = cycle, [0]

    def partial_fit(self, X):
        return self

    def predict(self, X):
        return np.full(len(X), 7 if self.cycle == "global" else 8)


def test_blocks_do_not_count_as_training_calls():
    made = Algorithm(
        "c", "C", lambda p, seed: Counting(**p), incremental=True, given=lambda X, y: {"cycle": "call"}
    )
    labels = run_job(Job("c", "own", "prequential", 1), made).details.labels
    assert set(labels.tolist()) == {-1, 7}


def test_scaled_features_differ_by_feature_and_seed_only():
    factors = rescaled(X, 1) / X
    assert np.allclose(factors, factors[0])
    assert len(set(factors[0].round(9))) == 4
    assert np.all((factors >= 0.1) & (factors <= 10))
    assert not np.allclose(rescaled(X, 2) / X, factors)
    drawn = np.log10(rescaled(np.ones((1, 10000)), 5)[0])
    assert drawn.mean() == pytest.approx(0, abs=0.02)  # log-uniform between 0.1 and 10
    assert drawn.std() == pytest.approx(2 / 12**0.5, abs=0.01)


def test_a_scaled_run_learns_the_scaled_samples_in_the_same_order():
    result = run_job(Job("idat", "own", "scaled", 6), algorithm_called("idat"))
    order, scaled = stationary(X, Y, 6), rescaled(X, 6)
    assert ari(IDAT().fit(scaled[order]).predict(scaled), result.details.labels) == 1.0
    assert ari(IDAT().fit(X[order]).predict(X), result.details.labels) < 1.0


def test_who_takes_part():
    def names(setting, *algorithms):
        return {job.algorithm for job in plan(algorithms, ["own"], [setting], 1)}

    assert names("scaled", "idat", "k-means", "ablation") == {"idat", "k-means"}
    assert names("prequential", "idat", "gng", "k-means", "ablation") == {"idat", "gng"}
    with pytest.raises(PlanError, match="nothing to run"):
        plan(["k-means"], ["own"], ["prequential-nonstationary"], 1)
    assert {job.setting for job in plan(["idat"], ["own"], ["both"], 1)} == {"stationary", "nonstationary"}
    with pytest.raises(ValueError, match="prequential"):
        setting_called("wrong")


def test_parameters_are_those_of_the_setting_with_the_same_order(folder, monkeypatch):
    seen = []

    def search(*place, **options):
        seen.append(place[:3])
        return tuning.Tuning({"a": 1}, 0.5, 1)

    monkeypatch.setattr(tuning, "search", search)
    jobs = [Job("gng", "own", s, 1) for s in ("scaled", "prequential", "prequential-nonstationary")]
    with Store(folder / "s.sqlite") as store:
        ready = tuning.tuned(jobs, store)
    assert seen == [("gng", "own", "stationary"), ("gng", "own", "nonstationary")]
    assert [job.setting for job in ready] == ["scaled", "prequential", "prequential-nonstationary"]
    assert {job.params_json for job in ready} == {'{"a": 1}'}


class Words:
    """Labels are words, as scikit-learn's scores allow."""

    def __init__(self):
        self.labels_ = ["a"]

    def fit(self, X):
        self.labels_ = self.predict(X)
        return self

    partial_fit = fit

    def predict(self, X):
        return np.where(X[:, 0] > 6, "large", "small")


@pytest.mark.parametrize("setting", ["stationary", "nonstationary", "prequential"])
def test_labels_may_be_words(setting):
    words = Algorithm("words", "Words", lambda params, seed: Words(), incremental=True)
    result = run_job(Job("words", "own", setting, 1), words)
    assert result.status == "ok", result.error
    labels = result.details.labels
    assert np.array_equal(labels[labels >= 0] == 0, X[labels >= 0, 0] > 6)
    assert (labels >= 0).sum() == (447 if setting == "prequential" else 450)
