"""A disk that is full: one sentence, a code of its own, and nothing is lost.

A limit on the size of files stands in for it: the kernel says no in the midst of a write.
"""

import errno
import os
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest

from everclust.stream import write_file as writing
from support.stream_fixtures import NAMES

resource = pytest.importorskip("resource", reason="Windows has no limits of files")
COLUMNS = ["--id", "name"]


@contextmanager
def room_for(n_bytes):
    """In each file, while it lasts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def wordy(folder, X):
    """Rows with long names, so that answers need more room than models."""
    lines = [",".join(["name", *NAMES])]
    lines += [",".join([f"r{i:05d}".ljust(100, "x"), *map(repr, map(float, row))]) for i, row in enumerate(X)]
    (folder / "wordy.csv").write_text("\n".join(lines) + "\n")
    return "wordy.csv"


@pytest.mark.parametrize("answers", ["p.csv", "p.jsonl", "p.parquet"])
def test_answers_go_on_where_they_were(answers, wordy, folder, call, sentence):
    words = ["fit", wordy, *COLUMNS, "--every", 500, "--block", 100]
    whole, filled = [
        [*words, "-m", f"{name}.m", "--checkpoint", name, "-p", f"{name}.{answers}", "-e", f"{name}.e"]
        for name in ("whole", "filled")
    ]
    call(*whole)
    with room_for(150_000):
        said = sentence(*filled, code=4)
    place = f"filled.{answers}" + (".part" if answers == "p.parquet" else "")
    assert said.startswith(f"{place} cannot be written: File too large; make room")
    assert list((folder / "filled").glob("checkpoint-*")), "it was not at the beginning"
    assert " of them before; " in call(*filled)
    for name in ("m", answers, "e"):
        assert (folder / f"filled.{name}").read_bytes() == (folder / f"whole.{name}").read_bytes()


def test_a_checkpoint_that_has_no_room_leaves_those_before_it(points, folder, call, sentence):
    words = ["fit", points, *COLUMNS, "--label", "kind", "--every", 500]
    whole, filled = ([*words, "-m", f"{name}.m", "--checkpoint", name] for name in ("whole", "filled"))
    call(*whole)
    with room_for(15_000):
        said = sentence(*filled, code=4)
    reason = "No checkpoint could be written to filled: File too large"
    assert said.startswith(f"{reason}; earlier checkpoints are intact")
    assert [path.name for path in (folder / "filled").iterdir() if path.suffix == ".part"] == []
    assert " of them before; " in call(*filled)
    assert (folder / "filled.m").read_bytes() == (folder / "whole.m").read_bytes()
    with room_for(1_000):
        said = sentence(*words, "-m", "other.m", "--checkpoint", "other", code=4)
    assert said == "No checkpoint could be written to other: File too large; make room and start again."


def test_a_model_that_has_no_room_leaves_the_one_before_it(points, folder, call, sentence):
    words = [points, *COLUMNS, "--label", "kind", "-m", "m"]
    call("fit", *words, "--limit", 500)
    before = (folder / "m").read_bytes()
    with room_for(len(before)):
        said = sentence("update", *words, code=4)
    assert said.startswith("m cannot be written: File too large, so nothing was written")
    assert (folder / "m").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["m", "points.csv"]


def test_a_model_is_written_later_if_there_was_only_room_for_its_checkpoint(points, call, monkeypatch):
    words = ["fit", points, *COLUMNS, "--label", "kind", "-m", "m", "--checkpoint", "kept"]
    with monkeypatch.context() as patch:
        patch.setattr(writing, "write_atomically", _fail)
        assert "m cannot be written: No space left on device" in call(*words, code=4)
    assert "3,000 rows, 3,000 of them before; " in call(*words)
    assert re.search(r"samples +3,000", call("info", "m"))


def _fail(path, parts):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_events(points, sentence):
    words = ["fit", points, *COLUMNS, "--label", "kind", "-m", "m", "-e", "e.jsonl", "--algorithm", "idat"]
    with room_for(2_000):
        said = sentence(*words, code=4)
    assert said == "e.jsonl cannot be written: File too large; make room, or choose another place."


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("report", "r.csv"),
        ("report", "r.json"),
        ("plot", "r.png"),
        ("export", "r.json"),
        ("export", "r.graphml"),
    ],
)
def test_what_is_written_about_a_model(command, out, points, folder, call, sentence):
    for package in ("pandas", "matplotlib", "networkx"):
        pytest.importorskip(package)
    call("fit", points, *COLUMNS, "--label", "kind", "-m", "m")
    (folder / out).write_text("precious")
    with room_for(100):
        said = sentence(command, "m", "-o", out, code=4)
    assert said.startswith(f"{out} cannot be written: File too large, so nothing was written")
    assert (folder / out).read_text() == "precious"


@pytest.mark.slow  # a process of its own
@pytest.mark.parametrize("command", ["fit", "predict", "watch"])
def test_standard_output(command, points, folder, call):
    words = [] if command == "watch" else ["-m", "m"]
    if command == "predict":
        call("fit", points, "--exclude", "name,kind", *words)
    words = [command, str(points), "--exclude", "name,kind", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from everclust.cli import main; main()", *words],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 4
    assert "tandard output cannot be written: No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert command != "fit" or (folder / "m").exists(), "what was learnt is kept"


def test_rows_for_parquet_are_kept_until_it_is_written(points, folder, call, monkeypatch):
    words = ["fit", points, "-m", "m", *COLUMNS, "--label", "kind", "--checkpoint", "kept"]
    call("fit", points, "-m", "whole.m", *COLUMNS, "--label", "kind", "-p", "whole.parquet")
    write = writing.write_atomically

    def fail(path, parts):
        if path.suffix == ".parquet":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, parts)

    with monkeypatch.context() as patch:
        patch.setattr(writing, "write_atomically", fail)
        said = call(*words, "-p", "p.parquet", code=4)
    assert "p.parquet cannot be written: No space left on device; its rows are kept in p.parquet.part" in said
    assert "3,000 of them before" in call(*words, "-p", "p.parquet")
    assert (folder / "p.parquet").read_bytes() == (folder / "whole.parquet").read_bytes()
    assert not (folder / "p.parquet.part").exists()
