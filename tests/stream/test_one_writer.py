"""One run at a time writes a model, and none replaces what another has learnt or written."""

import errno
import json
import os

import pytest

from everclust import load
from everclust.stream.batch import StreamError
from everclust.stream.locks import only_writer
from support.stream_fixtures import write_csv

COLUMNS = ["--id", "name", "--label", "kind"]


def test_a_second_run_on_the_same_model_is_refused(points, folder, call, sentence):
    call("fit", points, "-m", "m", *COLUMNS)
    os.symlink("m", folder / "link")
    with only_writer(folder / "m"):
        for name in ("m", "link"):
            said = sentence("update", points, "-m", name, *COLUMNS)
            assert f"Another run is learning {name}" in said
        assert "Another run" in sentence("fit", points, "-m", "m", "--force", *COLUMNS)
        assert "Another run" in sentence("watch", points, "-m", "m", "--exclude", "name,kind")
        assert call("predict", points, "-m", "m", *COLUMNS), "reading needs no lock"
    call("update", points, "-m", "m", *COLUMNS)
    assert load("m").n_samples_seen_ == 6000
    assert sorted(os.listdir(folder)) == ["link", "m", "points.csv"], "no lock stays"


def test_a_lock_left_by_a_killed_run_is_none(points, folder, call):
    (folder / ".m.lock").touch()
    call("fit", points, "-m", "m", *COLUMNS)


def test_a_lock_that_was_deleted_meanwhile_is_none(folder, monkeypatch):
    """Its run ended between our opening the file and our locking it."""
    monkeypatch.setattr("everclust.stream.locks.try_lock", lambda file: os.unlink(file.name) is None)
    with pytest.raises(StreamError, match="Another run"), only_writer(folder / "m"):
        pass


@pytest.mark.parametrize("command", ["fit", "update", "watch", "live"])
def test_a_model_in_a_folder_that_does_not_exist_is_refused_before_a_row_is_read(command, folder, sentence):
    said = sentence(command, "unread.csv", "-m", "nowhere/m", code=4)
    assert said == (
        "nowhere/m cannot be written, because the folder nowhere does not exist; make the folder, or check "
        "the path."
    )
    (folder / "nowhere").touch()
    assert "because the folder nowhere is a file" in sentence(
        command, "unread.csv", "-m", "nowhere/m", code=4
    )


@pytest.mark.parametrize("option", ["-p", "-e", "--rejects"])
def test_so_is_every_other_file(option, points, folder, sentence, monkeypatch):
    monkeypatch.setattr(
        "everclust.stream.sources.files.Files.batches", lambda *_: pytest.fail("rows are read")
    )
    said = sentence("fit", points, "-m", "m", *COLUMNS, option, "nowhere/x.csv", code=4)
    assert "nowhere/x.csv cannot be written, because the folder nowhere does not exist" in said
    assert sorted(os.listdir(folder)) == ["points.csv"]


def test_a_link_into_a_folder_that_does_not_exist(points, folder, sentence):
    os.symlink(folder / "nowhere" / "m", folder / "link")
    said = sentence("fit", points, "-m", "link", *COLUMNS, code=4)
    assert f"because the folder {folder / 'nowhere'} does not exist" in said


def test_more_room_is_no_advice_where_writing_is_forbidden():
    from everclust.stream.write_file import unwritable

    said = str(unwritable("m", PermissionError(errno.EACCES, "Permission denied")))
    assert (
        said
        == "m cannot be written: Permission denied; choose another place, or get the right to write there."
    )


def test_a_resumed_fit_does_not_replace_a_model_that_has_learnt_more(points, X, folder, call, sentence):
    words = ["fit", points, "-m", "m", *COLUMNS, "--checkpoint", "kept"]
    call(*words, "--limit", 1000)
    more = write_csv(folder / "more.csv", X)
    call("update", more, "-m", "m", *COLUMNS)
    assert "m is not the model of the checkpoints in kept" in sentence(*words)
    assert load("m").n_samples_seen_ == 4000
    call("fit", more, "-m", "m", *COLUMNS, "--limit", 500, "--force")
    assert "m is not the model of the checkpoints in kept" in sentence(*words), "nor another one"
    call(*words, "--force")
    assert load("m").n_samples_seen_ == 3000


def test_an_update_adds_its_events_to_those_in_the_file(points, X, folder, call):
    call("fit", points, "-m", "m", *COLUMNS, "-e", "e.jsonl", "--limit", 1500, "--algorithm", "idat")
    before = (folder / "e.jsonl").read_text()
    rest = write_csv(folder / "rest.csv", X[1500:])
    for _ in range(2):
        call("update", rest, "-m", "m", *COLUMNS, "-e", "e.jsonl")
    lines = (folder / "e.jsonl").read_text()
    assert lines.startswith(before)
    assert len(lines) > len(before) > 0
    samples = [json.loads(line)["sample"] for line in lines.splitlines()]
    assert samples == [event.sample for event in load("m").events()]


def test_events_of_a_run_that_was_killed_are_written_once(points, X, folder, call):
    """The model was not saved, so its events come again."""
    call("fit", points, "-m", "m", *COLUMNS, "-e", "e.jsonl", "--limit", 1500, "--algorithm", "idat")
    before = (folder / "e.jsonl").read_text()
    (folder / "e.jsonl").write_text(before + '{"sample": 1600, "kind": "born"}\n{"sam')
    from typer.testing import CliRunner

    from everclust.cli.app import app

    rest = write_csv(folder / "rest.csv", X[1500:])
    done = CliRunner().invoke(app, ["update", str(rest), "-m", "m", *COLUMNS, "-e", "e.jsonl"])
    assert done.exit_code == 0
    assert "e.jsonl held 2 events after sample 1,500" in done.stderr
    samples = [json.loads(line)["sample"] for line in (folder / "e.jsonl").read_text().splitlines()]
    assert samples == [event.sample for event in load("m").events()]


def test_events_are_not_added_to_a_file_of_something_else(points, folder, call, sentence):
    call("fit", points, "-m", "m", *COLUMNS)
    (folder / "notes.txt").write_text("precious\nlines\n")
    assert "Line 1 of notes.txt is no event" in sentence(
        "update", points, "-m", "m", *COLUMNS, "-e", "notes.txt"
    )
    assert (folder / "notes.txt").read_text() == "precious\nlines\n"
