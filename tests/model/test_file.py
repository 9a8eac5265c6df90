"""Saved models: nothing is lost, nothing is half written, and no file can do harm."""

import copy
import errno
import hashlib
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import joblib
import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

from everclust import IDAT, EverClust, load
from everclust.core import serialise
from everclust.core.invariants import check
from everclust.core.serialise import NODE_FIELDS
from everclust.model import learner
from everclust.model.file import DIGEST, FORMAT, MAGIC
from support.models import learnt
from support.paths import DATA
from support.slow import examples_slow, others_slow

IRIS = load_iris().data
DIGITS = load_digits().data
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
STORED = DATA / "model_v2.everclust"
STORED_DIGEST = "1fe7f2fcbbcc56731ec3dca4600e40f136170684f37818e7d1ac7634bcf11959"


def saved(model, path):
    model.save(path)
    return load(path)


def through_pickle(model, path):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, path):
    joblib.dump(model, path)
    return joblib.load(path)


def deep_copied(model, path):
    return copy.deepcopy(model)


def copied(model, path):
    return model.copy()


WAYS = [saved, through_pickle, through_joblib, deep_copied, copied]


# Nothing is lost


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "cut", others_slow([1, 2, 3, 4, 5, 17, 186, 191, 500, 1000, 1796], now=[2, 5, 191, 1000])
)
def test_going_on_equals_never_having_stopped(way, cut, tmp_path):
    whole = IDAT().partial_fit(DIGITS)
    restored = way(IDAT().partial_fit(DIGITS[:cut]), tmp_path / "model")
    assert learnt(restored) == learnt(IDAT().partial_fit(DIGITS[:cut]))
    assert learnt(restored.partial_fit(DIGITS[cut:])) == learnt(whole)
    assert np.array_equal(restored.predict(DIGITS), whole.predict(DIGITS))


@pytest.mark.parametrize("n_rows", others_slow([150, 500], now=[150]))
def test_a_model_can_be_saved_after_any_sample(n_rows, tmp_path):
    model = IDAT()
    for i in range(n_rows):
        model.learn_one(DIGITS[i])
        restored = saved(model, tmp_path / "model")
        assert learnt(restored) == learnt(model)
        check(restored._learner.state)
        if i % 10 == 0:
            ahead = DIGITS[i + 1 : i + 201]
            assert learnt(restored.partial_fit(ahead)) == learnt(model.copy().partial_fit(ahead))


def test_stopping_after_every_batch(tmp_path):
    model = IDAT()
    for start in range(0, len(DIGITS), 100):
        model = saved(model.partial_fit(DIGITS[start : start + 100]), tmp_path / "model")
    assert learnt(model) == learnt(IDAT().partial_fit(DIGITS))


@pytest.mark.parametrize("way", WAYS)
def test_the_numbers_of_the_clusters_stay(way, tmp_path):
    """Also where fit has numbered them otherwise than partial_fit does."""
    X = np.random.default_rng(2).normal(size=(600, 2)) * np.geomspace(1e-3, 1e3, 600)[:, None]
    model = IDAT().fit(X)
    assert not np.array_equal(model.labels_, IDAT().partial_fit(X).predict(X))
    restored = way(model, tmp_path / "model")
    assert np.array_equal(restored.predict(X), model.labels_)
    assert np.array_equal(restored.node_labels_, model.node_labels_)
    assert restored.n_clusters_ == model.n_clusters_
    assert np.array_equal(restored.score_samples(X), model.score_samples(X))
    assert np.array_equal(restored.partial_fit(X[:50]).node_labels_, model.partial_fit(X[:50]).node_labels_)


@pytest.mark.parametrize("way", WAYS)
def test_names_of_features_stay(way, tmp_path):
    names = pandas.Index(["ä", "π²", 'quo"te\n', "rate\xa0[/s]"], dtype=object)
    frame = pandas.DataFrame(IRIS, columns=names)
    restored = way(IDAT().fit(frame), tmp_path / "model")
    assert list(restored.feature_names_in_) == list(frame.columns)
    assert restored.feature_names_in_.dtype == object
    assert restored.n_features_in_ == 4
    assert len(restored.predict(frame)) == 150
    with pytest.raises(ValueError, match="feature names should match"):
        restored.partial_fit(frame[frame.columns[::-1]])


def test_models_without_names_have_none(tmp_path):
    assert not hasattr(saved(IDAT().fit(IRIS), tmp_path / "model"), "feature_names_in_")


@pytest.mark.parametrize(
    ("n_names", "length"),
    others_slow([(30_000, 8), (1000, 800), (30_000, 800)], now=[(30_000, 8), (1000, 800)]),
)
def test_many_long_names(n_names, length, tmp_path):
    names = [f"{i:08}" * (length // 8) for i in range(n_names)]
    model = IDAT().fit(pandas.DataFrame(np.ones((1, len(names))), columns=names))
    assert list(saved(model, tmp_path / "model").feature_names_in_) == names


def test_labels_are_not_stored_but_predicted(tmp_path):
    restored = saved(IDAT().fit(IRIS), tmp_path / "model")
    assert not hasattr(restored, "labels_")
    assert hasattr(pickle.loads(pickle.dumps(IDAT().fit(IRIS))), "labels_")


@pytest.mark.parametrize("dtype", [str, Path])
def test_paths(dtype, tmp_path):
    model = IDAT().fit(IRIS)
    model.save(dtype(tmp_path / "model"))
    assert learnt(load(dtype(tmp_path / "model"))) == learnt(model)


def test_paths_relative_to_the_present_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = IDAT().fit(IRIS)
    model.save("model.everclust")
    assert learnt(load("model.everclust")) == learnt(model)


def test_the_same_model_gives_the_same_file(tmp_path):
    IDAT().fit(IRIS).save(tmp_path / "a")
    saved(IDAT().fit(IRIS), tmp_path / "b").save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


@pytest.mark.slow  # a process of its own
def test_no_pickle_is_on_the_path(tmp_path):
    """Neither saving nor loading unpickles, evaluates or imports anything."""
    IDAT().fit(IRIS).save(tmp_path / "model")
    code = f"""
import sys, pickle
import everclust
model = everclust.IDAT().fit([[0.0, 1.0], [1.0, 0.0], [3.0, 3.0]])
everclust.load({str(tmp_path / "model")!r}).save({str(tmp_path / "first")!r})  # numba reads its own cache
seen = []
sys.addaudithook(lambda event, args: seen.append(event))
everclust.load({str(tmp_path / "model")!r}).save({str(tmp_path / "again")!r})
assert "open" in seen
assert not {{"pickle.find_class", "exec", "compile", "import", "marshal.loads"}} & set(seen), seen
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# Nothing is half written


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "model"
    IDAT().fit(IRIS).save(path)
    return path


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failing_save_leaves_the_old_file(step, error, model_file, monkeypatch):
    before = model_file.read_bytes()

    def fail(*arguments):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        IDAT().fit(DIGITS).save(model_file)
    monkeypatch.undo()
    assert model_file.read_bytes() == before
    assert os.listdir(model_file.parent) == ["model"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has /dev/full")
def test_a_full_disk_is_an_error(tmp_path):
    """/dev/full cannot be renamed onto, so the writing itself is tried there."""
    folder = tmp_path / "folder"
    folder.mkdir()
    real = io.open

    def full(path, *arguments):
        return real("/dev/full", "wb") if str(path).startswith(str(folder)) else real(path, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.open", full)
        with pytest.raises(OSError, match="No space left"):
            IDAT().fit(DIGITS).save(folder / "model")
    assert os.listdir(folder) == []


def test_a_save_replaces_the_old_file_at_once(model_file, monkeypatch):
    """The new content is complete and on the disk before the old name points to it."""
    old, order = model_file.read_bytes(), []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(number):
        order.append("fsync")
        fsync(number)

    def watched_replace(source, target):
        order.append("replace")
        assert model_file.read_bytes() == old
        assert learnt(load(source)) == learnt(IDAT().fit(DIGITS))
        assert Path(source).parent == model_file.parent
        replace(source, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    IDAT().fit(DIGITS).save(model_file)
    assert order == ["fsync", "replace"]
    assert learnt(load(model_file)) == learnt(IDAT().fit(DIGITS))
    assert os.listdir(model_file.parent) == ["model"]


def test_folders_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "missing" / "model", tmp_path / "file" / "model"):
        with pytest.raises(OSError, match=r"No such file|Not a directory") as raised:
            IDAT().fit(IRIS).save(path)
        assert str(path) in str(raised.value)
    assert os.listdir(tmp_path) == ["file"]


def test_a_read_only_folder(tmp_path, monkeypatch):
    def refuse(path, *arguments):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(PermissionError, match=str(tmp_path / "model")):
        IDAT().fit(IRIS).save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_the_target_may_not_be_a_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        IDAT().fit(IRIS).save(tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are POSIX")
def test_files_can_be_read_by_whom_the_user_allows(tmp_path):
    mask = os.umask(0o027)
    try:
        IDAT().fit(IRIS).save(tmp_path / "model")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o640


def test_loading_needs_a_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")


def test_a_loaded_state_is_restored_and_checked_once(model_file, monkeypatch):
    called = Counter()

    def counted(function):
        def call(*arguments):
            called[function.__name__] += 1
            return function(*arguments)

        return call

    for name in ("restore", "check"):
        monkeypatch.setattr(serialise, name, counted(getattr(serialise, name)))
    monkeypatch.setattr(learner, "restore", serialise.restore)
    load(model_file)
    assert called == {"restore": 1, "check": 1}


# The format is kept for ever


def test_a_model_of_format_2_can_be_read_for_ever(tmp_path):
    """Written by the first everclust with hand-overs, ids and events; all of these are in it:

    model = EverClust(max_nodes=20)
    for start in range(0, 2 * len(frame), 599):
        model.partial_fit(frame.iloc[np.arange(start, start + 599) % len(frame)])
    """
    frame = load_digits(as_frame=True).data.iloc[:, 20:24]
    assert hashlib.sha256(STORED.read_bytes()).hexdigest() == STORED_DIGEST
    model = load(STORED)
    check(model._learner.state)
    assert model.get_params() == {"metric": "capped", "max_nodes": 20, "n_jobs": None}
    assert list(model.feature_names_in_) == list(frame.columns)
    assert (model.n_samples_seen_, model.n_nodes_, model.interval_) == (3594, 20, 11)
    assert model.feature_weights_ == pytest.approx([0.6393374578541002, 0.6352990072898274, 1, 1], rel=1e-12)
    assert model._learner.export()[1]["community"].tolist() == [1, 5, 0, 5, 1, 0, 1, 5, 1, 9] + [-1] * 10
    assert Counter(event.kind for event in model.events()) == {"born": 3, "revised": 1, "gone": 1}
    assert str(model.events()[-1]) == "sample 3,000: 8 is gone (37 samples)"
    assert model.predict(frame[:9]).tolist() == [5, 1, 5, 1, 0, 1, 0, 5, 5]
    assert learnt(saved(model, tmp_path / "model")) == learnt(model)
    assert model.partial_fit(frame).n_nodes_ <= 20


# No file can do harm

# `build` writes whatever it is told into a file with a correct length and checksum, by the layout that is
# documented in model/file.py.


def build(header, raw, n_header=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    data = MAGIC + (len(text) if n_header is None else n_header).to_bytes(4, "little") + text + raw
    return data + hashlib.sha256(data).digest()


def take_apart(data):
    """(header, {name: array}) of a file."""
    start = len(MAGIC) + 4
    stop = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header, arrays = json.loads(data[start:stop]), {}
    for name, (dtype, shape) in header["arrays"].items():
        array = np.frombuffer(data, dtype, int(np.prod(shape)), stop).reshape(shape)
        arrays[name] = array.copy()
        stop += array.nbytes
    assert stop + DIGEST == len(data)
    return header, arrays


def put_together(header, arrays):
    header["arrays"] = {name: [a.dtype.str, list(a.shape)] for name, a in arrays.items()}
    return build(header, b"".join(a.tobytes() for a in arrays.values()))


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a small model with edges, evidence, idle nodes, weights, ids and two kinds of events."""
    path = tmp_path_factory.mktemp("sound") / "model"
    model = EverClust().fit(DIGITS[:300, 20:24])
    assert len(model.edges_) > 1
    model.save(path)
    return path.read_bytes()


def refuse(path, data, match="everclust model"):
    """Loading raises ValueError in one sentence, and takes no more memory than the file is worth."""
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=match) as raised:
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert type(raised.value) is ValueError
    message = str(raised.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert not message.endswith("..")
    assert len(message) < 600
    assert peak < 40 * len(data) + 500_000
    return message


def test_the_tools_of_these_tests_work(sound, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(put_together(*take_apart(sound)))
    assert path.read_bytes() == sound
    load(path)


def test_truncated_files(sound, tmp_path):
    for length in {*range(60), *range(60, len(sound), 97), *range(len(sound) - 40, len(sound))}:
        refuse(tmp_path / "model", sound[:length])


def test_files_that_go_on_after_their_end(sound, tmp_path):
    refuse(tmp_path / "model", sound + b"\0", "wrong file size of .* bytes, expected .* by its header")
    refuse(tmp_path / "model", sound + sound, "wrong file size of .* bytes, expected .* by its header")


def test_something_else(tmp_path):
    model = IDAT().fit(IRIS)
    for data in (b"", b"\0" * 1000, b"PK\3\4" + b"\0" * 100, pickle.dumps(model), MAGIC, MAGIC * 20):
        refuse(tmp_path / "model", data)


def test_changed_bytes(sound, tmp_path):
    random = np.random.default_rng(0)
    places = {*range(len(MAGIC) + 4), *random.integers(0, len(sound), 400).tolist(), len(sound) - 1}
    for place in places:
        changed = bytearray(sound)
        changed[place] ^= 1 << int(random.integers(8))
        refuse(tmp_path / "model", bytes(changed))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_bytes_changed_at_random(sound, tmp_path_factory, data):
    changed = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(sound) - 1))
        changed[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(changed)
    if bytes(changed) != sound:
        refuse(path, bytes(changed))


def test_newer_formats(sound, tmp_path):
    header, arrays = take_apart(sound)
    header["format"] = FORMAT + 1
    message = refuse(tmp_path / "model", put_together(header, arrays), f"newer than {FORMAT}")
    assert "upgrade everclust" in message
    refuse(
        tmp_path / "model", build({"format": 7, "entirely": "different"}, b"whatever"), "upgrade everclust"
    )


@pytest.mark.parametrize("number", [0, 1, -1, True, 2.0, 0.5, "2", None, [2], {}, 10**400, float("nan")])
def test_unknown_formats(number, sound, tmp_path):
    header, arrays = take_apart(sound)
    header["format"] = number
    message = refuse(tmp_path / "model", put_together(header, arrays), "unknown format|invalid number NaN")
    assert "upgrade" not in message


@pytest.mark.parametrize(
    "header",
    [
        *(b"", b"{", b"[]", b"3", b'"text"', b"null", b"{}", b"\xff\xfe", b"NaN", b'{"format": 2}'),
        *(b"1" * 10_000, b'{"format":' + b"9" * 5000 + b"}", b"[" * 100_000, b'{"a":' * 50_000),
        b'{"format": 2, "arrays": 3, "scalars": 4, "names": 5, "params": {}}',
        b'{"format": 2, "arrays": {}, "scalars": {}, "names": null, "params": {}}',
    ],
    ids=lambda header: header[:40].decode(errors="replace") or "nothing",
)
def test_headers_that_make_no_sense(header, tmp_path):
    refuse(tmp_path / "model", build(header, b""))


@pytest.mark.parametrize("n_header", [0, 1, 10**6, 2**31, 2**32 - 1])
def test_wrong_length_of_the_header(n_header, sound, tmp_path):
    header, arrays = take_apart(sound)
    raw = b"".join(a.tobytes() for a in arrays.values())
    refuse(tmp_path / "model", build(header, raw, n_header))


SHAPES = [
    *([10**12, 4], [10**18, 10**18], [2**62, 4], [0, 10**15], [10**15, 0], [0, 2**62], [10**400]),
    *([-1, 4], [-2, -2], [4.0, 4], ["4", 4], [True, 4], [[4], 4], [None], [], [1] * 70, [1] * 10_000),
    *(4, None, "44", {}, {"4": 4}),
]


@pytest.mark.parametrize("name", ["prototype", "window", "usage", "edge", "event", "community_centre"])
def test_absurd_shapes(name, sound, tmp_path):
    for shape in SHAPES:
        header, arrays = take_apart(sound)
        raw = b"".join(a.tobytes() for a in arrays.values())
        header["arrays"][name][1] = shape
        refuse(tmp_path / "model", build(header, raw))
        # and once more where the length of the file agrees with an empty array
        raw = b"".join(a.tobytes() for other, a in arrays.items() if other != name)
        refuse(tmp_path / "model", build(header, raw))


@pytest.mark.parametrize(
    "dtype", ["|O", "<f4", ">f8", "<c16", "<U8", "|V8", "<M8[s]", "f8", "", 8, None, ["<f8"]]
)
def test_absurd_types(dtype, sound, tmp_path):
    for name in ("prototype", "usage", "active"):
        header, arrays = take_apart(sound)
        raw = b"".join(a.tobytes() for a in arrays.values())
        header["arrays"][name][0] = dtype
        refuse(tmp_path / "model", build(header, raw))


MAY_BE_SHORTER = (
    "community_change",
    "community_divided",
    "community_member",
    "community_past",
    "community_shift",
    "edge",
    "evidence",
    "window",
    "handover",
    "event",
)  # without its last line
MAY_BE_LONGER = (  # a model is still one, or nothing is there
    "event",
    "event_centre",
    "community_change",
    "community_divided",
    "community_past",
    "community_shift",
)


@pytest.mark.parametrize("name", sorted(take_apart(STORED.read_bytes())[1]))
def test_arrays_of_the_wrong_type_shape_or_missing(name, sound, tmp_path):
    original = take_apart(sound)[1][name]
    as_float = original.astype("<i8" if original.dtype.kind == "f" else "<f8")
    wrong = [as_float, original[..., None]]
    if name not in MAY_BE_LONGER:
        wrong.append(np.concatenate([original, original]))
    if name not in MAY_BE_SHORTER:
        wrong.append(original[:-1])
    for array in wrong:
        header, arrays = take_apart(sound)
        arrays[name] = array
        refuse(tmp_path / "model", put_together(header, arrays))
    header, arrays = take_apart(sound)
    del arrays[name]
    refuse(tmp_path / "model", put_together(header, arrays))


SCALARS = {
    "n_seen": [-1, 0, 1, 149, 2**62, 2**63 - 1, 2**63, 2**64, 10**400, 300.0, 1e300, True, "300", None, []],
    "since_recalibration": [-1, 2**63 - 1, 2**70, 1e300, 0.5, "0", None, {}, 301],
    "interval": [-1, 0, 1, 10**6, 10**12, 2**62, 2**63 - 1, 2**64, 1e18, 2.5, True, "2", None],
    "vigilance": [-0.1, 1.1, 1e308, -(2**70), 10**400, float("nan"), float("inf"), "0.5", None, True],
    "cluster_ratio": [-0.1, 1.1, 10**400, float("nan"), -float("inf"), "0.5", None, []],
    "next_cluster": [-1, 0, 1, 301**2 + 1, 2**53, 2**63, 1.5, True, "3", None, []],
    "next_community": [-1, 0, 301**2 + 1, 2**53, 2**63, 1.5, True, "3", None, []],
    "provisional": [-2, 1, 2**70, 0.5, "0", None, []],
}


@pytest.mark.parametrize("name", SCALARS)
def test_absurd_scalars(name, sound, tmp_path):
    for value in SCALARS[name]:
        header, arrays = take_apart(sound)
        header["scalars"][name] = value
        refuse(tmp_path / "model", put_together(header, arrays))
    header, arrays = take_apart(sound)
    del header["scalars"][name]
    refuse(tmp_path / "model", put_together(header, arrays))


@pytest.mark.parametrize("name", ["next_cluster", "next_community"])
def test_the_largest_number_of_an_id_can_be_saved_and_loaded_again(name, sound, tmp_path):
    header, arrays = take_apart(sound)
    header["scalars"][name] = 301**2
    load_or_refuse(tmp_path / "model", put_together(header, arrays))
    assert load(tmp_path / "model").n_samples_seen_ == 600


@pytest.mark.parametrize("names", [[*"abca"], [*"abc", "\x1b[2J"]])
def test_names_that_cannot_be_saved_are_not_learnt(names):
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(DIGITS[:30, 20:24], columns=names)
    model = EverClust()
    # Newer versions of scikit-learn refuse names that are there twice before everclust does.
    refusal = r"no model can have: (a control character|the feature name 'a' is there twice).*; rename"
    with pytest.raises(ValueError, match=f"{refusal}|unique column names"):
        model.fit(rows)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("n_born", [-1, 0, 1, 2**63, 2**64, 1.5, True, "3", None, []])
def test_absurd_numbers_of_births(n_born, sound, tmp_path):
    header, arrays = take_apart(sound)
    header["scalars"]["n_born"] = n_born
    refuse(tmp_path / "model", put_together(header, arrays))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda birth: birth[::-1],
        lambda birth: birth * 0,
        lambda birth: birth - birth[0] - 1,
        lambda birth: birth + 2**40,
        lambda birth: birth.astype("<f8"),
        lambda birth: birth[:-1],
        lambda birth: birth[:, None],
    ],
)
def test_absurd_births(spoil, sound, tmp_path):
    header, arrays = take_apart(sound)
    arrays["birth"] = spoil(arrays["birth"])
    refuse(tmp_path / "model", put_together(header, arrays))


@pytest.mark.parametrize(
    "params",
    [
        *(
            None,
            [],
            3,
            "text",
            {"metric": "nonsense"},
            {"clusters": "handover"},
            {"metric": 3},
            {"metric": []},
        ),
        *(
            {"metric": "euclidean"},
            {"metric": "capped", "alpha": 1},
            {"metric": "capped", "max_nodes": 2},
        ),
        *({"metric": "capped", "max_nodes": value} for value in (-1, 2.5, "9", True, 2**70)),
    ],
)
def test_absurd_parameters(params, sound, tmp_path):
    """Weights go with the capped metric only, so that a model with weights is not a Euclidean one."""
    header, arrays = take_apart(sound)
    assert (arrays["weight"] < 1).any()
    header["params"] = params
    refuse(tmp_path / "model", put_together(header, arrays))


@pytest.mark.parametrize("scalars", [None, [], 3, "text", {}, [["n_seen", 3]]])
def test_scalars_that_are_none(scalars, sound, tmp_path):
    header, arrays = take_apart(sound)
    header["scalars"] = scalars
    refuse(tmp_path / "model", put_together(header, arrays))


@pytest.mark.parametrize(
    "names",
    [
        *["abcd", ["a", "b", "c"], ["a", "b", "c", 4], {"a": 1, "b": 2, "c": 3, "d": 4}, 4, [[]] * 4, True],
        *[[*"abca"], [*"abc", "\x1b[2J"], [*"abc", "d\0"], [*"abc", "\ud800"]],
    ],
)
def test_absurd_names(names, sound, tmp_path):
    header, arrays = take_apart(sound)
    header["names"] = names
    refuse(tmp_path / "model", put_together(header, arrays), "feature|names")


VALUES = {
    "usage": [0, -1, 2**62, -(2**63), 2**63 - 1],
    "wins": [0, -1, 301, 2**62],
    "idle": [-1, 2, 2**62],
    "activity": [-1, 2**62, 2**63 - 1],
    "scale": [0.0, -1.0, 1e-300, 1e-7, np.nan, np.inf],
    "prototype": [np.nan, np.inf, -np.inf, 1e300, -1.1e140],
    "mean": [np.nan, np.inf, 1e300],
    "square_sum": [np.nan, -np.inf, -1e-300],
    "window": [np.nan, np.inf, 1e300],
    "evidence": [-1, 10**6, 2**62, -(2**63)],
    "edge": [-1, 10**6, 2**62, -(2**63)],
    "handover": [-1, 10**6, 2**62, -(2**63)],
    "last_won": [-1, 301, 2**62],
    "community": [-2, 10**6, 2**62],
    "cluster": [-2, 10**6, 2**62],
    "since": [-1, 301, 2**62],
    "weight": [-0.1, 0.0, 1.1, np.nan, np.inf],
    "direction": [np.nan, np.inf],
    "projection": [np.nan, -np.inf],
    "event": [-1, 10**16, 2**62, -(2**63)],
    "event_centre": [np.nan, -np.inf],
    "community_list": [-1],
    "community_centre": [np.nan, np.inf],
}


@pytest.mark.parametrize("name", VALUES)
def test_absurd_numbers(name, sound, tmp_path):
    """In every column, at the beginning and at the end."""
    array = take_apart(sound)[1][name]
    n_columns = array.reshape(len(array), -1).shape[1]
    for value in VALUES[name]:
        for column in range(n_columns if name in ("evidence", "edge", "handover", "event") else 1):
            for row in (0, -1):
                header, arrays = take_apart(sound)
                arrays[name].reshape(len(arrays[name]), -1)[row, column] = value
                refuse(tmp_path / "model", put_together(header, arrays))


def put(part, name, place, value):
    """A change of one entry of a header or of an array."""

    def change(header, arrays):
        where = header[name] if part == "header" else arrays[name]
        where[place] = value

    return change


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 0, 0, 9, 9]], "unknown kind"),
        ([[1, 99, 0, 9, 9]], "unknown id"),
        ([[1, 0, -2, 9, 9]], "unknown id"),
        ([[1, 0, 0, 301, 9]], "value out of range"),
        ([[1, 0, 0, 9, -1]], "value out of range"),
        ([[1, 0, 0, 9, 9], [1, 0, 1, 8, 8]], "a change is twice"),
        ([[1, 0, 0, 9]], "wrong shape"),
    ],
)
def test_absurd_changes_that_wait(rows, message, sound, tmp_path):
    header, arrays = take_apart(sound)
    arrays["community_change"] = np.array(rows)
    refuse(tmp_path / "model", put_together(header, arrays), message)


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("community_past", [[1, 2, 3], [1, 2, 3]], "births in array 'community_past' do not rise"),
        ("community_past", [[-1, 2, 3]], "births in array 'community_past' do not rise"),
        ("community_past", [[0, -2, 3]], "value out of range in array 'community_past'"),
        ("community_past", [[0, 4, 3]], "value out of range in array 'community_past'"),
        ("community_past", [[0, -1, -1]], "value out of range in array 'community_past'"),
        ("community_past", [[0, 4, 2**60]], "value out of range in array 'community_past'"),
        ("community_past", [[0, 4]], "wrong shape or dtype of array 'community_past'"),
        ("community_shift", [[99, 0, 900]], "unknown id in array 'community_shift'"),
        ("community_shift", [[0, 0, 900], [0, 1, 900]], "unknown id in array 'community_shift'"),
        ("community_shift", [[0, 2, 900]], "value out of range in array 'community_shift'"),
        ("community_shift", [[0, 1, -1]], "value out of range in array 'community_shift'"),
        ("community_shift", [[0, 1]], "wrong shape or dtype of array 'community_shift'"),
        ("community_divided", [[0, 1]], "wrong shape or dtype of array 'community_divided'"),
        ("community_divided", [0.0], "wrong shape or dtype of array 'community_divided'"),
        ("community_divided", [99], r"unknown id in array 'community_divided' \(community_list"),
    ],
)
def test_absurd_shifts(name, rows, message, sound, tmp_path):
    header, arrays = take_apart(sound)
    arrays[name] = np.array(rows)
    refuse(tmp_path / "model", put_together(header, arrays), message)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("community_past", "community_shift", "community_divided"), "community_past"),
        (("direction", "projection", "foretold"), "directions, which models in the metric 'capped' have"),
    ],
)
def test_files_without_some_arrays(names, message, sound, tmp_path):
    header, arrays = take_apart(sound)
    for name in names:
        del arrays[name]
    refuse(tmp_path / "model", put_together(header, arrays), message)


def test_files_without_an_end_of_clusters(sound, tmp_path):
    header, arrays = take_apart(sound)
    del header["scalars"]["cluster_end"]
    refuse(tmp_path / "model", put_together(header, arrays), "cluster_end")


def test_directions_go_with_the_capped_metric_only(sound, tmp_path):
    header, arrays = take_apart(sound)
    header["params"]["metric"] = "euclidean"
    arrays["weight"][:] = 1.0
    refuse(tmp_path / "model", put_together(header, arrays), "directions, .* 'capped'")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("header", "scalars", "interval", -1), "invalid scalar 'interval'"),
        (put("header", "scalars", "cluster_end", "far"), "invalid scalar 'cluster_end'"),
        (put("header", "scalars", "cluster_end", -1.0), "clusters end at some distance"),
        (put("header", "scalars", "n_clusters", 5.0), "clusters that end are counted"),
        (put("header", "scalars", "cluster_radius", -1.0), "clusters have some radius"),
        (put("header", "scalars", "since_recalibration", 301), "invalid scalar 'since_recalibration'"),
        (put("header", "params", "clusters", "handover"), "invalid parameter 'clusters'"),
        (put("header", "params", "metric", "all"), "invalid parameter 'metric'"),
        (put("header", "params", "metric", "euclidean"), "feature weights, .* 'capped'"),
        (put("header", "params", "alpha", 1), "invalid parameter 'alpha'"),
        (
            put("arrays", "community_list", (0, 2), 301),
            r"community created or seen after the last sample \(n_seen\)",
        ),
        (put("arrays", "community_list", (0, 0), 99), "unknown id in array 'community_list'"),
        (put("arrays", "community_centre", (0, 0), np.nan), "non-finite value in array 'community_centre'"),
        (put("arrays", "event", (0, 1), 8), "unknown sample, kind, cluster or centre in array 'event'"),
        (put("arrays", "community_list", (0, -1), 2), "value out of range in array 'community_list'"),
        (put("arrays", "community_list", (slice(None), 0), 0), "an id is twice in array 'community_list'"),
        (put("arrays", "community_member", (0, 0), -1), "births in array 'community_member' do not rise"),
        (put("arrays", "community_member", (0, 1), 99), r"unknown id .* 'community_member' \(community_list"),
        (put("arrays", "community_member", (0, 2), 99), r"unknown id .* 'community_member' \(next_community"),
        (put("arrays", "community_schedule", 0, 10**6), "value out of range in array 'community_schedule'"),
        (put("arrays", "scale", 0, 1e-7), "value out of range in array 'scale'"),
        (put("arrays", "since", 0, 301), "value out of range in array 'since'"),
        (put("arrays", "handover", (0, 0), 10**6), "array 'handover' has a pair of unknown nodes"),
        (put("arrays", "projection", (1, 0), -1.0), "no expected variance is negative"),
        (lambda header, arrays: arrays.pop("projection"), "malformed header .KeyError: 'projection'"),
        (put("header", "scalars", "foretold_at", 1.5), "invalid scalar 'foretold_at'"),
        (put("header", "scalars", "foretold_at", 301), "nodes were compared in the past"),
        (lambda header, arrays: arrays.pop("edge"), "malformed header .KeyError: 'edge'"),
        (lambda header, arrays: header.pop("names"), "malformed header .KeyError: 'names'"),
    ],
)
def test_reasons(change, message, sound, tmp_path):
    header, arrays = take_apart(sound)
    change(header, arrays)
    refuse(tmp_path / "model", put_together(header, arrays), message)


def test_reasons_before_the_header_is_read(sound, tmp_path):
    refuse(tmp_path / "model", b"nothing", "bad magic number, so everclust has not saved it; check the path")
    refuse(tmp_path / "model", sound[:100], "unexpected end of file after 100 bytes")
    refuse(tmp_path / "model", sound[:-1] + bytes([sound[-1] ^ 1]), "wrong checksum .SHA-256")
    header, arrays = take_apart(sound)
    arrays["active"].view(np.uint8)[0] = 2
    refuse(tmp_path / "model", put_together(header, arrays), "invalid boolean in array 'active'")


def test_contradictions(sound, tmp_path):
    def changed(change):
        header, arrays = take_apart(sound)
        change(arrays)
        return put_together(header, arrays)

    def repeat_pair(arrays):
        arrays["evidence"][1] = arrays["evidence"][0]

    def repeat_edge(arrays):
        arrays["edge"][1] = arrays["edge"][0]

    def turn_pair(arrays):
        arrays["evidence"][0, :2] = arrays["evidence"][0, 1::-1]

    def loop(arrays):
        arrays["edge"][0] = arrays["edge"][0, 0]

    def no_evidence(arrays):
        arrays["evidence"][0, 2] = 0

    def edge_without_evidence(arrays):
        arrays["evidence"] = arrays["evidence"][:0]

    def overflowing_usage(arrays):
        arrays["usage"][:4] = 2**62

    def overflowing_evidence(arrays):
        arrays["evidence"][:4, 2] = 2**62

    def half_true(arrays):
        arrays["active"].view(np.uint8)[0] = 2

    def all_inactive(arrays):
        arrays["active"][:] = False

    def idle_everywhere(arrays):
        arrays["idle"][:] = 1

    def no_nodes(arrays):
        for name in (*NODE_FIELDS, "prototype", "evidence", "edge", "handover", "cluster", "since"):
            arrays[name] = arrays[name][:0]

    def no_features(arrays):
        for name in ("prototype", "window", "mean", "square_sum", "weight"):
            arrays[name] = arrays[name][..., :0]

    def long_window(arrays):
        arrays["window"] = np.tile(arrays["window"], (30, 1))

    def no_hand_over(arrays):
        arrays["handover"][0, 2] = 0

    def too_many_hand_overs(arrays):
        arrays["handover"][0, 2] = 10**6

    def one_id_for_all(arrays):
        arrays["cluster"][arrays["active"]] = 0

    def an_id_of_its_own_for_everybody(arrays):
        arrays["cluster"][arrays["active"]] = np.arange(arrays["active"].sum())

    def an_id_without_being_active(arrays):
        arrays["active"][np.flatnonzero(arrays["active"])[0]] = False

    def a_centre_that_is_not_there(arrays):
        arrays["event"][-1, 5] = len(arrays["event_centre"])

    def a_kind_that_does_not_exist(arrays):
        arrays["event"][0, 1] = 9

    def an_event_to_come(arrays):
        arrays["event"][-1, 0] = 301

    def a_community_to_come(arrays):
        arrays["community_list"][0, 2] = 301

    changes = [change for change in locals().values() if callable(change) and change is not changed]
    assert len(changes) == 23
    for change in changes:
        refuse(tmp_path / "model", changed(change))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([2**63, 10**30]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)
PLACES = [("format",), ("algorithm",), ("scalars",), ("names",), ("arrays",)]
PLACES += [("scalars", name) for name in SCALARS]
PLACES += [("arrays", name) for name in VALUES] + [("arrays", name, i) for name in VALUES for i in (0, 1)]
PLACES += [("arrays", "prototype", 1, 0), ("arrays", "window", 1, 1), ("arrays", "edge", 1, 0)]


@examples_slow(30, 300)
def test_anything_in_the_header(n_examples, sound, tmp_path):
    """Whatever stands there: either the file is refused, or what is read is a working model."""

    @settings(max_examples=n_examples)
    @given(place=st.sampled_from(PLACES), value=JSON)
    def spoil(place, value):
        header, arrays = take_apart(sound)
        raw = b"".join(a.tobytes() for a in arrays.values())
        inner = header
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        load_or_refuse(tmp_path / "header", build(header, raw))

    spoil()


@examples_slow(30, 300)
def test_anything_in_the_arrays(n_examples, sound, tmp_path):
    """Bytes changed with a correct checksum."""

    @settings(max_examples=n_examples)
    @given(data=st.data())
    def spoil(data):
        header, arrays = take_apart(sound)
        name = data.draw(st.sampled_from(sorted(name for name in arrays if arrays[name].size)))
        raw = arrays[name].reshape(-1).view(np.uint8)
        for _ in range(data.draw(st.integers(1, 3))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        load_or_refuse(tmp_path / "arrays", put_together(header, arrays))

    spoil()


def load_or_refuse(path, data):
    path.write_bytes(data)
    try:
        model = load(path)
    except ValueError as error:
        assert type(error) is ValueError  # noqa: PT017
        refuse(path, data)
        return
    X = DIGITS[:300, 20:24]
    labels = set(model.predict(X).tolist())
    assert labels <= set(model.node_labels_.tolist())
    assert len(labels) <= model.n_clusters_
    assert ((model.score_samples(X) > 0) & (model.score_samples(X) <= 1)).all()
    assert all(map(str, model.events()))
    model.cluster_report()
    model.partial_fit(X)
    check(model._learner.state)
    model.save(path)
    assert load(path).n_samples_seen_ == model.n_samples_seen_


def test_a_link_stays_a_link(tmp_path):
    model = IDAT().partial_fit(DIGITS[:20])
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    model.save(link)
    assert link.is_symlink()
    assert learnt(load(tmp_path / "file")) == learnt(model)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_a_pipe_is_refused_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="device or pipe"):
        IDAT().partial_fit(DIGITS[:20]).save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    assert len(list(tmp_path.iterdir())) == 1


def test_an_error_names_the_target(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing was written") as caught:
        IDAT().partial_fit(DIGITS[:20]).save(tmp_path / "nowhere" / "model")
    assert caught.value.filename == str(tmp_path / "nowhere" / "model")
