"""Data sets: what the catalogue says, what is loaded, and what is refused."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from everclust.benchmark.data.datasets import (
    CATALOGUE,
    BadDataSet,
    DataSet,
    MissingDataSet,
    at_hand,
    checksum,
    load,
    others_at_hand,
    register,
    store,
)
from everclust.benchmark.report.paper.published import published
from support.paths import DATA_FOLDERS

X = np.array([[0.5, 1.0], [2.0, -3.0], [0.25, 7.0]])
Y = np.array([0, 1, 0])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def toy(monkeypatch):
    """A catalogue in which a data set of three samples is registered."""
    monkeypatch.setattr("everclust.benchmark.data.datasets.CATALOGUE", {})
    entry = DataSet("toy", "Toy", 3, 2, 2, sha256=checksum(X, Y))
    register(entry)
    return entry


def test_the_catalogue_has_the_papers_data_sets_in_its_order():
    assert list(CATALOGUE) == list(published()["nonstationary_ari_ami"])
    assert [name for name, entry in CATALOGUE.items() if entry.sha256 is None] == [
        "msra25",
        "mnist10k",
        "stl10",
    ]
    assert all(entry.name == name and entry.source and entry.licence for name, entry in CATALOGUE.items())


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.sha256])
def test_canonical_copies_are_what_the_catalogue_says(name, monkeypatch):
    found = [place for place in DATA_FOLDERS if (place / f"{name}.npz").exists()]
    if not found:
        pytest.skip(
            f"{name}.npz is not in {' or '.join(map(str, DATA_FOLDERS))}; set EVERCLUST_DATA to its folder"
        )
    monkeypatch.setenv("EVERCLUST_DATA", str(found[0]))
    samples, classes = load(name)
    assert samples.dtype == np.float64
    assert samples.flags.c_contiguous
    assert classes.dtype == np.int64
    assert name in at_hand()


def test_checksum_is_over_little_endian_bytes_in_c_order():
    expected = hashlib.sha256(b"".join([X.astype("<f8").tobytes(), Y.astype("<i8").tobytes()])).hexdigest()
    assert checksum(X, Y) == expected
    assert checksum(np.asfortranarray(X), Y.astype(np.int8)) == expected
    assert checksum(X.astype(">f8"), Y.astype(">i4")) == expected


def test_stored_data_sets_load(folder, toy):
    path = store("toy", X, Y)
    assert list(folder.iterdir()) == [path]
    samples, classes = load("toy")
    assert np.array_equal(samples, X)
    assert np.array_equal(classes, Y)
    assert at_hand() == ["toy"]


def test_any_file_loads_by_its_name(folder):
    np.savez(folder / "mine.npz", X=np.asfortranarray(X.astype(np.float32)), y=Y.astype(float))
    samples, classes = load("mine")
    assert samples.dtype == np.float64
    assert samples.flags.c_contiguous
    assert classes.dtype == np.int64
    assert at_hand() == []
    assert others_at_hand() == ["mine"]


def test_a_missing_file_is_one_sentence_that_says_what_to_put_where(folder):
    with pytest.raises(MissingDataSet) as missing:
        load("mnist10k")
    assert str(missing.value) == (
        "MNIST10K is not available: put mnist10k.npz (arrays X, 10000 × 4096, and y, 10 classes) into "
        f"{folder} or set EVERCLUST_DATA to its folder."
    )
    with pytest.raises(FileNotFoundError, match=r"run `everclust bench fetch seeds`, or put seeds\.npz"):
        load("seeds")


@pytest.mark.parametrize("name", ["nonsense", "", "../toy", "."])
def test_an_unknown_name_is_one_sentence(folder, name):
    with pytest.raises(MissingDataSet, match="There is no data set called"):
        load(name)


@pytest.mark.parametrize(
    ("samples", "classes", "complaint"),
    [
        (np.where(X == 7.0, np.nan, X), Y, "holds 1 cells that are NaN or infinite"),
        (X[:2], Y[:2], "should have 3 × 2 values and 2 classes, but has 2 × 2 and 2"),
        (X, Y * 0, "should have 3 × 2 values and 2 classes, but has 3 × 2 and 1"),
        (X + 1e-12, Y, "differs from the canonical copy"),
        (X, 1 - Y, "differs from the canonical copy"),
        (X[0], Y, r"shapes are \(2,\) and \(3,\)"),
        (X, Y[:2], r"shapes are \(3, 2\) and \(2,\)"),
        (X, Y + 0.5, "whole numbers in y"),
        (X.astype(str), Y, "numbers in X"),
    ],
)
def test_a_wrong_data_set_is_refused_in_one_sentence(folder, toy, samples, classes, complaint):
    np.savez(folder / "toy.npz", X=samples, y=classes)
    with pytest.raises(BadDataSet, match=complaint) as refused:
        load("toy")
    assert "\n" not in str(refused.value)
    with pytest.raises(BadDataSet, match=complaint):
        store("toy", samples, classes)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 cut off"])
def test_a_damaged_file_is_refused_in_one_sentence(folder, content):
    (folder / "seeds.npz").write_bytes(content)
    with pytest.raises(BadDataSet, match=r"seeds\.npz is damaged or not an \.npz file"):
        load("seeds")


def test_a_file_without_classes_is_refused(folder):
    np.savez(folder / "seeds.npz", X=X)
    with pytest.raises(BadDataSet, match="must hold the arrays X and y"):
        load("seeds")


def test_names_are_registered_once(toy):
    register(toy)
    with pytest.raises(ValueError, match="'toy' already"):
        register(replace(toy, n_samples=4))
    with pytest.raises(ValueError, match="must be a valid file name"):
        register(replace(toy, name="a/b"))


def test_without_a_checksum_only_the_shape_counts(folder, monkeypatch):
    monkeypatch.setattr("everclust.benchmark.data.datasets.CATALOGUE", {})
    register(DataSet("free", "Free", 3, 2, 2))
    store("free", X * 3, Y)
    assert load("free")[0][0, 0] == 1.5


def test_openml_numbers_are_numbers_of_one_data_set_each():
    numbers = [entry.openml for entry in CATALOGUE.values() if entry.openml is not None]
    assert len(set(numbers)) == len(numbers) >= 10
    assert (CATALOGUE["iris"].openml, CATALOGUE["letter"].openml, CATALOGUE["shuttle"].openml) == (
        61,
        6,
        40685,
    )
    assert CATALOGUE["shuttle"].recipe.files == (str(CATALOGUE["shuttle"].openml),)
    assert CATALOGUE["stl10"].openml is None
