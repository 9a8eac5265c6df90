"""What the methods and attributes of a model mean."""

import copy
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from contextlib import suppress

import networkx
import numpy as np
import pandas
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError

import everclust.model.predict
from everclust import IDAT, EverClust
from everclust.core.invariants import check

IRIS = load_iris().data
DIGITS = load_digits().data
SCALARS = ("n_clusters_", "n_nodes_", "n_active_nodes_", "interval_", "vigilance_", "n_samples_seen_")
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
ARRAYS = ("prototypes_", "scales_", "usage_", "active_", "edges_", "node_labels_")


def blobs(n, n_features=8, n_blobs=20, seed=0):
    random = np.random.default_rng(seed)
    centres = random.uniform(-10, 10, (n_blobs, n_features))
    return centres[random.integers(0, n_blobs, n)] + random.normal(size=(n, n_features))


def learnt(model, with_ids=True):
    """All that a model knows, to the bit."""
    scalars, arrays = model._learner.export()
    if not with_ids:  # fit numbers clusters otherwise than partial_fit
        del arrays["cluster"], arrays["event"]
    return scalars, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}


def everything(model):
    """What was learnt, and whatever else the object holds."""
    rest = {name: copy.deepcopy(value) for name, value in vars(model).items() if name != "_learner"}
    return learnt(model), {name: np.asarray(value).tolist() for name, value in rest.items()}


@pytest.fixture(scope="module", params=["iris", "digits", "three rows", "blobs"])
def data(request):
    return {"iris": IRIS, "digits": DIGITS, "three rows": IRIS[::50], "blobs": blobs(3000)}[request.param]


# Learning


def test_fit_starts_afresh_and_partial_fit_continues():
    model = IDAT().fit(DIGITS)
    assert learnt(model.fit(IRIS)) == learnt(IDAT().fit(IRIS))
    assert model.n_samples_seen_ == 150
    model.partial_fit(IRIS)
    assert model.n_samples_seen_ == 300
    again = IDAT().partial_fit(np.concatenate([IRIS, IRIS]))
    assert learnt(model, with_ids=False) == learnt(again, with_ids=False)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_batches_do_not_matter(size):
    whole, cut = IDAT().partial_fit(DIGITS), IDAT()
    for start in range(0, len(DIGITS), size):
        cut.partial_fit(DIGITS[start : start + size])
    assert learnt(cut) == learnt(whole)


def test_the_inner_batches_do_not_matter_either(monkeypatch):
    whole = IDAT().fit(DIGITS)
    monkeypatch.setattr("everclust.model.learner.CHUNK_WORK", 64 * 64 * 10)
    assert learnt(IDAT().fit(DIGITS)) == learnt(whole)


def test_learn_one_is_partial_fit_of_one_row():
    model = IDAT()
    for row in DIGITS[:500]:
        assert model.learn_one(row) is model
    assert learnt(model) == learnt(IDAT().partial_fit(DIGITS[:500]))
    assert learnt(model.learn_one(DIGITS[500].tolist())) == learnt(IDAT().partial_fit(DIGITS[:501]))


@pytest.mark.parametrize("wrong", [3.0, [[1.0, 2.0, 3.0, 4.0]], [[[1.0]]]])
def test_learn_one_takes_one_row(wrong):
    for model in (IDAT(), IDAT().fit(IRIS)):
        before = vars(model).copy()
        with pytest.raises(ValueError, match="one row of features"):
            model.learn_one(wrong)
        assert vars(model) == before


def test_learning_returns_the_model():
    model = IDAT()
    assert model.fit(IRIS) is model
    assert model.partial_fit(IRIS) is model
    assert model.fit(IRIS, np.zeros(150)) is model
    assert np.array_equal(model.fit_predict(IRIS), model.labels_)


@pytest.mark.parametrize("algorithm", [IDAT, EverClust])
def test_rows_without_validation_are_learnt_and_predicted_alike(algorithm):
    model, trusting = algorithm(), algorithm()
    for start in range(0, len(DIGITS), 100):
        rows = DIGITS[start : start + 100]
        model.partial_fit(rows)
        assert trusting._learn_rows(rows) is None
    assert learnt(trusting) == learnt(model)
    assert not hasattr(trusting, "labels_")
    assert np.array_equal(trusting._predict_rows(DIGITS), model.predict(DIGITS))


def test_rows_without_validation_leave_the_feature_names_alone():
    named = pandas.DataFrame(IRIS, columns=NAMES)
    model = IDAT().fit(named)
    model._learn_rows(IRIS)
    assert not hasattr(model, "labels_")
    assert list(model.feature_names_in_) == NAMES
    assert learnt(model) == learnt(IDAT().fit(named).partial_fit(named))
    assert np.array_equal(model._predict_rows(IRIS), model.predict(named))
    started = IDAT()
    started.feature_names_in_ = np.array(NAMES, dtype=object)
    started._learn_rows(IRIS)
    assert list(started.feature_names_in_) == NAMES
    assert started.n_features_in_ == 4
    assert np.array_equal(started.predict(named), IDAT().partial_fit(named).predict(named))


def test_a_fit_with_an_illegal_parameter_changes_nothing():
    model = EverClust().fit(IRIS)
    before = everything(model)
    with pytest.raises(ValueError, match="metric is 'cosine', but it must be 'capped' or 'euclidean'"):
        model.set_params(metric="cosine").fit(DIGITS)
    assert everything(model.set_params(metric="capped")) == before


# Labels


def test_labels_are_consecutive_predictions(data):
    model = IDAT().fit(data)
    assert np.array_equal(model.labels_, model.predict(data))
    present = np.unique(model.labels_)
    assert np.array_equal(present, np.arange(len(present)))
    assert len(present) <= model.n_clusters_
    assert model.labels_.dtype == np.int64


def test_clusters_that_win_nothing_come_last():
    """In a stream that keeps spreading, the narrow clusters of its beginning win nothing in the end."""
    n_barren = 0
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(600, 2)) * np.geomspace(1e-3, 1e3, 600)[:, None]
        model = IDAT().fit(X)
        n_winning = len(np.unique(model.labels_))
        assert model.labels_.max() == n_winning - 1
        n_barren += n_winning < model.n_clusters_
    assert n_barren > 0


def test_nodes_that_take_part_have_a_label_and_the_others_have_none(data):
    model = IDAT().fit(data)
    takes_part = model.active_ if model.n_active_nodes_ else np.ones(model.n_nodes_, bool)
    assert model.node_labels_.shape == (model.n_nodes_,)
    assert np.array_equal(np.unique(model.node_labels_[takes_part]), np.arange(model.n_clusters_))
    assert (model.node_labels_[~takes_part] == -1).all()
    # From then on the ids are permanent: there may be gaps between them.
    model.partial_fit(data)
    takes_part = model.active_ if model.n_active_nodes_ else np.ones(model.n_nodes_, bool)
    assert len(np.unique(model.node_labels_[takes_part])) == model.n_clusters_
    assert (model.node_labels_[takes_part] >= 0).all()
    assert (model.node_labels_[~takes_part] == -1).all()


def test_nodes_in_one_component_share_a_label(data):
    model = IDAT().fit(data)
    for nodes in networkx.connected_components(model.to_networkx()):
        assert len({int(model.node_labels_[k]) for k in nodes}) == 1


def test_predictions_are_the_nearest_nodes_clusters():
    """d/σ, the least over the active nodes, written out."""
    model = IDAT().fit(DIGITS)
    candidates = np.flatnonzero(model.active_)
    distance = np.linalg.norm(DIGITS[:, None] - model.prototypes_[candidates], axis=2)
    ratio = distance / model.scales_[candidates]
    assert np.array_equal(model.predict(DIGITS), model.node_labels_[candidates[ratio.argmin(axis=1)]])


# Attributes


def test_attributes_have_their_shapes(data):
    model = IDAT().fit(data)
    k, d = model.n_nodes_, data.shape[1]
    assert model.prototypes_.shape == (k, d)
    assert model.scales_.shape == model.usage_.shape == model.active_.shape == (k,)
    assert model.active_.dtype == bool
    assert model.n_active_nodes_ == model.active_.sum()
    assert model.edges_.ndim == 2
    assert model.edges_.shape[1] == 2
    assert (model.edges_ < k).all()
    assert (model.scales_ > 0).all()
    assert (model.usage_ >= 1).all()
    assert 0 <= model.vigilance_ <= 1
    assert model.interval_ >= 2
    assert (model.n_samples_seen_, model.n_features_in_) == data.shape
    for name in SCALARS:
        assert type(getattr(model, name)) is (float if name == "vigilance_" else int)


def test_while_no_node_is_active_all_of_them_answer():
    model = IDAT().fit(IRIS[:3])
    assert model.n_active_nodes_ == 0
    assert (model.n_clusters_, model.n_nodes_) == (1, 3)
    assert model.edges_.shape == (0, 2)
    assert np.array_equal(model.predict(IRIS[:3]), [0, 0, 0])


def test_attributes_need_a_fitted_model():
    model = IDAT()
    for name in SCALARS + ARRAYS:
        assert not hasattr(model, name)
    for call in (model.predict, model.score_samples):
        with pytest.raises(NotFittedError):
            call(IRIS)
    for call in (model.snapshot, model.to_networkx):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(NotFittedError):
        model.save("never.everclust")


def test_attributes_are_copies_that_cannot_change_the_model():
    model = IDAT().fit(IRIS)
    before = model.prototypes_
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 0
    kept = before.copy()
    model.partial_fit(IRIS[::-1])
    assert np.array_equal(before, kept)
    assert not np.array_equal(model.prototypes_[:3], kept[:3])


def test_graph():
    model = IDAT().fit(DIGITS)
    graph = model.to_networkx()
    assert sorted(graph) == list(range(model.n_nodes_))
    assert {tuple(sorted(edge)) for edge in graph.edges} == set(map(tuple, model.edges_.tolist()))
    assert len(model.edges_) > 0
    for k, node in graph.nodes(data=True):
        assert np.array_equal(node["prototype"], model.prototypes_[k])
        assert node["usage"] == model.usage_[k]
        assert node["scale"] == model.scales_[k]
        assert node["active"] == model.active_[k]
        assert node["label"] == model.node_labels_[k]
    assert all(type(node["usage"]) is int and type(node["active"]) is bool for _, node in graph.nodes.items())


def test_copies_are_independent():
    model = IDAT().fit(DIGITS)
    before, twin = everything(model), model.copy()
    assert everything(twin) == before
    twin.partial_fit(DIGITS[::-1])
    assert everything(model) == before
    assert learnt(model.partial_fit(DIGITS[::-1])) == learnt(twin)
    assert not hasattr(IDAT().copy(), "n_nodes_")


# Variant


def test_reading_writes_nothing():
    model = IDAT().fit(DIGITS)
    state = [array.tobytes() for array in model._learner.state]
    before = everything(model)
    model.predict(DIGITS[::-1])
    model.score_samples(DIGITS * 100)
    model.to_networkx(), model.copy(), model.snapshot(), repr(model)
    assert everything(model) == before
    assert [array.tobytes() for array in model._learner.state] == state


def test_similarities_are_in_range(data):
    model = IDAT().fit(data)
    far = np.full((1, data.shape[1]), 1e140)
    for X in (data, -3 * data, far, -far, model.prototypes_):
        similarity = model.score_samples(X)
        assert similarity.shape == (len(X),)
        assert (similarity > 0).all()
        assert (similarity <= 1).all()


def test_large_inputs_give_the_same_answers_on_all_cores(monkeypatch):
    model, X = IDAT().fit(blobs(2000)), blobs(40_000, seed=1)
    expected = model.predict(X)
    threads = set()
    assign = everclust.model.predict.assign_coarsely
    together = threading.Barrier(3)

    def watched(*arguments):
        if threading.get_ident() not in threads:
            threads.add(threading.get_ident())
            together.wait(timeout=30)  # passes only when three of them are at work at once
        assign(*arguments)

    monkeypatch.setattr("everclust.model.predict.assign_coarsely", watched)
    monkeypatch.setattr("everclust.model.chunks.n_cores", lambda: 3)
    monkeypatch.setattr("everclust.model.chunks.PARALLEL_WORK", 1)
    assert np.array_equal(model.predict(X), expected)
    assert len(threads) == 3


def test_work_worth_it_is_spread_over_the_cores(monkeypatch):
    """No need to touch PARALLEL_WORK: a million rows are much."""
    model, X = IDAT().fit(blobs(2000)), blobs(1_000_000)
    pools = []

    class Pool(everclust.model.chunks.ThreadPoolExecutor):
        def __init__(self, n_workers):
            pools.append(n_workers)
            super().__init__(n_workers)

    monkeypatch.setattr("everclust.model.chunks.ThreadPoolExecutor", Pool)
    monkeypatch.setattr("everclust.model.chunks.n_cores", lambda: 2)
    model.predict(X)
    model.predict(X[:10])
    assert pools == [2]


@pytest.mark.slow
def test_reading_needs_little_memory_for_many_rows():
    X = blobs(2_000_000).astype(np.float32)
    model = IDAT().fit(X[:5000])
    for method in (model.predict, model.score_samples):
        method(X[:10])
        gc.collect()
        tracemalloc.start()
        answer = method(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(answer) == len(X)
        assert peak - answer.nbytes < 16e6 * everclust.model.chunks.n_cores() + 2e6 < X.nbytes


@pytest.mark.slow
def test_learning_needs_no_copy_of_everything():
    """Only chunks of rows, one per core, and the labels."""
    X = blobs(2_000_000).astype(np.float32)
    model = IDAT().partial_fit(X[:5000])
    tracemalloc.start()
    model.partial_fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - model.labels_.nbytes < 16e6 * everclust.model.chunks.n_cores() + 2e6 < X.nbytes


# Ctrl-C


def interrupt_after(seconds):
    """Ctrl-C in a while, and a while is long enough for the kernels to be at work."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def keep_calling(method, X):
    while True:
        method(X)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_ctrl_c_leaves_what_was_learnt_so_far(method, monkeypatch):
    monkeypatch.setattr("everclust.model.learner.CHUNK_WORK", 2**22)
    X = np.tile(blobs(20_000), (50, 1))
    model = IDAT().fit(IRIS) if method == "fit" else IDAT().partial_fit(X[:10])
    timer = interrupt_after(0.4)
    with pytest.raises(KeyboardInterrupt):
        keep_calling(getattr(model, method), X)
    timer.join()
    check(model._learner.state)
    n_seen = model.n_samples_seen_
    assert n_seen > 0
    assert not hasattr(model, "labels_")
    assert model.n_features_in_ == X.shape[1]
    if method == "fit":
        assert n_seen <= len(X)
        alone = IDAT().partial_fit(X[:n_seen])
        assert learnt(model) == learnt(alone)
        assert learnt(model.partial_fit(X[:100])) == learnt(alone.partial_fit(X[:100]))
    assert len(model.predict(X[:10])) == 10


@pytest.mark.parametrize("n_runs", range(1, 12))
def test_ctrl_c_before_the_state_is_adopted_loses_no_row(n_runs, monkeypatch):
    """Some of these runs have just been given more room."""
    run = everclust.core.learn._as_published.run
    n_done = []

    def interrupted(*arguments):
        n_done.append(run(*arguments))
        if len(n_done) == n_runs:
            raise KeyboardInterrupt
        return n_done[-1]

    model = IDAT().partial_fit(DIGITS[:10])
    monkeypatch.setattr(everclust.core.learn._as_published, "run", interrupted)
    with suppress(KeyboardInterrupt):
        model.partial_fit(DIGITS)
    monkeypatch.undo()
    check(model._learner.state)
    n_learnt = n_done[:n_runs][-1]  # afterwards, what is due is done
    assert model.n_samples_seen_ == 10 + n_learnt
    alone = IDAT().partial_fit(np.concatenate([DIGITS[:10], DIGITS[:n_learnt]]))
    assert learnt(model.partial_fit(DIGITS)) == learnt(alone.partial_fit(DIGITS))


INTERRUPTED = """
import os, random, signal, sys, threading
import numpy as np
from everclust import EverClust
rng = np.random.default_rng(0)
X = rng.uniform(-20, 20, (40, 6))[rng.integers(40, size=40_000)] + rng.normal(size=(40_000, 6))
whole = EverClust(max_nodes=eval(sys.argv[1])).partial_fit(X)
n_hit = 0
for seed in range(30):
    model, timer = EverClust(max_nodes=eval(sys.argv[1])).partial_fit(X[:1]), None
    try:
        seconds = random.Random(seed).uniform(0.001, 0.06)
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        for start in range(1, 20_001, 2_000):
            model.partial_fit(X[start : start + 2_000])
        timer.join()
    except KeyboardInterrupt:
        n_hit += model.n_samples_seen_ > 1
    model.partial_fit(X[model.n_samples_seen_ :])
    assert model.events() == whole.events()
    assert np.array_equal(model.predict(X), whole.predict(X))
print(n_hit)
"""


@pytest.mark.slow
@pytest.mark.parametrize("max_nodes", [None, 100])
def test_ctrl_c_changes_neither_ids_nor_events(max_nodes):
    command = [sys.executable, "-c", INTERRUPTED, str(max_nodes)]
    n_hit = subprocess.run(command, check=True, timeout=300, stdout=subprocess.PIPE, text=True).stdout
    assert int(n_hit) >= 10


@pytest.mark.slow
def test_ctrl_c_at_the_terminal_comes_soon():
    """One call of fit over a stream that would take half a minute ends within a second or two."""
    code = """
        import threading, time, os, signal
        import numpy as np
        from everclust import IDAT
        from everclust.core.invariants import check
        random = np.random.default_rng(0)
        X = random.normal(size=(100_000, 8)) + random.integers(0, 20, (100_000, 1)) * 5
        X = np.lib.stride_tricks.as_strided(X, (100, *X.shape), (0, *X.strides)).reshape(-1, 8)
        model = IDAT().partial_fit(X[:2000])
        def press():
            global pressed
            pressed = time.perf_counter()
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(3.0, press).start()
        try:
            model.fit(X)
        except KeyboardInterrupt:
            waited = time.perf_counter() - pressed
        check(model._learner.state)
        assert 2000 < model.n_samples_seen_ < len(X), model.n_samples_seen_
        model.partial_fit(X[:10])
        assert waited < 3, waited
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=120)


def test_ctrl_c_before_the_first_row_leaves_an_unfitted_model(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    for model in (IDAT(), IDAT().fit(DIGITS)):
        with monkeypatch.context() as patch:
            patch.setattr("everclust.model.learner.learn", interrupted)
            with pytest.raises(KeyboardInterrupt):
                model.fit(IRIS)
        with pytest.raises(NotFittedError):
            model.predict(IRIS)
        assert learnt(model.partial_fit(DIGITS[:50])) == learnt(IDAT().partial_fit(DIGITS[:50]))


def test_a_signal_handler_may_look_at_the_model(monkeypatch):
    """What it sees is a valid model, and it does not linger."""
    monkeypatch.setattr("everclust.model.learner.CHUNK_WORK", 2**20)
    X = blobs(300_000)
    model, seen = IDAT().partial_fit(X[:1000]), []
    handler = signal.signal(signal.SIGALRM, lambda *_: seen.append((model.n_clusters_, model.predict(X[:5]))))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        started = time.perf_counter()
        while len(seen) < 3 and time.perf_counter() - started < 60:
            model.partial_fit(X)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    assert len(seen) >= 3
    assert np.array_equal(model.prototypes_, model.copy().prototypes_)
    assert np.array_equal(model.usage_, model._learner.state.node["usage"][: model.n_nodes_])
