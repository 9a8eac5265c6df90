"""kill -9 at any moment, and start again: the model and the answers are those of a run never interrupted."""

import pytest

from support.kills import killed
from support.stream_fixtures import clouds, write_csv

pytestmark = pytest.mark.slow


def command(*more):
    return ["fit", *more, "--id", "name", "--label", "kind", "--checkpoint", "RUN", "-m", "RUN.m.everclust"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Enough rows for many checkpoints; every now and then a value is missing."""
    folder = tmp_path_factory.mktemp("kills")
    path = write_csv(folder / "points.csv", clouds(12_000)[0])
    lines = path.read_text().splitlines()
    for k in range(7, len(lines), 500):
        cells = lines[k].split(",")
        lines[k] = ",".join([*cells[:2], "", *cells[3:]])
    path.write_text("\n".join(lines) + "\n")
    for k in range(3):
        (folder / f"part{k}.csv").write_text("\n".join([lines[0], *lines[1 + k * 4000 :][:4000]]) + "\n")
    return folder


def test_a_file(data, tmp_path):
    told = killed(
        tmp_path,
        command(
            str(data / "points.csv"),
            "-p",
            "RUN.p.csv",
            "-e",
            "RUN.e.jsonl",
            "--alert-on",
            "born,merged,novel>0.01,skipped>0.001",
            "--alert-to",
            "RUN.a.jsonl",
            "--every",
            "1000",
            "--block",
            "250",
        ),
        ["RUN.m.everclust", "RUN.p.csv", "RUN.e.jsonl", "RUN.a.jsonl"],
        kills=10,
    )
    assert sum(told["kills"].values()) >= 10
    assert len(told["kills"]) >= 2, "also between write and rename"


def test_standard_input(data, tmp_path):
    told = killed(
        tmp_path,
        command("-", "-p", "RUN.p.jsonl", "--every", "1000", "--block", "250"),
        ["RUN.m.everclust", "RUN.p.jsonl"],
        kills=4,
        stdin=str(data / "points.csv"),
        seed=1,
    )
    assert sum(told["kills"].values()) >= 4


def test_several_files_and_parquet_by_the_clock(data, tmp_path):
    told = killed(
        tmp_path,
        command(str(data / "part*.csv"), "-p", "RUN.p.parquet", "--every", "0.02s", "--block", "300"),
        ["RUN.m.everclust", "RUN.p.parquet"],
        kills=4,
        seed=2,
    )
    assert sum(told["kills"].values()) >= 4


def test_a_file_on_two_threads(data, tmp_path):
    """What a checkpoint holds is a whole round of both threads."""
    told = killed(
        tmp_path,
        command(str(data / "points.csv"), "--jobs", "2", "-e", "RUN.e.jsonl", "--every", "1"),
        ["RUN.m.everclust", "RUN.e.jsonl"],
        kills=6,
        seed=3,
        sizes={"BASE_ROWS": 200, "FEWEST_ROWS": 100, "MOST_ROWS": 300},
    )
    assert sum(told["kills"].values()) >= 6


def test_one_model_for_each_key(data, tmp_path):
    """Models that leave the memory are written before they count, and all count at the same moment."""
    words = ["fit", str(data / "points.csv"), "--id", "name", "--key", "kind", "--keys-in-memory", "2"]
    results = ["RUN.set", "RUN.p.csv", "RUN.e.jsonl"]
    told = killed(
        tmp_path,
        [*words, "-m", "RUN.set", "-p", "RUN.p.csv", "-e", "RUN.e.jsonl", "--every", "500", "--block", "250"],
        results,
        kills=20,
        seed=4,
    )
    assert sum(told["kills"].values()) >= 20


def test_rotated_files(data, tmp_path):
    """Files that are complete never change, and none is missing or there twice."""
    words = [str(data / "points.csv"), "-p", "RUN.p.csv", "-e", "RUN.e.jsonl", "--algorithm", "idat"]
    told = killed(
        tmp_path,
        command(*words, "--every", "500", "--block", "250", "--rotate", "20kB"),
        ["RUN.m.everclust", "RUN.p-*.csv", "RUN.e-*.jsonl"],
        kills=15,
        seed=5,
    )
    assert sum(told["kills"].values()) >= 15
    assert len(list(tmp_path.glob("whole.p-*.csv"))) > 3
