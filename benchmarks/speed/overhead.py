"""What hand-overs and cluster identities cost while learning, which never reads them.

Run as a script with the name of what is to be left out ("", "handovers" or "identities"), this prints, for
every line that it reads, the CPU seconds of learning each stream and the number of events. The parts are
taken out before anything is compiled; the compiled code must not be kept where everclust would find it, so
NUMBA_CACHE_DIR has to lead elsewhere.
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
    """Put a function that does nothing in the place of the part, where it is called."""
    from everclust.core import learn, resonance
    from everclust.jit import compile as jit

    def forget_changes(state):
        state.scalars[0].change = NOTHING_NEW

    if part == "handovers":
        resonance.hand_over = jit.jit(lambda state, first, second: None)
    if part == "identities":
        learn.recognise = jit.jit(forget_changes)


def measure() -> None:
    """Answer every line that comes in."""
    from data import class_incremental, data_set
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


def costs() -> dict[str, dict[str, float]]:
    """Share of the learning time that each part takes, by stream; and the number of events.

    Three processes take turns, and each turn gives one ratio: machines that change their speed every few
    seconds change it for all three. The median counts, over processes started several times: how well one
    runs is a matter of where in memory it came to lie.
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
    """What each of three new processes answers, several times."""
    processes = {part: _start(part, f"{folder}/{part or 'all'}") for part in ("", "handovers", "identities")}
    turns = [{part: _ask(process) for part, process in processes.items()} for _ in range(TURNS)]
    for process in processes.values():
        process.communicate()
    return turns


def _start(part: str, cache: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, part],
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
