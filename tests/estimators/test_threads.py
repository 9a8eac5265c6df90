"""Models in threads: right answers, one moment per answer, and no waiting for each other."""

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from everclust import IDAT, EverClust, load
from everclust.core.invariants import check
from support.models import learnt
from support.slow import others_slow

BOTH = pytest.mark.parametrize("algorithm", [IDAT, EverClust])


def blobs(n, n_features=8, n_blobs=20, seed=0):
    random = np.random.default_rng(seed)
    centres = random.uniform(-10, 10, (n_blobs, n_features))
    return centres[random.integers(0, n_blobs, n)] + random.normal(size=(n, n_features))


def learn_in_batches(model, X, size=500):
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size])
        time.sleep(0.001)  # the others get a chance


@BOTH
def test_two_learn_while_a_third_predicts(monkeypatch, algorithm):
    """Every prediction is one that a model after some whole number of batches gives."""
    monkeypatch.setattr(
        "everclust.model.learner.CHUNK_WORK", 64 * 8 * 50
    )  # batches are learnt in small pieces
    streams, probe = [blobs(20_000), blobs(20_000, seed=1)], blobs(50, seed=2)
    moments, expected = {}, []
    for stream in streams:
        alone = algorithm()
        for start in range(0, len(stream), 500):
            alone.partial_fit(stream[start : start + 500])
            if stream is streams[0]:
                answer = alone.predict(probe).tobytes() + alone.score_samples(probe).tobytes()
                moments[answer] = alone.n_samples_seen_
        expected.append(learnt(alone))

    models = [algorithm().partial_fit(stream[:500]) for stream in streams]
    seen, answered, done = [], threading.Event(), threading.Event()

    def predict():
        while not done.is_set():
            snapshot = models[0].snapshot()
            labels, similarity = models[0].predict(probe), models[0].score_samples(probe)
            if models[0].snapshot() is snapshot:  # nothing was learnt between the two answers
                seen.append(labels.tobytes() + similarity.tobytes())
                answered.set()

    def learn(model, stream):
        """Now and then, wait for an answer: threads may be scheduled so that there is none in between."""
        for start in range(0, len(stream), 5000):
            learn_in_batches(model, stream[start : start + 5000])
            answered.clear()
            assert answered.wait(60)

    with ThreadPoolExecutor(3) as pool:
        third = pool.submit(predict)
        learning = [
            pool.submit(learn, model, stream[500:]) for model, stream in zip(models, streams, strict=True)
        ]
        for task in learning:
            task.result(timeout=120)
        done.set()
        third.result(timeout=120)

    assert [learnt(model) for model in models] == expected
    assert len(set(seen)) > 1
    assert set(seen) <= set(moments)
    times = [moments[answer] for answer in seen]
    assert times == sorted(times)


def parts_of(snapshot):
    """All but the candidates, which are parts of these."""
    return [np.asarray(part).tobytes() for part in snapshot._replace(candidates=None)]


@BOTH
def test_a_snapshot_is_of_one_moment(monkeypatch, algorithm):
    """Scalars, nodes, edges and labels that are read in one go belong together."""
    monkeypatch.setattr("everclust.model.learner.CHUNK_WORK", 64 * 8 * 50)
    X = blobs(10_000)
    alone, moments = algorithm(), {}
    for start in range(0, len(X), 500):
        now = alone.partial_fit(X[start : start + 500]).snapshot()
        moments[now.n_samples_seen] = parts_of(now)
    model, snapshots = algorithm().partial_fit(X[:500]), []
    learning = threading.Thread(target=learn_in_batches, args=(model, X[500:]))
    learning.start()
    while learning.is_alive():
        snapshots.append(model.snapshot())
    learning.join()
    assert snapshots
    for snapshot in snapshots:
        assert parts_of(snapshot) == moments[snapshot.n_samples_seen]


@BOTH
def test_saving_copying_and_pickling_while_learning(tmp_path, algorithm):
    X = blobs(20_000)
    model = algorithm().partial_fit(X[:500])
    learning = threading.Thread(target=learn_in_batches, args=(model, X[500:]))
    learning.start()
    stored = []
    while learning.is_alive() and len(stored) < 12:
        model.save(tmp_path / "model")
        stored += [load(tmp_path / "model"), model.copy(), pickle.loads(pickle.dumps(model))]
    learning.join()
    assert stored
    for twin in stored:
        n_seen = twin.n_samples_seen_
        assert n_seen % 500 == 0
        assert learnt(twin) == learnt(algorithm().partial_fit(X[:n_seen]))


@BOTH
def test_a_prediction_during_fit_waits_for_it(monkeypatch, algorithm):
    """It never sees a model that has learnt nothing yet, or half of the rows."""
    old, new = blobs(2000), blobs(3000, seed=1)
    before, after = algorithm().fit(old).predict(old), algorithm().fit(new).predict(old)
    assert not np.array_equal(before, after)

    def slowly(estimator, X, step):
        for part in np.array_split(X, 10):
            time.sleep(0.005)
            yield part

    for _ in range(3):
        model, answers = algorithm().fit(old), []
        monkeypatch.setattr("everclust.estimators.incremental.reported", slowly)
        fitting = threading.Thread(target=model.fit, args=(new,))
        fitting.start()
        while fitting.is_alive():
            answers.append(model.predict(old))
        fitting.join()
        assert all(np.array_equal(a, before) or np.array_equal(a, after) for a in answers)
        assert np.array_equal(model.predict(old), after)


@BOTH
def test_a_fit_to_another_width_cannot_mislead_a_prediction(algorithm):
    """The call that loses the race raises an error, and never reads beyond the end of an array."""
    narrow, wide = blobs(3000, 2), blobs(3000, 12)
    expected = algorithm().fit(wide).predict(wide)
    model, stop = algorithm().fit(wide), threading.Event()

    def fit_both():
        while not stop.is_set():
            model.fit(narrow)
            model.fit(wide)

    fitting = threading.Thread(target=fit_both)
    fitting.start()
    n_answers = n_tries = 0
    try:
        while n_tries < 300 or (n_answers == 0 and n_tries < 10**6):  # most tries meet the narrow model
            n_tries += 1
            try:
                answer = model.predict(wide)
            except ValueError as error:
                assert "features" in str(error)  # noqa: PT017
            else:
                assert np.array_equal(answer, expected)
                n_answers += 1
    finally:
        stop.set()
        fitting.join()
    assert n_answers > 0


@BOTH
def test_many_threads_may_feed_one_model(algorithm):
    """In some order, but no sample is lost and none is learnt twice."""
    model = algorithm().partial_fit(np.zeros((1, 2)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(model.learn_one, np.random.default_rng(0).normal(size=(2000, 2))))
        list(pool.map(model.partial_fit, np.random.default_rng(1).normal(size=(200, 10, 2))))
    assert model.n_samples_seen_ == 1 + 2000 + 2000
    check(model._learner.state)


def progress_during(work):
    """How often another thread gets its turn meanwhile, in turns per second."""
    count, running = 0, True

    def turn():
        nonlocal count
        while running:
            count += 1
            time.sleep(0.001)

    other = threading.Thread(target=turn)
    other.start()
    started, before = time.perf_counter(), count
    work()
    turns, seconds = count - before, time.perf_counter() - started
    running = False
    other.join()
    return turns, seconds


@pytest.mark.parametrize(
    "method", others_slow(["partial_fit", "predict", "score_samples"], now=["partial_fit"])
)
@BOTH
def test_the_interpreter_is_free_meanwhile(method, monkeypatch, algorithm):
    """One long call into the kernels: with the GIL held, the other thread would have no turn at all."""
    monkeypatch.setattr("everclust.model.learner.CHUNK_WORK", 2**40)
    monkeypatch.setattr("everclust.model.learner.CHUNK_CELLS", 2**40)
    monkeypatch.setattr("everclust.model.chunks.CHUNK_CELLS", 2**40)
    monkeypatch.setattr("everclust.model.chunks.n_cores", lambda: 1)
    X = blobs(300_000)
    model = algorithm().partial_fit(X[:20_000])
    rows = X if method == "partial_fit" else np.tile(X, (10, 1))  # about a tenth of a microsecond each
    turns, seconds = progress_during(lambda: getattr(model, method)(rows))
    assert seconds > 0.05
    assert turns > 10 * seconds


@pytest.mark.parametrize("method", ["partial_fit", "_learn_rows"])
@BOTH
def test_two_threads_that_begin_at_once_lose_nothing(method, algorithm):
    X = np.random.default_rng(0).normal(size=(400, 3))
    for _ in range(20):
        model = algorithm()
        barrier = threading.Barrier(2)

        def begin(rows, model=model, barrier=barrier):
            barrier.wait()
            getattr(model, method)(rows)

        threads = [threading.Thread(target=begin, args=(rows,)) for rows in (X[:200], X[200:])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert model.n_samples_seen_ == 400


@pytest.mark.parametrize("is_heard", [False, True])
@BOTH
def test_a_batch_that_waits_cannot_bring_a_forgotten_model_back(is_heard, algorithm):
    """It is learnt by the model that it was given to, which a fit in another thread has replaced."""
    model = algorithm().fit(blobs(1000))
    if is_heard:
        model.on_event(lambda event: None)
    with model._learner.lock:
        waiting = threading.Thread(target=model.partial_fit, args=(blobs(10),))
        waiting.start()
        time.sleep(0.3)
        model.fit(blobs(500, seed=1))
    waiting.join(timeout=60)
    assert not waiting.is_alive()
    assert model.n_samples_seen_ == 500
