"""Starts runs of the command line, kills them, and starts them again until they finish.

This process imports and compiles everything, then forks one run after the other, so that a run starts within
milliseconds and is killed while it learns, predicts and writes, not while it imports. The request of the test
is JSON on the command line, the result JSON on standard output.
"""

import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from everclust import EverClust
from everclust.cli import dominance, keyed, setup
from everclust.cli.app import app
from everclust.model import parallel
from everclust.stream import run as run_module

IMPORTED = (dominance, keyed, setup)  # what `fit` would import after the fork

RENAMES = (
    "before the rename of a checkpoint",
    "after the rename of a checkpoint",
    "before a file is replaced",
)


def child(arguments: list[str], stdin: str | None, ready: int, deadly: str | None, at: int) -> None:
    """Run the command; write a dot after each learnt block; kill itself at a certain rename."""
    if stdin is not None:
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
    process_block = run_module._process_block

    def process_and_report(job, block):
        process_block(job, block)
        os.write(ready, b".")

    run_module._process_block = process_and_report
    if deadly is not None:
        die_at_rename(deadly, at)
    app([str(argument) for argument in arguments])


def die_at_rename(deadly: str, at: int) -> None:
    name = "replace" if deadly == RENAMES[2] else "rename"
    original, calls = getattr(os, name), [0]

    def deadly_rename(*places):
        calls[0] += 1
        if calls[0] == at and deadly != RENAMES[1]:
            os.kill(os.getpid(), signal.SIGKILL)
        original(*places)
        if calls[0] == at:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(os, name, deadly_rename)


def attempt(arguments, stdin, longest, deadly=None, at=1):
    """(exit code or minus signal, seconds from the first learnt rows to the end)."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            child(arguments, stdin, writing, deadly, at)
        except SystemExit as leaving:
            os._exit(leaving.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(99)
    os.close(writing)
    learnt = os.read(reading, 1)
    started = time.monotonic()
    if learnt and longest is not None and deadly is None:
        time.sleep(random.uniform(0.0, longest))
        os.kill(process, signal.SIGKILL)
    status = os.waitpid(process, 0)[1]
    os.close(reading)
    return os.waitstatus_to_exitcode(status), time.monotonic() - started


def main() -> None:
    """Let one run finish, kill others again and again, and compare the files of both."""
    wish = json.loads(sys.argv[1])
    random.seed(wish["seed"])
    for name, value in wish["sizes"].items():
        setattr(parallel, name, value)
    EverClust().partial_fit(np.random.default_rng(0).normal(size=(2_000, 4))).predict(np.zeros((1, 4)))
    os.chdir(wish["folder"])
    stdin = wish["stdin"]
    code, seconds = attempt(fill(wish["command"], "whole"), stdin, None)
    assert code == 0, code
    kills: dict[str, int] = {}
    n_rounds, n_kills = 0, 0
    while n_kills < wish["kills"]:
        n_rounds += 1
        name = f"killed{n_rounds}"  # each round has folders, groups and clients of its own
        while True:
            deadly = random.choice(RENAMES) if random.random() < 0.4 else None
            deadly = deadly if n_kills < wish["kills"] else None
            longest = seconds * 0.25 if n_kills < wish["kills"] else None
            code, _ = attempt(fill(wish["command"], name), stdin, longest, deadly, random.randint(1, 4))
            if code == 0:
                break
            assert code == -signal.SIGKILL, code
            n_kills += 1
            kills[deadly or "at a random moment"] = kills.get(deadly or "at a random moment", 0) + 1
        for result in wish["results"]:
            whole, killed = result.replace("RUN", "whole"), result.replace("RUN", name)
            assert contents(whole) == contents(killed), f"{killed} differs from {whole}"
    print(json.dumps({"kills": kills, "rounds": n_rounds, "seconds": seconds}))  # noqa: T201


def contents(pattern):
    """What is in a file or in a series of files, in the order of their names."""
    found = [content(path) for path in sorted(Path().glob(pattern))]
    assert found, f"there is no {pattern}"
    return found


def content(path):
    """The bytes of a file, or of the models in a folder by key: their files have other names every time."""
    if path.is_file():
        return path.read_bytes()
    index = json.loads(json.loads((path / "models.json").read_bytes())["body"])
    models = {key: (path / f"{number:09d}.everclust").read_bytes() for key, number in index["files"]}
    return models, index["position"]["rows"]


def fill(words, name):
    return [word.replace("RUN", name) for word in words]


if __name__ == "__main__":
    main()
