"""A resumed run finds its columns by the names that its model has learnt, whatever their order is."""

import json

import numpy as np
import pytest

from everclust import EverClust, load
from everclust.stream.columns import Columns
from everclust.stream.sources.messages import table_of


def write(path, X, names):
    lines = [",".join(names), *(",".join(map(repr, map(float, row))) for row in X)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def two_files(folder, X):
    """The second file has its columns in another order."""
    write(folder / "x1.csv", X[:1500, :2] * [1.0, 100.0], ["a", "b"])
    write(folder / "x2.csv", (X[1500:, :2] * [1.0, 100.0])[:, ::-1], ["b", "a"])
    return X[:, :2] * [1.0, 100.0]


@pytest.mark.parametrize("command", [["fit", "x*.csv", "-m", "m"], ["watch", "x*.csv"]])
@pytest.mark.parametrize("stop", [1500, 2000])
def test_another_order_after_a_restart(command, stop, two_files, call, folder):
    arguments = [*command, "--checkpoint", "kept", "--every", 500]
    call(*arguments, "--limit", stop)
    call(*arguments)
    last = max((folder / "kept").glob("checkpoint-*"))
    model = load(last / "model.everclust")
    assert list(model.feature_names_in_) == ["a", "b"]
    assert np.array_equal(model.prototypes_, EverClust().partial_fit(two_files).prototypes_)


def test_an_added_column_does_not_stop_the_restart(folder, X, call):
    arguments = ["fit", "x*.jsonl", "-m", "m", "--checkpoint", "kept"]
    lines = [json.dumps({"a": row[0], "b": row[1]}) for row in X.tolist()]
    (folder / "x1.jsonl").write_text("\n".join(lines[:1500]) + "\n")
    call(*arguments)
    added = [json.dumps({"new": 5.0, "b": row[1], "a": row[0]}) for row in X.tolist()[1500:]]
    (folder / "x2.jsonl").write_text("\n".join(added) + "\n")
    call(*arguments)
    assert np.array_equal(load("m").prototypes_, EverClust().partial_fit(X[:, :2]).prototypes_)


def test_an_added_column_is_reported(folder, X):
    said, columns = [], Columns(expected=["a", "b"])
    columns.warn = said.append
    columns.choose(table_of([{"b": 1, "new": 2, "a": 3}], columns).schema)
    assert columns.features == ["a", "b"]
    assert said == ["The model has not learnt 'new', so it is left out."]


def test_a_later_file_without_one_of_the_columns(folder, X, call, sentence):
    write(folder / "x1.csv", X[:100, :2], ["a", "b"])
    write(folder / "x2.csv", X[100:200, :2], ["a", "c"])
    said = sentence("fit", "x*.csv", "-m", "m")
    assert said.startswith("x2.csv has no column 'b'; there are 'a', 'c';")


def test_a_resumed_model_without_names_stays_without(folder, X, call):
    np.save(folder / "x.npy", X)
    arguments = ["fit", "x.npy", "-m", "m", "--checkpoint", "kept"]
    call(*arguments, "--limit", 1500)
    call(*arguments)
    assert not hasattr(load("m"), "feature_names_in_")
    assert np.array_equal(load("m").prototypes_, EverClust().partial_fit(X).prototypes_)
