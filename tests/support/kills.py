"""Runs that are killed at any moment and started again: see kill_driver.py."""

import json
import os
import subprocess
import sys

from support.paths import TESTS

KILL_DRIVER = TESTS / "support/kill_driver.py"
MANY = int(os.environ.get("EVERCLUST_KILLS", "0"))  # in each case, instead of those below


def killed(folder, command, results, *, kills, stdin=None, seed=0, many=True, sizes=None):
    wish = {
        "folder": str(folder),
        "command": command,
        "results": results,
        "kills": (many and MANY) or kills,
        "stdin": stdin,
        "seed": seed,
        "sizes": sizes or {},  # of rounds that are learnt on several threads
    }
    done = subprocess.run(
        [sys.executable, str(KILL_DRIVER), json.dumps(wish)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    sys.stdout.write(f"{told}\n")
    return told
