"""What hand-overs and cluster identities cost while learning, which never reads them.

Run as a script with the name of what is to be left out ("", "handovers" or "identities"), this prints the
best CPU time of each stream, in seconds. The parts are taken out before anything is compiled; the compiled
code must not be kept where everclust would find it, so NUMBA_CACHE_DIR has to lead elsewhere.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

STREAMS = ("optdigits", "letter")
REPEATS = 15


def leave_out(part: str) -> None:
    """Put a function that does nothing in the place of the part, where it is called."""
    from everclust.core import jit, learn, resonance

    if part == "handovers":
        resonance.hand_over = jit.jit(lambda state, first, second: None)
    if part == "identities":
        learn.recognise = jit.jit(lambda state: None)


def measure() -> dict[str, tuple[float, int]]:
    """Best CPU time of learning each stream, and the number of events."""
    from data import class_incremental, data_set

    from everclust import IDAT

    found = {}
    for name in STREAMS:
        X = class_incremental(*data_set(name), seed=0)
        times = []
        for _ in range(REPEATS):
            model = IDAT()
            start = time.process_time()
            model.partial_fit(X)
            times.append(time.process_time() - start)
        found[name] = min(times[1:]), len(model.events())
    return found


def costs(rounds: int = 3) -> dict[str, dict[str, float]]:
    """Share of the learning time that each part takes, by stream; and the number of events."""
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[dict[str, tuple[float, int]]]] = {"": [], "handovers": [], "identities": []}
        for _ in range(rounds):  # in turns, so that a slow spell hits all of them
            for part, found in runs.items():
                found.append(_in_another_process(part, f"{folder}/{part or 'all'}"))
    best = {
        part: {name: min(run[name][0] for run in found) for name in STREAMS} for part, found in runs.items()
    }
    shares = {
        part: {name: best[""][name] / best[part][name] - 1 for name in STREAMS}
        for part in ("handovers", "identities")
    }
    return shares | {"events": {name: runs[""][0][name][1] for name in STREAMS}}


def _in_another_process(part: str, cache: str) -> dict[str, tuple[float, int]]:
    done = subprocess.run(
        [sys.executable, __file__, part],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    leave_out(sys.argv[1])
    print(json.dumps(measure()))
