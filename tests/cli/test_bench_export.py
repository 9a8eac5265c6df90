"""`bench export`, and batteries on the command line."""

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

pytest.importorskip("typer")
from typer.testing import CliRunner

from everclust.cli.app import app

IRIS = load_iris()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    battery = tmp_path / "data" / "flowers"
    battery.mkdir(parents=True)
    for name, rows in {"iris": slice(None), "half": slice(None, None, 2)}.items():
        np.savetxt(battery / f"{name}.data.gz", IRIS.data[rows])
        np.savetxt(battery / f"{name}.labels0.gz", IRIS.target[rows], fmt="%d")  # setosa becomes noise
    np.savetxt(battery / "iris.labels1.gz", IRIS.target + 1, fmt="%d")
    return tmp_path


def call(*arguments, code=0):
    result = CliRunner().invoke(app, ["bench", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


RUN = ("run", "--algorithms", "idat", "--settings", "stationary,prequential", "--seeds", 2, "--jobs", 1)


def test_a_battery_runs_and_is_exported(folder):
    assert "8 ok" in call(*RUN, "--datasets", "flowers")
    assert "nothing to do; 8 done before" in call(*RUN, "--datasets", folder / "data" / "flowers")
    said = call("export", "--folder", "out")
    assert "Written: out/cells.csv, out/runs.csv" in said
    runs = json.loads((folder / "out" / "runs.json").read_text())
    assert {run["dataset"] for run in runs} == {"flowers/iris", "flowers/half"}
    with np.load(folder / "out" / "labels.npz") as labels:
        assert {len(labels[run["run"]]) for run in runs} == {150, 75}
    with (folder / "out" / "cells.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 4
    call("report", "--html", "r.html", "--markdown", "r.md")
    report = (folder / "r.md").read_text()
    for words in ("Several labellings", "Further measures", "Labels at arrival", "flowers/iris, labels1"):
        assert words in report


def test_formats_can_be_chosen(folder):
    call(*RUN, "--datasets", "flowers/half")
    assert call("export", "--folder", "out", "--formats", "csv,latex").count("out/") == 3
    assert "no export format called 'xls'" in call("export", "--formats", "xls", code=1)


def test_batteries_are_listed(folder):
    said = " ".join(call("list").split())
    assert "flowers 2 data sets yes" in said


def test_a_bad_battery_is_one_sentence(folder):
    (folder / "data" / "flowers" / "iris.labels1.gz").write_bytes(b"nonsense")
    said = call(*RUN, "--datasets", "flowers", code=1).strip()
    assert "iris.labels1.gz cannot be read or is a damaged gzip file; replace it." in " ".join(said.split())


def test_no_store_is_one_sentence():
    assert "There is no store" in call("export", "--store", "none.sqlite", code=1)
