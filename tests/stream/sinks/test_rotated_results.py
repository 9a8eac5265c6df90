"""Predictions and events in numbered files: nothing is lost or written twice, complete files never change."""

import json
from pathlib import Path

import pytest

from everclust.stream.batch import StreamError
from everclust.stream.sinks import rotating_file
from everclust.stream.sinks.append_file import AppendFile
from everclust.stream.sinks.rotating_file import RotatingFile, Rotation, rotation_of

IDATS = ["--id", "name", "--label", "kind", "--algorithm", "idat"]


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set."""
    now = [1_000.0]
    monkeypatch.setattr(rotating_file.time, "time", lambda: now[0])
    return now


def series(pattern):
    return {path.name: path.read_text() for path in sorted(Path().glob(pattern))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100MB", (1e8, None)),
        ("1.5GiB", (1.5 * 2**30, None)),
        ("500 kB", (5e5, None)),
        ("1d", (None, 86_400)),
        ("90m", (None, 5_400)),
        ("10MB, 1h", (1e7, 3_600)),
    ],
)
def test_sizes_and_times(text, expected):
    assert rotation_of(text)[:2] == expected


@pytest.mark.parametrize("text", ["", "100", "0MB", "1w", "MB", "-1MB", "1d,2d", "1MB,", "1mb"])
def test_what_is_neither(text):
    with pytest.raises(StreamError, match=r"--rotate is .* but it takes a size"):
        rotation_of(text)


def test_a_new_file_begins_when_one_is_large_enough(folder):
    file = RotatingFile("x.csv", Rotation(10, None), b"head\n")
    file.rewind(None)
    for k in range(5):
        file.append(f"{k}{k}\n".encode())
    file.close()
    assert series("x*") == {
        "x-000001.csv": "head\n00\n11\n",
        "x-000002.csv": "head\n22\n33\n",
        "x-000003.csv": "head\n44\n",
    }


def test_a_new_file_begins_when_one_is_old_enough(folder, clock):
    file = RotatingFile("x", Rotation(None, 60))
    file.rewind(None)
    for seconds in (0, 59, 60, 61, 300, 310):
        clock[0] = 1_000.0 + seconds
        file.append(f"{seconds}\n".encode())
    file.close()
    assert list(series("x*").values()) == ["0\n59\n", "60\n61\n", "300\n310\n"]


def test_with_checkpoints_a_file_is_complete_only_when_one_holds_it(folder):
    file = RotatingFile("x", Rotation(3, None, Path("kept")))
    file.rewind(None)
    file.append(b"abc")
    file.append(b"def")
    assert list(series("x*").values()) == [""], "not flushed yet"
    mark = file.mark()
    assert series("x*") == {"x-000001": "abcdef"}
    assert (mark["number"], mark["place"]) == (2, None), "the next bytes go into the next file"
    file.append(b"g")
    file.abort()
    assert series("x*") == {"x-000001": "abcdef", "x-000002": "g"}
    again = RotatingFile("x", Rotation(3, None, Path("kept")))
    again.rewind(mark)
    again.append(b"h")
    again.close()
    assert series("x*") == {"x-000001": "abcdef", "x-000002": "h"}


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_where_it_began(folder):
    kept = Rotation(3, None, Path("kept"))
    earlier = RotatingFile("x", Rotation(3, None))
    earlier.rewind(None)
    earlier.append(b"abc")
    earlier.close()
    for text in (b"killed", b"whole"):
        file = RotatingFile("x", kept)
        file.rewind(None)
        file.append(text)
        file.abort()
    file.rewind(None)
    file.append(b"end")
    mark = file.mark()
    file.append(b"later")
    file.mark()
    file.abort()
    assert series("x-*") == {"x-000001": "abc", "x-000002": "end", "x-000003": "later"}
    file.rewind(mark)
    file.append(b"again")
    file.close()
    assert series("x-*") == {"x-000001": "abc", "x-000002": "end", "x-000003": "again"}
    other = RotatingFile("x", kept)  # a new run removes nothing of one that had a checkpoint
    other.rewind(None)
    other.append(b"new")
    other.close()
    assert series("x-*")["x-000004"] == "new"
    assert len(series("x-*")) == 4


def test_a_killed_run_leaves_the_files_of_others_alone(folder):
    for name, text in (("kept", b"killed"), ("other", b"other"), ("kept", b"again")):
        file = RotatingFile("x", Rotation(3, None, Path(name)))
        file.rewind(None)
        file.append(text)
        file.abort()
    assert series("x-*") == {"x-000002": "other", "x-000003": "again"}


def test_the_present_folder_may_hold_the_checkpoints(folder, points, call):
    call("fit", points, *IDATS, "-m", "m.everclust", "-p", "p.csv", "--rotate", "20kB", "--checkpoint", ".")
    assert series("p-*")
    assert not list(Path("..").glob("*.rotation-*"))


def test_what_came_after_a_checkpoint_is_cut_off(folder, clock):
    file = RotatingFile("x", Rotation(4, 60), b"-")
    file.rewind(None)
    file.append(b"ab")
    mark = json.loads(json.dumps(file.mark()))
    for text in (b"cd", b"ef", b"gh"):
        file.append(text)
    file.abort()
    assert len(series("x*")) == 2
    clock[0] += 61
    again = RotatingFile("x", Rotation(4, 60), b"-")
    again.rewind(mark)
    assert series("x*") == {"x-000001": "-ab"}
    again.append(b"i")
    again.close()
    assert series("x*") == {"x-000001": "-ab", "x-000002": "-i"}, "its age counts over the restart"


def test_a_new_run_begins_behind_the_files_that_are_there(folder):
    for name in ("x-000007.csv", "x-old.csv", "x-000009.jsonl"):
        Path(name).write_text("precious")
    file = RotatingFile("x.csv", Rotation(10, None))
    file.rewind(None)
    file.append(b"a")
    file.close()
    assert series("x*") == {
        "x-000007.csv": "precious",
        "x-000008.csv": "a",
        "x-000009.jsonl": "precious",
        "x-old.csv": "precious",
    }


def test_rotation_can_begin_later_but_not_end(folder):
    plain = AppendFile("x")
    plain.append(b"abc")
    mark = plain.mark()
    plain.append(b"def")
    plain.close()
    file = RotatingFile("x", Rotation(10, None))
    file.rewind(mark)
    file.append(b"g")
    mark = file.mark()
    file.close()
    assert series("x*") == {"x": "abc", "x-000001": "g"}
    with pytest.raises(StreamError, match="x was rotated before the checkpoint; go on with --rotate"):
        AppendFile("x").rewind(mark)


@pytest.mark.parametrize("keeping", [[], ["--checkpoint", "kept", "--every", 500]])
def test_the_files_of_a_run_are_one_after_the_other_what_one_file_would_be(keeping, points, call):
    words = ["fit", points, *IDATS, "--block", 250]
    call(*words, "-m", "m", "-p", "p.csv", "-e", "e.jsonl")
    call(*words, "-m", "n", "-p", "r.csv", "-e", "r.jsonl", "--rotate", "2kB", *keeping)
    parts = list(series("r-*.csv").values())
    assert len(parts) > 3
    assert all(part.startswith("name,cluster\n") for part in parts)
    rows = "".join(part.removeprefix("name,cluster\n") for part in parts)
    assert "name,cluster\n" + rows == Path("p.csv").read_text()
    assert "".join(series("r-*.jsonl").values()) == Path("e.jsonl").read_text()
    assert len(series("r-*.jsonl")) > 1


def test_complete_files_do_not_change_when_a_run_resumes(points, call):
    words = ["fit", points, *IDATS, "--block", 250, "-m", "m", "-p", "p.csv", "-e", "e.jsonl"]
    words += ["--rotate", "5kB", "--checkpoint", "kept", "--every", 500]
    call(*words, "--limit", 1_500)
    before = {path: (path.stat().st_ino, path.read_bytes()) for path in sorted(Path().glob("p-*"))[:-1]}
    call(*words)
    assert before
    assert {path: (path.stat().st_ino, path.read_bytes()) for path in before} == before
    rows = [line for text in series("p-*").values() for line in text.splitlines()[1:]]
    assert [row.split(",")[0] for row in rows] == [f"r{k:05d}" for k in range(3_000)]


def test_update_and_predict_rotate_too(points, call):
    call("fit", points, "-m", "m", *IDATS, "-e", "e.jsonl")
    n_events = len(Path("e.jsonl").read_text().splitlines())
    call("update", points, "-m", "m", *IDATS[:4], "-e", "e.jsonl", "--rotate", "1MB")
    assert len(Path("e.jsonl").read_text().splitlines()) == n_events
    assert list(series("e-*")) == ["e-000001.jsonl"]
    head, *rows = points.read_text().splitlines()
    Path("many.csv").write_text("\n".join([head, *rows * 10]) + "\n")
    call("predict", "many.csv", "-m", "m", "--id", "name", "-o", "p.csv", "--rotate", "10kB")
    assert len(series("p-*")) == 4, "blocks of 8,192 rows are written as a whole"
    assert sum(len(text.splitlines()) - 1 for text in series("p-*").values()) == 30_000


def test_rotated_files_of_many_models(points, call):
    words = ["fit", points, "--id", "name", "--key", "kind", "-m", "set", "-p", "p.csv", "--rotate", "5kB"]
    call(*words, "--every", 500, "--block", 250, "--limit", 1_500)
    call(*words, "--every", 500, "--block", 250)
    rows = [line for text in series("p-*").values() for line in text.splitlines()[1:]]
    assert [row.split(",")[0] for row in rows] == [f"r{k:05d}" for k in range(3_000)]


def test_what_cannot_rotate(points, call, sentence):
    words = ["fit", points, "-m", "m", *IDATS, "--rotate"]
    assert "but there are none" in call(*words, "1d", code=2)
    assert "but there are none" in call(*words, "1d", "-p", "-", code=2)
    assert "Parquet is written at the end" in sentence(*words, "1d", "-p", "p.parquet")
    assert "--rotate is 'daily'" in sentence(*words, "daily", "-p", "p.csv")
    assert not Path("m").exists()
