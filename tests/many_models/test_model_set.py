"""A model for each key: as if each were alone, whatever is in memory, saved together or not at all."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from contextlib import ExitStack

import numpy as np
import pytest

from everclust import IDAT, EverClust, ModelSet
from support.paths import TESTS
from support.slow import others_slow

N_KEYS = 7


def stream(n_rows=900, seed=0):
    """(Keys in random order, rows whose groups depend on the key)."""
    random = np.random.default_rng(seed)
    keys = random.integers(0, N_KEYS, n_rows)
    return keys, random.normal(size=(n_rows, 3)) + 6.0 * random.integers(0, 1 + keys)[:, np.newaxis]


@pytest.fixture
def opened(tmp_path):
    """Open sets in the folder `set`, which are closed at the end."""
    with ExitStack() as stack:

        def open_set(*arguments, **options):
            models = ModelSet(tmp_path / "set", *arguments, **options)
            stack.callback(models.close)
            return models

        yield open_set


def as_bytes(model, path):
    model.save(path)
    return path.read_bytes()


def learnt_in_batches(models, keys, X, size, save_every=None):
    for i, start in enumerate(range(0, len(X), size)):
        models.partial_fit(keys[start : start + size], X[start : start + size])
        if save_every and i % save_every == 0:
            models.save(start + size)
    return models


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# Each model is the one that learns its rows alone


CASES = [(100, 900, None), (1, 64, 3), (4, 11, None)]


@pytest.mark.parametrize(("in_memory", "size", "save_every"), others_slow(CASES, now=CASES[:2]))
@pytest.mark.parametrize("template", [EverClust(), IDAT(max_nodes=40)])
def test_each_model_is_as_if_alone(tmp_path, opened, template, in_memory, size, save_every):
    keys, X = stream()
    models = opened(template, in_memory=in_memory)
    learnt_in_batches(models, keys, X, size, save_every)
    for key in range(N_KEYS):
        alone = type(template)(**template.get_params()).partial_fit(X[keys == key])
        assert as_bytes(models[key], tmp_path / "a") == as_bytes(alone, tmp_path / "b")


def test_a_set_continues_from_its_folder(tmp_path):
    keys, X = stream()
    with ModelSet(tmp_path / "set", EverClust(metric="euclidean"), in_memory=2) as models:
        learnt_in_batches(models, keys[:700], X[:700], 100)
    with ModelSet(tmp_path / "set", in_memory=3) as models:
        assert len(models) == N_KEYS
        learnt_in_batches(models, keys[700:], X[700:], 100)
        for key in range(N_KEYS):
            alone = EverClust(metric="euclidean").partial_fit(X[keys == key])
            assert as_bytes(models[key], tmp_path / "a") == as_bytes(alone, tmp_path / "b")


def test_answers_are_those_of_the_models(opened):
    keys, X = stream()
    models = opened(in_memory=2).partial_fit(keys, X)
    found = models.predict(keys, X), models.score_samples(keys, X), models.predict_novel(keys, X)
    for key in range(N_KEYS):
        mine, model = keys == key, models[key]
        assert (found[0][mine] == model.predict(X[mine])).all()
        assert (found[1][mine] == model.score_samples(X[mine])).all()
        assert (found[2][mine] == model.predict_novel(X[mine])).all()
    assert models.predict(3, X[:5]).tolist() == models[3].predict(X[:5]).tolist()
    assert models.predict([], X[:0]).shape == (0,)


def test_memory_is_bounded(tmp_path, opened):
    keys, X = stream()
    models = opened(in_memory=2)
    for start in range(0, len(X), 50):
        models.partial_fit(keys[start : start + 50], X[start : start + 50])
        assert len(models._models.loaded) <= 2
        models.predict(keys[:start], X[:start])
        assert len(models._models.loaded) <= 2
    assert len(list((tmp_path / "set").glob("*.everclust"))) <= N_KEYS  # superseded files do not pile up


def test_a_copy_of_a_model_learns_apart(opened):
    keys, X = stream()
    models = opened().partial_fit(keys, X)
    before = models[0].n_samples_seen_
    models[0].partial_fit(X)
    assert models[0].n_samples_seen_ == before


def test_events_come_with_their_key(opened):
    keys, X = stream()
    heard = []
    models = opened(in_memory=1).on_event(lambda *both: heard.append(both))
    learnt_in_batches(models, keys, X, 100)
    for key in range(N_KEYS):
        assert [event for name, event in heard if name == key] == models[key].events()
    assert heard


# Keys


def test_keys(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    strange = ["", "a/../b", "ä\n\x00", "\ud800", "x" * 5_000, "7", 7, -1, 2**70]
    with ModelSet(tmp_path / "set") as models:
        for i, key in enumerate(strange):
            models.partial_fit([key] * (i + 10), X[: i + 10])
        models.partial_fit(np.array(["numpy"] * 3), X[:3]).partial_fit(np.int32(7), X[:1])
    with ModelSet(tmp_path / "set") as models:
        assert list(models) == [
            -1,
            7,
            2**70,
            *sorted([*(key for key in strange if isinstance(key, str)), "numpy"]),
        ]
        assert models["7"].n_samples_seen_ == 15
        assert models[7].n_samples_seen_ == 17
        assert 7.5 not in models
        with pytest.raises(KeyError):
            models["nobody"]
        del models["7"]
        with pytest.raises(KeyError):
            del models["7"]
    with ModelSet(tmp_path / "set") as models:
        assert "7" not in models
        assert len(models) == len(strange)
        assert len(list((tmp_path / "set").glob("*.everclust"))) == len(models)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["a", None, "b"], "Row 1 has the key None, but keys are strings or integers"),
        (["a", "b", float("nan")], "Row 2 has the key nan"),
        ([True, False, True], "Row 0 has the key True"),
        (np.array([1.0, 2.0, 3.0]), "Row 0 has the key 1.0"),
        (["a", "b"], "There are 2 keys, but X has 3 rows"),
    ],
)
def test_bad_keys(opened, keys, message):
    models = opened()
    with pytest.raises(ValueError, match=message):
        models.partial_fit(keys, np.eye(3))
    assert not len(models)


# Rows


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_a_bad_row_is_named_and_nothing_is_learnt(opened, value):
    keys, X = stream()
    models = opened().partial_fit(keys, X)
    before = [models[key].n_samples_seen_ for key in models]
    bad = X.copy()
    bad[400, 1] = value
    with pytest.raises(ValueError, match=f"Row 400 of X, of key {keys[400]}, has .* in feature 1"):
        models.partial_fit(keys, bad)
    assert [models[key].n_samples_seen_ for key in models] == before


def test_features_are_those_of_all_models(tmp_path):
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"heat": [1.0, 2.0, 3.0], "load": [1.0, 0.0, 2.0]})
    with ModelSet(tmp_path / "set") as models:
        models.partial_fit(pd.Series(["a", "b", "a"]), rows)
        assert models["b"].feature_names_in_.tolist() == ["heat", "load"]
    with ModelSet(tmp_path / "set") as models:
        with pytest.raises(ValueError, match="feature names"):
            models.partial_fit("c", rows.assign(more=0.0))
        with pytest.raises(ValueError, match="feature names"):
            models.partial_fit("c", rows[["load", "heat"]])
        models.partial_fit("c", [{"load": 1.0, "heat": 2.0}])
        assert models["c"].prototypes_.tolist() == [[2.0, 1.0]]


def test_a_key_that_was_never_learnt_has_no_answer(opened):
    models = opened().partial_fit("a", np.eye(2))
    with pytest.raises(ValueError, match="Row 1 has the key 'b', of which no row was learnt"):
        models.predict(["a", "b"], np.eye(2))


# The folder


def test_what_was_not_saved_is_gone_and_what_was_saved_is_not(tmp_path, opened):
    keys, X = stream()
    models = opened(in_memory=1)
    models.partial_fit(keys[:500], X[:500]).save({"row": 500})
    saved = {key: as_bytes(models[key], tmp_path / "a") for key in models}
    models.partial_fit(keys[500:], X[500:]).partial_fit("new", X)
    del models[0]
    models.close()
    with ModelSet(tmp_path / "set") as models:
        assert models.position == {"row": 500}
        assert {key: as_bytes(models[key], tmp_path / "a") for key in models} == saved
    assert len(names_in(tmp_path / "set")) == N_KEYS + 2  # the index and the lock


FOLDERS = str(TESTS), str(TESTS / "many_models")  # of what a process of its own imports
KILLED = """
    import os, sys
    from everclust import ModelSet
    from test_model_set import stream

    rename, n_calls = os.replace, 0

    def kill_or_rename(*arguments):
        global n_calls
        n_calls += 1
        if n_calls == int(sys.argv[1]):
            os.kill(os.getpid(), 9)
        rename(*arguments)

    os.replace = kill_or_rename
    keys, X = stream()
    models = ModelSet("set", in_memory=2)
    for stop in range(50, len(X) + 1, 50):
        models.partial_fit(keys[stop - 50 : stop], X[stop - 50 : stop]).save(stop)
"""


@pytest.mark.slow  # a process of its own
@pytest.mark.parametrize("call", [1, 9, 30])
def test_a_killed_process_resumes_to_the_same_models(tmp_path, opened, call):
    """It is killed just before it renames a file, of a model or of the index."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(call)],
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(filter(None, [*FOLDERS, os.environ.get("PYTHONPATH")]))},
        timeout=300,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    keys, X = stream()
    models = opened(in_memory=2)
    start = models.position or 0
    models.partial_fit(keys[start:], X[start:])
    for key in range(N_KEYS):
        alone = EverClust().partial_fit(X[keys == key])
        assert as_bytes(models[key], tmp_path / "a") == as_bytes(alone, tmp_path / "b")


def test_an_error_inside_does_not_save(tmp_path, opened):
    def learn_and_fail():
        with ModelSet(tmp_path / "set") as models:
            models.partial_fit("a", np.eye(2))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        learn_and_fail()
    assert not len(opened())


def test_two_sets_do_not_share_a_folder(tmp_path):
    with ModelSet(tmp_path / "set"), pytest.raises(ValueError, match="in use by another ModelSet"):
        ModelSet(tmp_path / "set")
    ModelSet(tmp_path / "set").close()


def test_a_set_that_was_never_saved_leaves_no_folder(tmp_path):
    models = ModelSet(tmp_path / "set", in_memory=1)
    models.partial_fit(["a", "b"], np.eye(2))
    assert len(names_in(tmp_path / "set")) == 2, "the lock, and a model that left the memory"
    with pytest.raises(ValueError, match="in use"):
        ModelSet(tmp_path / "set")
    assert (tmp_path / "set" / "lock").exists(), "it is not the second one's"
    models.close()
    assert not (tmp_path / "set").exists()


def test_a_lock_that_was_deleted_meanwhile_is_none(tmp_path, monkeypatch):
    """Its set was closed between our opening the file and our locking it."""
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", lambda file, how: os.unlink(file.name))
    with pytest.raises(ValueError, match="in use"):
        ModelSet(tmp_path / "set")


def test_a_closed_set_says_so(opened):
    models = opened()
    models.close()
    for call in (lambda: models.partial_fit("a", np.eye(2)), models.save, lambda: models["a"]):
        with pytest.raises(ValueError, match="was closed; open it again"):
            call()


def test_a_foreign_folder_stays_as_it_is(tmp_path):
    (tmp_path / "notes.txt").write_text("precious")
    (tmp_path / "lock").write_text("precious")
    for is_locked in (True, False):
        with pytest.raises(ValueError, match="no set of models"):
            ModelSet(tmp_path)
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
            ["notes.txt", "lock"] if is_locked else ["notes.txt"], "precious"
        )
        (tmp_path / "lock").unlink(missing_ok=True)


def test_folders_that_hold_something_else(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(ValueError, match=r"holds thesis\.txt and no set of models"):
        ModelSet(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "precious"


def test_damage_is_found_when_the_set_is_opened(tmp_path):
    with ModelSet(tmp_path / "set") as models:
        models.partial_fit(["a", "b"], np.eye(2))
    index = tmp_path / "set" / "models.json"
    good = index.read_bytes()
    index.write_bytes(good.replace(b"everclust", b"overclust"))
    with pytest.raises(ValueError, match="wrong checksum"):
        ModelSet(tmp_path / "set")
    index.write_bytes(good[:-4])
    with pytest.raises(ValueError, match="cannot be read as the index"):
        ModelSet(tmp_path / "set")
    index.write_bytes(good)
    files = dict(json.loads(json.loads(good)["body"])["files"])
    (tmp_path / "set" / f"{files['b']:09d}.everclust").unlink()
    with pytest.raises(ValueError, match="the model of key 'b', is missing"):
        ModelSet(tmp_path / "set")


def test_templates(tmp_path):
    with pytest.raises(ValueError, match="learnt nothing"):
        ModelSet(tmp_path / "set", EverClust().fit(np.eye(3)))
    with pytest.raises(ValueError, match="learn in order"):
        ModelSet(tmp_path / "set", EverClust(n_jobs=2))
    with pytest.raises(ValueError, match="max_nodes"):
        ModelSet(tmp_path / "set", EverClust(max_nodes=-3))
    with pytest.raises(ValueError, match="in_memory is 0"):
        ModelSet(tmp_path / "set", in_memory=0)
    assert not (tmp_path / "set").exists()
    with ModelSet(tmp_path / "set", IDAT(max_nodes=50)) as models:
        models.partial_fit("a", np.eye(2))
    with pytest.raises(ValueError, match=r"are IDAT\(max_nodes=50\), but EverClust\(\) was asked for"):
        ModelSet(tmp_path / "set", EverClust())
    with ModelSet(tmp_path / "set", IDAT(max_nodes=50)) as models:
        assert models["a"].max_nodes == 50
        assert "1 models" in repr(models)


def test_threads_share_a_set(tmp_path, opened):
    X = stream()[1]
    models = opened(in_memory=2)

    def learn(key):
        for start in range(0, len(X), 200):
            rows = X[start : start + 200]
            models.partial_fit(key, rows).predict(key, rows)

    threads = [threading.Thread(target=learn, args=(key,)) for key in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = as_bytes(EverClust().partial_fit(X), tmp_path / "a")
    assert all(as_bytes(models[key], tmp_path / "b") == alone for key in range(4))
