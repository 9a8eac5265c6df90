"""Compile the kernels that are needed next on another core, while this process compiles the first one.

numba compiles one function at a time in a process. So a second process compiles the others into the cache on
disk, names each on its standard output as soon as it is there, and ends. It is started only when a kernel is
not in the cache, that is, once per machine and version.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from . import switches

COLD_SECONDS = 0.5  # a kernel that takes longer is being compiled, not loaded

_lock = Lock()
_expected: set[str] = set()  # modules
_process: "subprocess.Popen[str] | None" = None


def expect(module: str) -> None:
    """Have `compile_all` of a module run in another process as soon as a kernel must be compiled."""
    if switches.is_on("prefetch") and switches.is_on("cache"):
        _expected.add(module)


@contextmanager
def meanwhile(kernel: Any) -> Iterator[None]:
    """While a kernel is compiled, let another process compile what is expected; or wait for it to compile
    this very kernel."""
    _wait_for(kernel.__name__)
    timer = Timer(COLD_SECONDS, _start)
    timer.daemon = True
    if _expected:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _start() -> None:
    global _process
    with _lock, switches.attempt("prefetch"):
        if _expected and _process is None and _can_start():
            _process = subprocess.Popen(
                [sys.executable, "-c", f"import {_expected.pop()} as m; m.compile_all()"],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )


def _can_start() -> bool:
    """Whether there is a second core, and a Python to run: not in an application that embeds it."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    is_python = Path(sys.executable or "").name.startswith("python") and not hasattr(sys, "frozen")
    return is_python and len(cores) > 1


def _wait_for(name: str) -> None:
    """Wait until the other process, if there is one, has compiled a kernel or has ended."""
    with _lock:
        if _process is None or _process.stdout is None:
            return
        for line in _process.stdout:
            if line.strip() == name:
                return
        _end()


def _end() -> None:
    """End the other process, if it has not ended."""
    global _process
    if _process is not None and _process.stdout is not None:
        _process.kill()
        _process.stdout.close()
        _process.wait()
    _process = None


atexit.register(_end)
