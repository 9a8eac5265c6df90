"""Numbers of things are said as people say them."""

import numpy as np
import pytest

from everclust import History
from everclust.model.events import Event
from everclust.text import counted


def test_one_is_not_many():
    assert [counted(n, "row") for n in (0, 1, 2, 3000)] == ["0 rows", "1 row", "2 rows", "3,000 rows"]
    assert counted(2, "matrix", "matrices") == "2 matrices"


@pytest.mark.parametrize(("n_rows", "said"), [(1, "1 row; 1 cluster from 1 node; "), (2, "2 rows; ")])
def test_what_came_of_a_run(n_rows, said, folder, call):
    (folder / "x.csv").write_text("a,b\n1,2\n3,5\n")
    assert call("fit", "x.csv", "-m", "m", "--limit", n_rows).startswith(said)


def test_columns(folder, call, sentence):
    np.save(folder / "two.npy", np.eye(2))
    np.save(folder / "one.npy", np.eye(2)[:, :1])
    call("fit", "two.npy", "-m", "two")
    assert "has learnt 2 columns, but 1 comes ('x0')" in sentence("update", "one.npy", "-m", "two")
    call("fit", "one.npy", "-m", "one")
    assert "has learnt 1 column, but 2 come ('x0', 'x1')" in sentence("update", "two.npy", "-m", "one")
    np.save(folder / "flat.npy", np.ones(3))
    assert "an array of 1 dimension," in sentence("fit", "flat.npy", "-m", "flat")


@pytest.mark.parametrize(
    ("kind", "before", "after", "sizes", "said"),
    [
        ("born", [], [3], [1], "3 is born (1 sample)"),
        ("gone", [3], [], [1200], "3 is gone (1,200 samples)"),
        ("merged", [1, 2], [1], [40], "1 and 2 merged into 1 (40 samples)"),
        ("split", [1], [1, 4], [1500, 1], "1 split into 1 and 4 (1,500 and 1 samples)"),
        ("split", [5], [5, 101, 102], [4, 2, 1], "5 split into 5, 101 and 102 (4, 2 and 1 samples)"),
    ],
)
def test_events(kind, before, after, sizes, said):
    event = Event(7, kind, tuple(before), tuple(after), tuple(sizes), (0.5,))
    assert str(event) == f"sample 7: {said}"
    assert (event.text, event.to_dict()["text"]) == (said, said)


def test_events_of_many_clusters_name_the_first_few():
    event = Event(1000, "merged", tuple(range(8)), (0,), (9, *[1] * 7), (0.5,))
    merged = "0, 1, 2, 3, 4 and 3 more merged into 0 (9, 1, 1, 1, 1 and 3 more samples)"
    assert str(event) == f"sample 1,000: {merged}"


def test_the_only_checkpoint_is_broken(folder, call, sentence):
    (folder / "x.csv").write_text("a,b\n1,2\n3,5\n")
    words = ["fit", "x.csv", "-m", "m", "--checkpoint", "kept"]
    call(*words)
    (folder / "kept" / "checkpoint-000000001" / "position.json").write_text("{}")
    warning, said = call(*words, code=1).splitlines()
    assert warning.endswith("and there is none before it.")
    assert said == "The only checkpoint in kept cannot be read; to begin anew, choose another folder."


def test_histories():
    assert repr(History(every=1)) == "<History: 0 records, one every sample>"
