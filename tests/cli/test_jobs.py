"""`everclust fit --jobs`: files on several threads, in rounds; and what it refuses."""

import json
import re
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from everclust import EverClust, load
from everclust.model import parallel
from support.models import learnt
from support.stream_fixtures import NAMES, clouds, write_csv

COLUMNS = ["--id", "name", "--label", "kind"]
SIZES = {"BASE_ROWS": 200, "FEWEST_ROWS": 100, "MOST_ROWS": 300}


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch):
    """Rounds of 600 rows on two threads."""
    for name, value in SIZES.items():
        monkeypatch.setattr(parallel, name, value)


@pytest.mark.parametrize("jobs", [2, 3])
def test_fit_learns_what_partial_fit_learns(points, X, call, jobs):
    said = call("fit", points, "-m", "m", *COLUMNS, "--jobs", jobs)
    assert said.startswith("3,000 rows; ")
    assert learnt(load("m")) == learnt(EverClust(n_jobs=jobs).partial_fit(X))
    assert learnt(load("m")) != learnt(EverClust().partial_fit(X))
    assert list(load("m").feature_names_in_) == NAMES


def test_one_job_learns_in_order(points, X, call):
    call("fit", points, "-m", "m", *COLUMNS, "--jobs", 1)
    assert learnt(load("m")) == learnt(EverClust().partial_fit(X))


def test_all_cores(points, X, call):
    call("fit", points, "-m", "m", *COLUMNS, "--jobs", -1)
    assert learnt(load("m")) == learnt(EverClust(n_jobs=-1).partial_fit(X))


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_folder_of_parquet_files(folder, X, call, jobs):
    parts = folder / "day [1]" / "hour=7"
    parts.mkdir(parents=True)
    for k, part in enumerate(np.array_split(X, 4)):
        table = pa.table({name: part[:, j] for j, name in enumerate(NAMES)})
        parquet.write_table(table, parts.parent / f"part-{k}.parquet" if k < 3 else parts / "part-3.parquet")
    (folder / "day [1]" / "_SUCCESS").touch()
    call("fit", folder / "day [1]", "-m", "m", *(["--jobs", jobs] if jobs else []))
    order = np.argsort([0, 1, 2, -1], kind="stable")  # `hour=7` comes before `part-0`
    rows = np.concatenate([np.array_split(X, 4)[k] for k in order])
    assert learnt(load("m")) == learnt(EverClust(n_jobs=jobs).partial_fit(rows))


def test_a_folder_without_parquet_files(folder, sentence):
    (folder / "none").mkdir()
    (folder / "none" / "x.csv").write_text("a,b\n1,2\n")
    said = sentence("fit", "none", "-m", "m")
    assert said.startswith("none is a folder without Parquet files, ")
    assert said.endswith(" such as 'none/*.csv'.")


def test_update_goes_on_with_jobs(points, X, call):
    call("fit", points, "-m", "m", *COLUMNS, "--jobs", 2)
    call("update", points, "-m", "m", *COLUMNS, "--jobs", 2)
    assert learnt(load("m")) == learnt(EverClust(n_jobs=2).partial_fit(X).partial_fit(X))


def test_rows_with_missing_values_are_left_out(folder, points, X, call):
    lines = points.read_text().splitlines()
    for k in range(7, len(lines), 500):
        lines[k] = re.sub(r",[^,]*,", ",,", lines[k], count=1)
    points.write_text("\n".join(lines) + "\n")
    assert ", 6 skipped; " in call("fit", points, "-m", "m", *COLUMNS, "--jobs", 2)
    assert load("m").n_samples_seen_ == 2994


def test_a_run_resumes_at_a_round_as_if_never_interrupted(points, X, call, folder):
    words = ["fit", points, *COLUMNS, "--jobs", 2, "-e"]
    call(*words, "whole.jsonl", "-m", "whole")
    stopped = [*words, "stopped.jsonl", "-m", "stopped", "--checkpoint", "kept", "--every", 1]
    call(*stopped, "--limit", 1200)
    assert load("stopped").n_samples_seen_ == 1200
    assert call(*stopped).startswith("3,000 rows, 1,200 of them before; ")
    assert (folder / "whole").read_bytes() == (folder / "stopped").read_bytes()
    assert (folder / "whole.jsonl").read_bytes() == (folder / "stopped.jsonl").read_bytes()
    assert (folder / "whole.jsonl").read_text().count("\n") == len(load("whole").events())
    kept = sorted((folder / "kept").glob("checkpoint-*/model.everclust"))
    assert [load(path).n_samples_seen_ for path in kept] == [2400, 3000, 3000]


def test_a_run_resumes_with_as_many_jobs_only(points, call):
    words = ["fit", points, "-m", "m", *COLUMNS, "--checkpoint", "kept"]
    call(*words, "--jobs", 2, "--limit", 1200)
    assert "were made with jobs 2, but it is None now" in call(*words, code=1)
    assert "were made with jobs 2, but it is 3 now" in call(*words, "--jobs", 3, code=1)
    call(*words, "--jobs", 2)
    assert load("m").n_samples_seen_ == 3000


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--algorithm", "idat"], "--jobs does not go with --algorithm idat"),
        (["--follow"], "but this source has no end"),
        (["-p", "p.csv"], "--predictions are made block by block, in order"),
    ],
)
def test_what_does_not_go_with_jobs(points, call, folder, more, words):
    said = " ".join(call("fit", points, "-m", "m", *COLUMNS, "--jobs", 2, *more, code=2).split())
    assert words in re.sub(r" [│|] ", " ", said)
    assert not (folder / "m").exists()


def test_zero_jobs(points, sentence):
    assert "n_jobs is 0, but it must be" in sentence("fit", points, "-m", "m", *COLUMNS, "--jobs", 0)


def test_progress_is_shown_after_every_round(points, monkeypatch, call):
    from everclust.cli import progress

    seen = []
    monkeypatch.setattr(progress.ProgressLine, "__call__", lambda self, job, block: seen.append(job.rows))
    monkeypatch.setattr("rich.console.Console.is_terminal", property(lambda self: True))
    call("fit", points, "-m", "m", *COLUMNS, "--jobs", 2)
    assert seen == [600, 1200, 1800, 2400, 3000]


SMALL = "; ".join(f"parallel.{name} = {value}" for name, value in SIZES.items())
MAIN = f"from everclust.model import parallel; {SMALL}; from everclust.cli import main; main()"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_checkpoints_after_the_round(folder, number):
    """The whole is learnt afterwards, as if there had been no signal."""
    path = write_csv(folder / "x.csv", clouds(15_000)[0])
    words = [sys.executable, "-c", MAIN, "fit", path, *COLUMNS, "--jobs", "2", "--json", "-m"]
    subprocess.run([*words, "whole"], cwd=folder, check=True, capture_output=True)
    words += ["stopped", "--checkpoint", "kept", "--every", "1"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list((folder / "kept").glob("checkpoint-*")):
        assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    told = json.loads(out)
    assert told["ended"] == "stopped"
    assert 0 < told["rows"] < 15_000
    assert told["rows"] % 600 == 0
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    assert (folder / "whole").read_bytes() == (folder / "stopped").read_bytes()
