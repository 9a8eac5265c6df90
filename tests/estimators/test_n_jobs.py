"""EverClust(n_jobs=…): forks on threads, merged round by round."""

import pickle
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust import IDAT, EverClust, load, merge
from everclust.core.invariants import check
from everclust.model import parallel
from everclust.model.chunks import n_cores
from support.models import learnt
from support.slow import others_slow

DIGITS, DIGIT = load_digits(return_X_y=True)


@pytest.fixture
def small_rounds(monkeypatch):
    """Rounds in which every fork learns 100 to 300 rows, after a base of 200."""
    for name, value in (("BASE_ROWS", 200), ("FEWEST_ROWS", 100), ("MOST_ROWS", 300)):
        monkeypatch.setattr(parallel, name, value)


def blobs(n, n_features=4, n_blobs=8, seed=0):
    random = np.random.default_rng(seed)
    centres = random.uniform(-10, 10, (n_blobs, n_features))
    return centres[random.integers(0, n_blobs, n)] + random.normal(size=(n, n_features))


@parametrize_with_checks([EverClust(n_jobs=2)])
def test_estimator_check(estimator, check, small_rounds):
    check(estimator)


# Where nothing changes


@pytest.mark.parametrize("n_jobs", [None, 1, -n_cores(), -100])
def test_one_thread_learns_in_order(small_rounds, n_jobs):
    model, plain = EverClust(n_jobs=n_jobs).fit(DIGITS), EverClust().fit(DIGITS)
    assert learnt(model) == learnt(plain)
    assert np.array_equal(model.labels_, plain.labels_)


def test_few_rows_are_learnt_in_order():
    X = blobs(21_999)  # a base of 2,000 rows leaves less than 10,000 for each of two threads
    assert learnt(EverClust(n_jobs=2).fit(X)) == learnt(EverClust().fit(X))
    X = np.concatenate([X, X[:1]])
    assert learnt(EverClust(n_jobs=2).fit(X)) != learnt(EverClust().fit(X))


def test_small_batches_are_learnt_in_order(small_rounds):
    model, plain = EverClust(n_jobs=2), EverClust()
    for start in range(0, len(DIGITS), 100):
        model.partial_fit(DIGITS[start : start + 100])
        plain.partial_fit(DIGITS[start : start + 100])
    for x in DIGITS[:50]:
        model.learn_one(x)
        plain.learn_one(x)
    assert learnt(model) == learnt(plain)


# What must be true on several threads


@pytest.mark.parametrize("n_jobs", others_slow([2, 3, 5], now=[3]))
@pytest.mark.parametrize("parameters", [{}, {"max_nodes": 40}, {"metric": "euclidean"}])
def test_every_sample_counts_once(small_rounds, n_jobs, parameters, tmp_path):
    model = EverClust(n_jobs=n_jobs, **parameters).fit(DIGITS)
    check(model._learner.state)
    assert model.n_samples_seen_ == len(DIGITS)
    assert model.n_nodes_ <= (model.max_nodes or len(DIGITS))
    assert np.allclose(model._learner.state.mean, DIGITS.mean(axis=0))
    assert np.array_equal(model.labels_, model.predict(DIGITS))
    assert model.cluster_ids_.tolist() == list(range(model.n_clusters_))
    model.save(tmp_path / "model")
    assert learnt(load(tmp_path / "model")) == learnt(model)
    model.partial_fit(DIGITS)
    check(model._learner.state)
    assert model.n_samples_seen_ == 2 * len(DIGITS)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_the_same_every_time(small_rounds, n_jobs):
    models = [EverClust(n_jobs=n_jobs).fit(DIGITS) for _ in range(3)]
    assert learnt(models[0]) == learnt(models[1]) == learnt(models[2])
    assert models[0].events() == models[1].events()
    assert learnt(models[0]) != learnt(EverClust().fit(DIGITS))


def test_batches_of_whole_rounds_are_one_batch(small_rounds):
    """What the command line relies on."""
    step = parallel.round_length(64, 2)
    assert step == 600
    parts, whole = EverClust(n_jobs=2), EverClust(n_jobs=2).partial_fit(DIGITS)
    for start in range(0, len(DIGITS), step):
        parts.partial_fit(DIGITS[start : start + step])
    assert learnt(parts) == learnt(whole)


@pytest.mark.parametrize("order", ["C", "F"])
def test_any_array_is_learnt_as_float64(small_rounds, order):
    X = np.asarray(DIGITS, np.float32, order=order)
    assert learnt(EverClust(n_jobs=2).fit(X)) == learnt(EverClust(n_jobs=2).fit(DIGITS))


@pytest.mark.parametrize("n_different", [1, 2, 3])
def test_rows_that_are_all_alike(small_rounds, n_different):
    X = np.repeat(blobs(n_different), 1200 // n_different, axis=0)
    model = EverClust(n_jobs=2).fit(X)
    check(model._learner.state)
    assert model.n_samples_seen_ == 1200
    assert len(set(model.labels_)) == model.n_clusters_ <= n_different


def test_wide_rows_are_learnt_in_shorter_rounds():
    assert parallel.round_length(16, 2) == 2 * parallel.MOST_ROWS
    assert parallel.round_length(1024, 3) == 3 * 2**14
    assert parallel.round_length(10**6, 2) == 2 * parallel.FEWEST_ROWS


def test_clusters_of_the_past_stay_known(small_rounds):
    """A recount of the latest rows must not forget what only earlier rows have shown."""
    random = np.random.default_rng(3)
    near, far = random.normal(size=(2000, 3)), random.normal(size=(2000, 3)) + 100
    model = EverClust(n_jobs=2).partial_fit(near)
    known = set(model.predict(near).tolist())
    model.partial_fit(far).partial_fit(far)
    assert set(model.predict(near).tolist()) == known
    assert known.isdisjoint(model.predict(far).tolist())


def test_clusters_are_as_good_as_in_order(small_rounds):
    differences = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(DIGITS))
        X, y = DIGITS[order], DIGIT[order]
        one, two = (
            adjusted_mutual_info_score(y, EverClust(n_jobs=n_jobs).fit(X).labels_) for n_jobs in (1, 2)
        )
        differences.append(two - one)
    assert np.mean(differences) > -0.03


def test_events_lead_to_the_clusters(small_rounds):
    heard = []
    model = EverClust(n_jobs=2).on_event(heard.append).partial_fit(DIGITS)
    events = model.events()
    assert heard == events
    assert [event.sample for event in events] == sorted(event.sample for event in events)
    assert all(0 < event.sample <= len(DIGITS) for event in events)
    assert set(model.cluster_ids_.tolist()) <= {c for event in events for c in event.after}


def test_ids_are_permanent_from_batch_to_batch(small_rounds):
    X = blobs(3000, n_blobs=4, seed=5)
    model = EverClust(n_jobs=2).fit(X)
    before = model.predict(X)
    model.partial_fit(blobs(3000, n_blobs=4, seed=5))
    assert np.mean(model.predict(X) == before) > 0.95


def test_threads_may_share_a_model_that_learns_on_threads(small_rounds):
    """No batch is lost when several threads feed one model."""
    from concurrent.futures import ThreadPoolExecutor

    model = EverClust(n_jobs=2).partial_fit(DIGITS[:10])
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(model.partial_fit, [DIGITS] * 6))
    assert model.n_samples_seen_ == 10 + 6 * len(DIGITS)
    check(model._learner.state)


def test_merged_with_others(small_rounds):
    base = EverClust(n_jobs=2).fit(DIGITS[:900])
    merged = merge([base.fork().partial_fit(DIGITS[900:]), base.fork().partial_fit(DIGITS[:900])], base)
    assert merged.n_samples_seen_ == 900 + len(DIGITS)
    assert merged.n_jobs == 2
    others = [base.fork(), base.fork().set_params(n_jobs=4)]
    assert merge(others, base).n_jobs is merge(others[::-1], base).n_jobs is None


# The parameter


def test_the_parameter_goes_where_parameters_go_but_into_no_file(small_rounds, tmp_path):
    model = EverClust(n_jobs=2, max_nodes=50).fit(DIGITS)
    assert clone(model).n_jobs == pickle.loads(pickle.dumps(model)).n_jobs == model.copy().n_jobs == 2
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params() == {"metric": "capped", "max_nodes": 50, "n_jobs": None}
    assert learnt(again.set_params(n_jobs=2).partial_fit(DIGITS)) == learnt(model.partial_fit(DIGITS))


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_what_is_no_number_of_threads(n_jobs):
    model = EverClust().fit(DIGITS[:50])
    before = learnt(model)
    model.set_params(n_jobs=n_jobs)
    sentence = re.escape(f"n_jobs is {n_jobs!r}, but it must be None, a number of threads, or -1")
    for learn in (model.fit, model.partial_fit, EverClust(n_jobs=n_jobs).partial_fit):
        with pytest.raises(ValueError, match=sentence):
            learn(DIGITS[:, :64])
    assert learnt(model) == before


def test_the_published_algorithm_has_no_such_parameter():
    with pytest.raises(TypeError):
        IDAT(n_jobs=2)


# Interruptions

INTERRUPTED = """
import threading
import numpy as np
from everclust import EverClust
from everclust.core.invariants import check
random = np.random.default_rng(0)
X = random.normal(size=(3_000_000, 8))
EverClust(n_jobs=2).fit(X[:40_000])  # compiles
model = EverClust(n_jobs=2)
print("ready", flush=True)
try:
    model.fit(X)
except KeyboardInterrupt:
    print(threading.active_count(), model.n_samples_seen_, flush=True)
    check(model._learner.state)
    model.partial_fit(X[:10])
"""


@pytest.mark.slow
def test_ctrl_c_ends_all_threads_between_rounds():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        n_threads, n_seen = map(int, process.stdout.readline().split())
        took = time.monotonic() - started
        assert process.wait(60) == 0
    assert took < 5
    assert n_threads == 1
    assert n_seen == 2_000 or n_seen % parallel.round_length(8, 2) == 0
    assert n_seen < 3_000_000


@pytest.mark.parametrize("during", ["_learn_shard", "_counts"])
def test_an_error_in_a_thread_leaves_the_model_as_it_was(small_rounds, monkeypatch, during):
    model = EverClust(n_jobs=2).fit(DIGITS)
    before = learnt(model)

    def fail(*arguments):
        raise MemoryError("no room for a fork")

    monkeypatch.setattr(parallel, during, fail)
    with pytest.raises(MemoryError, match="no room"):
        model.partial_fit(DIGITS)
    assert learnt(model) == before
