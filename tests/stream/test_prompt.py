"""With a time as --every, answers come without a full block."""

import subprocess
import sys
import time

import pytest

from everclust import load
from everclust.stream import open_source
from everclust.stream.blocks import blocks
from everclust.stream.columns import Columns
from everclust.stream.prompt import PromptSource
from support.stream_fixtures import write_csv

COLUMNS = ["--id", "name", "--label", "kind"]


def lengths(path, seconds, n_blocks):
    columns, found = Columns(["a", "b"]), []
    source = PromptSource(open_source(str(path), columns, follow=True), seconds)
    for block in blocks(source, columns, None, 200, whole=True):
        found += [] if block is None else [block.n_rows]
        if len(found) == n_blocks:
            break
    source.close()
    return found


def test_rows_wait_no_longer_than_said(folder, X):
    path = write_csv(folder / "x.csv", X[:250])
    started = time.monotonic()
    assert lengths(path, 0.5, 2) == [200, 50]
    assert 0.5 <= time.monotonic() - started < 5


def is_answered(path, n_rows):
    return path.exists() and len(path.read_text().split()) > n_rows


def is_learnt(path, n_rows):
    return path.exists() and load(path).n_samples_seen_ == n_rows


@pytest.mark.slow  # a process of its own
def test_answers_come_before_a_block_is_full(folder, X):
    path = write_csv(folder / "x.csv", X[:120])
    words = ["fit", path, "-m", "m", *COLUMNS, "--follow", "-p", "p.csv", "--every", "1s"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from everclust.cli import main; main()", *map(str, words)], cwd=folder
    )
    try:
        for n_rows in (120, 200):
            if n_rows > 120:
                more = write_csv(folder / "more.csv", X[120:200]).read_text().split("\n", 1)[1]
                with open(path, "a") as file:
                    file.write(more)
            deadline = time.monotonic() + 60
            while not (is_answered(folder / "p.csv", n_rows) and is_learnt(folder / "m", n_rows)):
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
