"""Batteries: folders in the format of the clustering benchmarks."""

import gzip

import numpy as np
import pytest

from everclust.benchmark.data import datasets
from everclust.benchmark.data.datasets import BadDataSet, MissingDataSet
from everclust.benchmark.data.entry import NOISE
from everclust.benchmark.run.plan import datasets_named
from everclust.benchmark.run.registry import number_of_classes
from everclust.benchmark.run.settings import class_incremental

ROWS = "# x y\n1 2.5\n3e0 -4\n\n5 6\n7 8\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def write(battery, **files):
    """Write files such as x__data for x.data.gz; bytes as they are, text compressed."""
    battery.mkdir(exist_ok=True)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else gzip.compress(content.encode())
        (battery / f"{name.replace('__', '.')}.gz").write_bytes(data)
    return battery


@pytest.fixture
def wut(folder):
    return write(
        folder / "wut",
        x__data=ROWS,
        x__labels0="1\n1\n2\n0\n",
        x__labels1="1\n2\n2\n1\n",
        a__data="1\n2\n",
        a__labels0="1\n2\n",
    )


def test_a_set_of_a_battery_loads_with_all_labellings(wut):
    X, y = datasets.load("wut/x")
    assert X.dtype == np.float64
    assert X.tolist() == [[1, 2.5], [3, -4], [5, 6], [7, 8]]
    assert y.tolist() == [1, 1, 2, NOISE]
    again, labellings = datasets.load_with_labellings("wut/x")
    assert np.array_equal(again, X)
    assert [labels.tolist() for labels in labellings] == [[1, 1, 2, NOISE], [1, 2, 2, 1]]
    assert datasets.load("wut/a")[0].shape == (2, 1)


def test_uncompressed_files_load_too(folder):
    battery = folder / "plain"
    battery.mkdir()
    (battery / "x.data").write_text(ROWS)
    (battery / "x.labels0").write_text("1\n1\n2\n2\n")
    assert datasets.load("plain/x")[1].tolist() == [1, 1, 2, 2]


def test_a_battery_runs_by_the_name_of_its_folder_or_by_its_path(wut, folder, tmp_path):
    assert datasets_named(["wut"]) == ["wut/a", "wut/x"]
    assert datasets_named([str(wut)]) == ["wut/a", "wut/x"]
    assert datasets_named(["wut/x", "wut"]) == ["wut/x", "wut/a"]
    elsewhere = wut.rename(tmp_path / "fcps")
    names = [f"{elsewhere.as_posix()}/a", f"{elsewhere.as_posix()}/x"]
    assert datasets_named(["fcps"]) == names == datasets_named([str(elsewhere)])
    assert datasets.load(names[1])[0].shape == (4, 2)
    (folder / "linked").symlink_to(elsewhere)
    assert datasets_named(["linked"]) == ["linked/a", "linked/x"]
    assert datasets_named(["data/linked"]) == ["linked/a", "linked/x"]
    assert datasets.load("linked/x")[0].shape == (4, 2)


def test_batteries_in_the_data_folder_are_listed(wut, folder):
    (folder / "empty").mkdir()
    np.savez(folder / "own.npz", X=np.zeros((2, 1)), y=[0, 1])
    assert datasets.batteries_at_hand() == ["wut"]
    assert datasets.is_at_hand("wut/x")
    assert datasets.is_at_hand("own")
    assert not datasets.is_at_hand("wut/z")
    assert not datasets.is_at_hand("wut")


@pytest.mark.parametrize("name", ["wut/z", "nowhere/x", "nowhere", ""])
def test_what_is_not_there_is_missing(wut, name):
    with pytest.raises(MissingDataSet, match=r"There is no data set called .*\.$"):
        datasets_named([name])


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"x__data": ROWS}, r"has no file x\.labels0\.gz"),
        (
            {"x__data": ROWS, "x__labels0": "1\n2\n"},
            "one label for each of the 4 samples, but its shape is 2",
        ),
        ({"x__data": ROWS, "x__labels0": "1 1\n2 2\n"}, "but its shape is 2 × 2"),
        ({"x__data": ROWS, "x__labels0": "1\n1.5\n2\n2\n"}, "whole numbers: 0 for noise"),
        ({"x__data": ROWS, "x__labels0": "1\n-1\n2\n2\n"}, "whole numbers: 0 for noise"),
        ({"x__data": ROWS, "x__labels0": "1\nnan\n2\n2\n"}, "whole numbers: 0 for noise"),
        ({"x__data": ROWS, "x__labels0": "0\n0\n0\n0\n"}, "marks all samples as noise"),
        ({"x__data": "1 2\n3 nan\n"}, "holds 1 cells that are NaN or infinite"),
        ({"x__data": "1 2\n3\n"}, "not a table of numbers separated by spaces"),
        ({"x__data": "1 2\na b\n"}, "not a table of numbers separated by spaces"),
        ({"x__data": "# nothing\n"}, "is empty"),
        ({"x__data": b"no gzip at all"}, "damaged gzip file"),
        ({"x__data": gzip.compress(ROWS.encode())[:-9]}, "damaged gzip file"),
        ({"x__data": gzip.compress(b"\xff\xfe\x00")}, "not a table of numbers"),
    ],
)
def test_bad_files_get_one_sentence(folder, files, words):
    write(folder / "bad", **files)
    with pytest.raises(BadDataSet, match=words) as caught:
        datasets_named(["bad"])
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    assert "bad" in said


def test_noise_is_no_class(wut):
    X, y = datasets.load("wut/x")
    assert number_of_classes("k", X, y) == {"k": 2}


def test_noise_arrives_with_the_classes():
    y = np.r_[np.repeat([1, 2, 3], 30), np.full(30, NOISE)]
    steps = class_incremental(y[:, None], y, seed=1)
    assert sorted(np.concatenate(steps).tolist()) == list(range(120))
    for step in steps:
        assert len(np.unique(y[step][y[step] != NOISE])) == 1
        assert 0 < np.sum(y[step] == NOISE) < 30
    again = class_incremental(y[:, None], y, seed=2)
    assert {frozenset(step) for step in steps} == {frozenset(step) for step in again}
