"""Files that are read are never written, and files of earlier runs stay until the source can be read."""

from pathlib import Path

import numpy as np
import pytest

from everclust import IDAT, load

IDATS = ["--id", "name", "--label", "kind", "--algorithm", "idat"]
NAMED = ["--id", "name", "--label", "kind"]


@pytest.fixture
def model(points, call):
    call("fit", points, "-m", "m", *IDATS)
    return "m"


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["fit", "points.csv", "-m", "points.csv", "--force", *IDATS], "points.csv"),
        (["fit", "poi*.csv", "-m", "new", "-p", "./points.csv", *IDATS], "points.csv"),
        (["fit", "points.csv", "-m", "new", "-e", "points.csv", *IDATS], "points.csv"),
        (["fit", "points.csv", "-m", "new", "--rejects", "points.csv", *IDATS], "points.csv"),
        (["predict", "points.csv", "-m", "m", "-o", "points.csv", *NAMED], "points.csv"),
        (["predict", "points.csv", "-m", "m", "-o", "m", *NAMED], "m"),
        (["watch", "points.csv", "--alert-on", "born", "--alert-to", "points.csv", *NAMED[2:]], "points.csv"),
    ],
)
def test_what_is_read_is_not_written(model, sentence, words, file):
    before = Path(file).read_bytes()
    assert f"{file} would be written, but it is read in the same run" in sentence(*words)
    assert Path(file).read_bytes() == before
    assert not Path("new").exists()


def test_two_results_do_not_share_a_file(points, sentence):
    words = ["fit", points, "-m", "m", *IDATS, "-p", "r.jsonl", "-e", "r.jsonl"]
    assert "r.jsonl would be written, but it is written in the same run" in sentence(*words)


@pytest.mark.parametrize("command", ["fit", "update", "live"])
def test_standard_output_takes_one_of_them(command, model, call):
    words = [command, "points.csv", "-m", "new" if command == "fit" else "m", "-p", "-", "-e", "-"]
    assert "both be written to standard output" in call(*words, code=2)
    assert not Path("new").exists()


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="Windows calls it NUL")
def test_devices_may_take_several_results(points, call):
    call("fit", points, "-m", "m", *IDATS, "-p", "/dev/null", "-e", "/dev/null")


def test_a_source_that_is_refused_leaves_old_results_alone(model, folder, sentence):
    (folder / "bad.csv").write_text("a,b\n1,2\n")
    for name in ("old.csv", "old.jsonl"):
        (folder / name).write_text("kept\n")
    assert "The model has learnt the column 'c'" in sentence("predict", "bad.csv", "-m", "m", "-o", "old.csv")
    (folder / "text.csv").write_text("a,b\n1,x\n")
    words = ["-p", "old.csv", "-e", "old.jsonl", "--rejects", "r.jsonl"]
    assert "Column 'b' holds string" in sentence("fit", "text.csv", "-m", "new", *words)
    sentence("predict", "bad.csv", "-m", "m", "-o", "new.csv")
    assert (folder / "old.csv").read_text() == (folder / "old.jsonl").read_text() == "kept\n"
    assert not (folder / "new.csv").exists()
    assert not (folder / "r.jsonl").exists()


def test_an_empty_source_still_gets_a_header(model, folder, call):
    (folder / "none.csv").write_text("a,b,c,d\n")
    call("predict", "none.csv", "-m", "m", "-o", "none.out.csv")
    assert (folder / "none.out.csv").read_text() == "row,cluster\n"


def test_what_came_before_a_damaged_file_is_kept(points, X, folder, sentence, call):
    import gzip

    head, *rows = points.read_text().splitlines(keepends=True)
    (folder / "1.csv").write_text(head + "".join(rows[:1000]))
    whole = gzip.compress((head + "".join(rows[1000:])).encode())
    (folder / "2.csv.gz").write_bytes(whole[: len(whole) // 2])
    words = ["fit", "[12].csv*", "-m", "m", *IDATS, "--checkpoint", "saved", "-p", "p.csv"]
    said = sentence(*words)
    assert said.startswith("2.csv.gz cannot be read: ")
    n_seen = load("m").n_samples_seen_
    learnt = f"{n_seen:,} rows before it were learnt and are saved in m."
    assert said.endswith(f"; repair the file, or leave it out; {learnt}")
    assert n_seen >= 1000
    assert len((folder / "p.csv").read_text().splitlines()) == 1 + n_seen
    (folder / "2.csv.gz").write_bytes(whole)
    call(*words)
    assert np.array_equal(load("m").prototypes_, IDAT().partial_fit(X).prototypes_)
    assert len((folder / "p.csv").read_text().splitlines()) == 3001
