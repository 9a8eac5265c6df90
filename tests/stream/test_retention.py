"""Files that were learnt may be deleted, and files that were written may be rotated."""

import os
import time

import numpy as np
import pytest

from everclust import EverClust, load
from support.stream_fixtures import write_csv

COLUMNS = ["--id", "name", "--label", "kind"]


@pytest.fixture
def update(folder, X, call):
    """Learn a folder of logs with a checkpoint."""
    (folder / "logs").mkdir()
    for k in range(3):
        write_csv(folder / "logs" / f"{k}.csv", X[k * 500 :][:500])

    def run(*more, **options):
        words = ["fit", "logs/*.csv", "-m", "m", *COLUMNS, "--checkpoint", "kept", "--block", 100]
        return call(*words, *more, **options)

    return run


def test_the_oldest_files_may_be_deleted(update, folder, X):
    update()
    (folder / "logs" / "0.csv").unlink()
    write_csv(folder / "logs" / "3.csv", X[1500:])
    assert update().startswith("3,000 rows, 1,500 of them before")
    assert np.array_equal(load("m").prototypes_, EverClust().partial_fit(X).prototypes_)


def test_the_last_file_may_be_deleted(update, folder, X):
    update()
    for k in range(3):
        (folder / "logs" / f"{k}.csv").unlink()
    write_csv(folder / "logs" / "3.csv", X[1500:])
    update()
    assert np.array_equal(load("m").prototypes_, EverClust().partial_fit(X).prototypes_)


def test_a_file_that_was_never_learnt_is_not_passed_over(update, folder, X):
    """Although there are as many files before the last one as there were."""
    update()
    (folder / "logs" / "0.csv").unlink()
    write_csv(folder / "logs" / "0b.csv", X[:10])
    assert "the files before it have changed" in update(code=1)


def test_rotated_predictions_are_cut_back_and_begun_anew(update, folder, X):
    update("-p", "whole.csv", "--checkpoint", "other", "-m", "m2")
    update("-p", "p.csv", "--limit", 700)
    with (folder / "p.csv").open("a") as file:
        file.write("written after the checkpoint\n")
    os.rename("p.csv", "p.csv.1")
    update("-p", "p.csv")
    whole, old, new = ((folder / name).read_text().splitlines() for name in ("whole.csv", "p.csv.1", "p.csv"))
    assert old == whole[:701]
    assert new == [whole[0], *whole[701:]]


def test_what_killed_writers_left_behind_is_deleted(update, folder):
    """But not what another process may be writing just now, nor files of other names."""
    names = ["m.0123abcd.part", "m.89abcdef.part", "m.notes.part", "n.0123abcd.part"]
    for name in names:
        (folder / name).write_text("half")
        old = time.time() - (86_400 if name != "m.89abcdef.part" else 0)
        os.utime(folder / name, (old, old))
    update()
    assert sorted(path.name for path in folder.glob("*.part")) == sorted(names[1:])
