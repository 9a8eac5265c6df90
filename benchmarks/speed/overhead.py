"""Overhead of hand-over counts and cluster identities, which learning records but never reads.

Run as a script with the part to leave out ("", "handovers" or "identities"), it prints, for every line that
it reads, the CPU seconds of learning each stream and the number of events. The part is removed before
anything is compiled; NUMBA_CACHE_DIR must point elsewhere, so that everclust never loads the result.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

STREAMS = ("optdigits", "letter")
STARTS, TURNS = 5, 20


def leave_out(part: str) -> None:
    """Replace the part by a function that does nothing."""
    from everclust.core import learn, resonance
    from everclust.core.layout import NONE_CHANGED
    from everclust.jit import compile as jit

    def forget_changes(state):
        state.scalars[0].n_changed = NONE_CHANGED

    if part == "handovers":
        resonance.hand_over = jit.jit(lambda state, first, second: None)  # type: ignore[attr-defined]
    if part == "identities":
        learn.update_ids = jit.jit(forget_changes)  # type: ignore[attr-defined]


def measure() -> None:
    """Answer every line of standard input."""
    from benchmarks.speed.data import class_incremental, data_set
    from everclust import IDAT

    streams = {name: class_incremental(*data_set(name), seed=0) for name in STREAMS}
    for _ in sys.stdin:
        found = {}
        for name, X in streams.items():
            model = IDAT()
            start = time.process_time()
            model.partial_fit(X)
            found[name] = time.process_time() - start, len(model.events())
        print(json.dumps(found), flush=True)


def shares_of_time() -> dict[str, dict[str, float]]:
    """Share of the learning time that each part takes, by stream; and the number of events.

    Three processes take turns, and each turn gives one ratio, so that a machine that changes its speed
    changes it for all three. The result is the median over processes started several times, because their
    speed depends on the memory layout, which differs from start to start.
    """
    with tempfile.TemporaryDirectory() as folder:
        turns = [turn for _ in range(STARTS) for turn in _turns(folder)]
    shares = {
        part: {
            name: median(turn[""][name][0] / turn[part][name][0] for turn in turns) - 1 for name in STREAMS
        }
        for part in ("handovers", "identities")
    }
    return shares | {"events": {name: turns[0][""][name][1] for name in STREAMS}}


def _turns(folder: str) -> list[dict[str, dict[str, tuple[float, int]]]]:
    """The answers of three new processes, several times."""
    processes = {part: _start(part, f"{folder}/{part or 'all'}") for part in ("", "handovers", "identities")}
    turns = [{part: _ask(process) for part, process in processes.items()} for _ in range(TURNS)]
    for process in processes.values():
        process.communicate()
    return turns


def _start(part: str, cache: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.speed.overhead", part],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ask(process: subprocess.Popen[str]) -> dict[str, tuple[float, int]]:
    assert process.stdin
    assert process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


if __name__ == "__main__":
    leave_out(sys.argv[1])
    measure()
