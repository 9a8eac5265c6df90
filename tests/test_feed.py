"""learn() and History: the model and its history do not depend on how the stream is cut."""

import itertools
import os
import signal
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from everclust import IDAT, History, learn
from support.slow import others_slow

COLUMNS = ["n_samples_seen", "interval", "vigilance", "n_nodes", "n_active_nodes", "n_clusters"]


@pytest.fixture(scope="module")
def X() -> np.ndarray:  # noqa: N802
    """Three groups, one after the other, in more rows than one slice has."""
    random = np.random.default_rng(0)
    return np.concatenate([random.normal(centre, 0.3, (400, 2)) for centre in (0.0, 3.0, 6.0)])


def assert_same(a: IDAT, b: IDAT) -> None:
    """Compare all public arrays bit by bit."""
    for one, other in zip(a.snapshot()[:11], b.snapshot()[:11], strict=True):
        np.testing.assert_array_equal(one, other)


def trace(X: np.ndarray, every: int) -> list[list[float]]:
    """The columns of a history, read from the model's attributes."""
    model, rows = IDAT(), []
    for start in range(0, len(X) - len(X) % every, every):
        model.partial_fit(X[start : start + every])
        rows.append([getattr(model, f"{name}_") for name in COLUMNS])
    return rows


@pytest.mark.parametrize(
    "cut",
    [
        lambda X: X,
        lambda X: np.asfortranarray(X),
        lambda X: [X[:7], X[7:1_150], X[1_150:]],
        lambda X: (X[k : k + 1] for k in range(len(X))),
        lambda X: [X[:5].tolist(), X[:0], X[5:]],
        lambda X: X.reshape(len(X), 2)[:, ::-1][:, ::-1],
    ],
    ids=["array", "columns first", "batches", "one by one", "lists and empty batches", "view"],
)
@pytest.mark.parametrize(
    "history", others_slow([None, 1, 7, 1_100], now=[None, 7]), ids=lambda every: f"every {every}"
)
def test_the_cut_does_not_matter(X, cut, history):
    model = IDAT()
    assert learn(model, cut(X), history=history and History(history)) is model
    assert_same(model, IDAT().partial_fit(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(X, frame):
    table = frame({"width": X[:, 0], "height": X[:, 1]})
    for batches in (table, [table[:100], table[100:]]):
        model = learn(IDAT(), batches, history=History(30))
        assert list(model.feature_names_in_) == ["width", "height"]
        assert_same(model, IDAT().partial_fit(X))


def test_frames_are_cut_by_position_whatever_their_index(X):
    table = pd.DataFrame(X, index=np.linspace(5.0, 0.0, len(X)))
    assert_same(learn(IDAT(), table), IDAT().partial_fit(X))


def test_a_model_continues(X):
    model = learn(learn(IDAT(), X[:1_034]), X[1_034:])
    assert_same(model, IDAT().partial_fit(X))


@pytest.mark.parametrize("every", [1, 13, 100])
def test_history_equals_the_attributes(X, every):
    X = X[300:700]
    history = History(every)
    learn(IDAT(), [X[:150], X[150:151], X[151:]], history=history)
    assert len(history) == len(X) // every
    np.testing.assert_array_equal(np.column_stack([getattr(history, c) for c in COLUMNS]), trace(X, every))


def test_history_continues_over_several_calls(X):
    history, model = History(100), IDAT()
    for part in (X[:250], X[250:260], X[260:420]):
        learn(model, part, history=history)
    assert history.n_samples_seen.tolist() == [100, 200, 300, 400]
    late = History(100)
    learn(model, X[420:600], history=late)
    assert late.n_samples_seen.tolist() == [500, 600]


def test_history_as_a_table(X):
    history = History(100)
    learn(IDAT(), X, history=history)
    frame = history.to_frame()
    assert list(frame.columns) == COLUMNS
    assert len(frame) == len(history) == 12
    assert frame["vigilance"].dtype == float
    assert all(frame[name].dtype == int for name in COLUMNS if name != "vigilance")
    assert repr(history) == "<History: 12 records, one every 100 samples>"


def test_history_by_hand_and_empty():
    history = History()
    assert (len(history), history.every) == (0, 100)
    assert history.interval.shape == (0,)
    history.record(IDAT().partial_fit(load_iris().data))
    assert history.n_samples_seen.tolist() == [150]


@pytest.mark.parametrize("every", [0, -3])
def test_history_rejects_a_step_below_one(every):
    with pytest.raises(ValueError, match=rf"every is {every}, .* at least 1"):
        History(every)


def test_errors_leave_what_was_learnt_before(X):
    bad = X[100:200].copy()
    bad[50] = np.nan
    model = IDAT()
    with pytest.raises(ValueError, match="NaN"):
        learn(model, [X[:100], bad])
    assert_same(model, IDAT().partial_fit(X[:100]))
    with pytest.raises(ValueError, match="features"):
        learn(model, X[:, :1])
    with pytest.raises(ValueError, match="2D"):
        learn(model, X[:, 0])


def test_progress_goes_to_stderr(X, capsys):
    learn(IDAT(), X, progress=True)
    out, err = capsys.readouterr()
    last = err.split("\r")[-1]
    assert out == ""
    assert "100%" in last
    assert "1.20k/1.20k" in last
    assert "rows/s" in last
    model = IDAT().partial_fit(X)
    assert f"nodes={model.n_nodes_}, clusters={model.n_clusters_}" in last


def test_progress_of_a_stream_of_unknown_length(X, capsys):
    model = learn(IDAT(), (X[k : k + 100] for k in range(0, len(X), 100)), progress=True)
    assert "1.20k rows" in capsys.readouterr().err
    assert_same(model, IDAT().partial_fit(X))
    learn(IDAT(), [], progress=True)
    assert "0.00 rows" in capsys.readouterr().err


def test_silent_by_default(X, capsys):
    learn(IDAT(), X)
    assert capsys.readouterr() == ("", "")


def test_missing_packages_name_the_pip_command(X, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    model = IDAT()
    with pytest.raises(ImportError, match=r'pip install "everclust\[progress\]"'):
        learn(model, X, progress=True)
    assert not hasattr(model, "n_samples_seen_")
    with pytest.raises(ImportError, match=r'pip install "everclust\[report\]"'):
        History().to_frame()


@pytest.mark.parametrize("progress", [False, True])
def test_interrupted_between_batches(X, progress):
    def batches():
        yield X[:1_050]
        signal.raise_signal(signal.SIGINT)

    model, history = IDAT(), History(100)
    with pytest.raises(KeyboardInterrupt):
        learn(model, batches(), progress=progress, history=history)
    assert_same(model, IDAT().partial_fit(X[:1_050]))
    learn(model, X[1_050:], history=history)
    assert_same(model, IDAT().partial_fit(X))
    assert history.n_samples_seen.tolist() == list(range(100, 1_201, 100))


@pytest.mark.skipif(os.name == "nt", reason="signals cannot be sent to oneself")
def test_interrupted_while_learning(X):
    model = learn(IDAT(), X)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        learn(model, itertools.repeat(X))
    timer.join()
    n_seen = model.n_samples_seen_
    learnt = np.tile(X, (n_seen // len(X) + 1, 1))[:n_seen]
    assert n_seen > len(X)
    assert_same(model, IDAT().partial_fit(learnt))
