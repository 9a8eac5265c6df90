"""A followed file may be rotated, while it is read or not: every row comes once, in order."""

import gzip
import os
import shutil
import time

import pytest

from everclust.stream import StreamError, open_source
from everclust.stream.columns import Columns
from everclust.stream.sources import text as text_module

SECONDS = 20.0  # at most for the rows of one test


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(text_module, "PAUSE", 0.01)


@pytest.fixture
def log(folder):
    return folder / "log.csv"


def lines(start, stop, header="a,n\n"):
    return header + "".join(f"{k % 7},{k}\n" for k in range(start, stop))


def append(path, text):
    with path.open("a") as file:
        file.write(text)


class Follower:
    """Reads a followed file and keeps the rows, the last position and what was said."""

    def __init__(self, position=None):
        self.columns, self.said, self.rows, self.position = Columns(), [], [], position
        if position:
            self.columns.expected = ["a", "n"]
        self.columns.warn = self.said.append
        self.source = open_source("log.csv", self.columns, follow=True)
        self.batches = self.source.batches(position)

    def until(self, n_rows):
        deadline = time.monotonic() + SECONDS
        while len(self.rows) < n_rows and time.monotonic() < deadline:
            batch = next(self.batches)
            if batch.table.num_rows:
                self.rows += self.columns.take(batch.table).X[:, 1].astype(int).tolist()
                self.position = batch.position_after(batch.table.num_rows)
        return self.rows

    def close(self):
        self.batches.close()
        self.source.close()


def rename(log, header):
    os.rename(log, log.with_name("log.csv.1"))
    log.write_text(header)


def copy_and_truncate(log, header):
    shutil.copy(log, log.with_name("log.csv.1"))
    with log.open("r+") as file:
        file.truncate(0)
        file.write(header)


ROTATIONS = [rename, copy_and_truncate]


@pytest.mark.parametrize("rotate", ROTATIONS)
@pytest.mark.parametrize("header", ["a,n\n", ""])
@pytest.mark.parametrize("n_after", [50, 5_000])
def test_rotation_while_it_is_followed(rotate, header, n_after, log):
    """Also if the successor is larger, and if it has no header of its own."""
    log.write_text(lines(0, 1000))
    follower = Follower()
    follower.until(1000)
    append(log, lines(1000, 1010, ""))  # perhaps not read before the rotation
    rotate(log, header)
    append(log, lines(1010, 1010 + n_after, ""))
    assert follower.until(1010 + n_after) == list(range(1010 + n_after))
    assert any("log.csv was " in sentence for sentence in follower.said)
    position = follower.position
    follower.close()
    append(log, lines(1010 + n_after, 2000 + n_after, ""))
    again = Follower(position)
    assert again.until(990) == list(range(1010 + n_after, 2000 + n_after))
    again.close()


@pytest.mark.parametrize("rotate", ROTATIONS)
@pytest.mark.parametrize("n_after", [50, 5_000])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_rotation_while_nothing_reads(rotate, n_after, is_compressed, log):
    log.write_text(lines(0, 1000))
    follower = Follower()
    follower.until(1000)
    follower.close()
    append(log, lines(1000, 1300, ""))
    rotate(log, "a,n\n")
    old = log.with_name("log.csv.1")
    if is_compressed:
        old.with_name("log.csv.1.gz").write_bytes(gzip.compress(old.read_bytes()))
        old.unlink()
    append(log, lines(1300, 1300 + n_after, ""))
    again = Follower(follower.position)
    assert again.until(300 + n_after) == list(range(1000, 1300 + n_after))
    assert "the rest of" in again.said[0]
    again.close()


def test_two_rotations_while_nothing_reads(log):
    log.write_text(lines(0, 1000))
    follower = Follower()
    follower.until(1000)
    follower.close()
    append(log, lines(1000, 1100, ""))
    os.rename(log, log.with_name("log.csv.2"))
    time.sleep(0.02)
    log.with_name("log.csv.1").write_text(lines(1100, 1200))
    time.sleep(0.02)
    log.write_text(lines(1200, 1300))
    again = Follower(follower.position)
    assert again.until(300) == list(range(1000, 1300))
    again.close()


def test_a_rotated_file_that_is_gone_is_reported(log):
    log.write_text(lines(0, 1000))
    follower = Follower()
    follower.until(1000)
    follower.close()
    log.unlink()
    log.write_text(lines(5000, 9000))
    again = Follower(follower.position)
    assert again.until(4000) == list(range(5000, 9000))
    assert "rows that were not read yet are lost" in again.said[0]
    again.close()


def test_a_line_without_an_end_before_a_rotation(log):
    log.write_text(lines(0, 10) + "1,10")
    follower = Follower()
    assert follower.until(10) == list(range(10))
    rename(log, "a,n\n")
    append(log, lines(11, 20, ""))
    assert follower.until(20) == list(range(20))
    follower.close()


def test_without_follow_another_file_is_refused(log):
    log.write_text(lines(0, 1000))
    batches = [batch for batch in open_source("log.csv").batches() if batch.table.num_rows]
    position = batches[-1].position_after(500)
    log.write_text(lines(3000, 6000))
    with pytest.raises(StreamError, match=r"log\.csv does not begin as the file that was read before"):
        list(open_source("log.csv").batches(position))
