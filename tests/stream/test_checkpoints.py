"""Checkpoints: what is kept, what is fallen back on, and what is said when something is wrong."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from everclust import EverClust, load
from everclust.stream import checkpoint as checkpoint_module
from support.stream_fixtures import write_csv

resource = pytest.importorskip("resource", reason="Windows has no limits of files, and other signals")
COLUMNS = ["--id", "name", "--label", "kind"]


@pytest.fixture
def fit(points, call):
    """Learn with a checkpoint after every 500 rows, as far as asked."""

    def run(*more, **options):
        words = ["fit", points, "-m", "m", *COLUMNS, "--checkpoint", "kept", "--every", 500, "--block", 100]
        return call(*words, *more, **options)

    return run


def folders(folder):
    return sorted(path.name for path in (folder / "kept").glob("checkpoint-*"))


def test_the_last_three_are_kept(fit, folder):
    fit()
    kept = [load(folder / "kept" / name / "model.everclust").n_samples_seen_ for name in folders(folder)]
    assert kept == [2500, 3000, 3000], "one after every 500 rows, and one at the end"
    assert load("m").n_samples_seen_ == 3000


def test_a_run_goes_on_where_it_was(fit, folder, X, record, points):
    fit("--limit", 1700, "-p", "p.csv")
    assert len((folder / "p.csv").read_text().splitlines()) == 1701
    said = fit("-p", "p.csv")
    assert said.startswith("3,000 rows, 1,700 of them before; ")
    assert load("m").n_samples_seen_ == 3000
    assert (load("m").prototypes_ == EverClust().partial_fit(X).prototypes_).all()
    assert len((folder / "p.csv").read_text().splitlines()) == 3001
    assert "3,000 of them before" in fit("-p", "p.csv"), "there is nothing left to do"


def test_a_file_that_has_grown_is_learnt_from_where_it_was(fit, folder, X, points):
    write_csv(points, X[:2000])
    fit()
    write_csv(points, X)
    assert "2,000 of them before" in fit()
    assert (load("m").prototypes_ == EverClust().partial_fit(X).prototypes_).all()


@pytest.mark.parametrize("damage", ["model", "position", "checksum"])
def test_a_broken_checkpoint_is_passed_over(damage, fit, folder, call, points):
    fit("-p", "whole.csv", "--checkpoint", "whole", "-m", "whole.m")
    fit("--limit", 2000, "-p", "p.csv")
    newest = folder / "kept" / folders(folder)[-1]
    if damage == "model":
        (newest / "model.everclust").write_bytes((newest / "model.everclust").read_bytes()[:-100])
    elif damage == "position":
        (newest / "position.json").unlink()
    else:
        text = (newest / "position.json").read_text()
        (newest / "position.json").write_text(text.replace('\\"rows\\": 2000', '\\"rows\\": 1999'))
    from typer.testing import CliRunner

    from everclust.cli.app import app

    words = ["fit", points, "-m", "m", *COLUMNS, "--checkpoint", "kept", "--every", 500, "--block", 100]
    done = CliRunner().invoke(app, [*map(str, words), "-p", "p.csv"])
    assert done.exit_code == 0, done.output
    assert f"Checkpoint {newest.name} is broken" in done.stderr
    assert "so the one before it is used" in done.stderr
    assert [line.split(",")[0] for line in (folder / "p.csv").read_text().splitlines()] == [
        line.split(",")[0] for line in (folder / "whole.csv").read_text().splitlines()
    ]


def test_when_all_are_broken(fit, folder, sentence, points):
    fit("--limit", 2000)
    for name in folders(folder):
        (folder / "kept" / name / "position.json").write_text("{}")
    said = fit(code=1)
    assert "None of the 3 checkpoints in kept can be read" in said


def test_what_must_be_the_same(fit):
    fit("--limit", 1000)
    assert "made with parameters" in fit("--metric", "euclidean", code=1)
    assert "made with algorithm 'everclust', but it is 'idat' now" in fit("--algorithm", "idat", code=1)
    assert "made with exclude" in fit("--exclude", "a", code=1)


def test_the_columns_of_the_predictions_must_be_the_same(fit, folder):
    fit("--limit", 1000, "-p", "p.csv", "--novel")
    assert "made with novel True, but it is False now" in fit("-p", "p.csv", code=1)
    assert {line.count(",") for line in (folder / "p.csv").read_text().splitlines()} == {2}


def test_predictions_in_one_run_only(fit, points):
    fit("--limit", 1000)
    assert "made without --predictions, but there are some now; leave" in fit("-p", "p.csv", code=1)
    others = ("--checkpoint", "others")
    fit(*others, "--force", "--limit", 1000, "-p", "p.csv")
    assert "made with --predictions, but there are none now; give" in fit(*others, code=1)


def test_another_source(fit, folder, X, sentence):
    fit("--limit", 1000)
    write_csv(folder / "other.csv", X)
    said = sentence("fit", "other.csv", "-m", "m", *COLUMNS, "--checkpoint", "kept")
    assert "were made with source" in said


def test_a_source_shorter_than_the_checkpoint(fit, points, X):
    fit()
    write_csv(points, X[:1000])
    assert "shorter than the checkpoint" in fit(code=1)


def test_answers_shorter_than_the_checkpoint(fit, folder):
    fit("-p", "p.csv", "--limit", 1000)
    (folder / "p.csv").write_text("name,cluster\n")
    assert "p.csv is shorter than the" in fit("-p", "p.csv", code=1)


def test_a_model_that_has_gone_on_without_its_checkpoint(fit, points, call, sentence):
    fit()
    call("update", points, "-m", "m", *COLUMNS)
    said = sentence("update", points, "-m", "m", *COLUMNS, "--checkpoint", "kept")
    assert "something else was learnt in between" in said
    assert load("m").n_samples_seen_ == 6000


def test_two_runs_in_one_folder(fit, folder):
    held = checkpoint_module.Checkpoints(folder / "kept", lambda sentence: None)
    held.open()
    assert "Another run is writing its checkpoints to kept" in fit(code=1)
    held.close()
    fit()


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EROFS])
def test_a_checkpoint_that_cannot_be_written(reason, fit, folder, monkeypatch):
    fit("--limit", 1000)
    before = folders(folder)

    def fail(*places):
        raise OSError(reason, os.strerror(reason))

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_module.os, "rename", fail)
        said = fit(code=4)
    assert f"No checkpoint could be written to kept: {os.strerror(reason)}" in said
    assert "earlier checkpoints are intact" in said
    assert folders(folder) == before
    assert not list((folder / "kept").glob("*.part"))
    fit()
    assert load("m").n_samples_seen_ == 3000


def test_a_folder_that_cannot_be_made(fit, folder):
    (folder / "file").write_text("")
    assert "cannot hold checkpoints" in fit("--checkpoint", "file/kept", code=4)


@pytest.mark.slow
def test_a_disk_that_is_full(points, folder):
    """A limit on the size of files stands in for it: the kernel says no in the midst of a write."""
    words = [sys.executable, "-c", "from everclust.cli import main; main()", "fit", str(points), "-m", "m"]
    done = subprocess.run(
        [*words, *COLUMNS, "--checkpoint", "kept", "--every", "500"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000)),
        env=os.environ | {"NUMBA_CACHE_DIR": ""},
    )
    assert done.returncode == 4, done.stderr
    assert done.stderr.startswith("No checkpoint could be written to kept: File too large")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has /dev/full")
def test_answers_on_a_full_device(points, sentence):
    said = sentence("fit", points, "-m", "m", *COLUMNS, "-p", "/dev/full", code=4)
    assert "/dev/full cannot be written: No space left on device" in said


@pytest.mark.slow  # a process of its own
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_checkpoints_and_leaves(number, folder, X):
    """The source stays open and silent: the run waits for rows when the signal comes."""
    words = [sys.executable, "-c", "from everclust.cli import main; main()", "fit", "-", "-m", "m", *COLUMNS]
    process = subprocess.Popen(
        [*words, "--checkpoint", "kept", "--json"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(write_csv(folder / "x.csv", X[:1200]).read_bytes())
    process.stdin.flush()
    deadline = time.monotonic() + 120
    time.sleep(3)  # for the imports, before which the signal would end it at once
    while time.monotonic() < deadline and not (folder / "kept" / "lock").exists():
        time.sleep(0.1)
    time.sleep(2)
    process.send_signal(number)
    process.wait(60)  # standard input is still open
    out, err = process.communicate()
    assert process.returncode == 128 + number, err
    told = json.loads(out)
    assert (told["ended"], told["rows"]) == ("stopped", 1200)
    assert load("m").n_samples_seen_ == 1200
    assert len(folders(folder)) == 1


@pytest.mark.slow
def test_standard_input_skips_what_was_learnt(folder, X, points):
    words = [sys.executable, "-c", "from everclust.cli import main; main()", "fit", "-", "-m", "m", *COLUMNS]
    words += ["--checkpoint", "kept", "--json"]

    def feed(*more):
        done = subprocess.run(
            [*words, *more],
            cwd=folder,
            input=points.read_bytes(),
            capture_output=True,
            timeout=300,
            check=True,
        )
        return json.loads(done.stdout)

    assert feed("--limit", "1234")["rows"] == 1234
    told = feed()
    assert (told["rows"], told["resumed_at"], told["samples"]) == (3000, 1234, 3000)
    assert (load("m").prototypes_ == EverClust().partial_fit(X).prototypes_).all()
