"""Compile the kernels that are needed next on another core, while this process compiles the first one.

numba compiles one function at a time in a process. So a second process compiles others into the cache on
disk, names each on its standard output as soon as it is there, and ends. It is started only when a kernel is
not in the cache, that is, once per machine and version. When this process needs a kernel that is not there
yet, it compiles its own share of the others first, and only then waits.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Condition, Thread
from typing import Any

from . import switches

_news = Condition()
_expected: list[tuple[str, str]] = []  # module and plan
_own_share: list[tuple[str, str]] = []
_awaited: set[str] = set()  # kernels that the other process has not compiled yet
_process: "subprocess.Popen[str] | None" = None
_owner = 0  # the process that started the other one


def expect(module: str, plan: str) -> None:
    """Compile what a plan of a module names, as soon as a kernel must be compiled: in another process those
    that `module.THERE[plan]` names, by `compile_there(plan)`, and here the rest, by `compile_here(plan)`."""
    if switches.is_on("prefetch") and switches.is_on("cache"):
        _expected[:] = [(module, plan)]


@contextmanager
def meanwhile(kernel: Any) -> Iterator[None]:
    """Wait for the other process before a kernel that it compiles is loaded."""
    _wait_for(kernel.__name__)
    yield


def start() -> None:
    """Start the other process if something is expected: a kernel is not in the cache."""
    global _process, _owner
    with _news, switches.attempt("prefetch"):
        if not _expected or _process is not None or not _can_start():
            return
        module, plan = _expected.pop()
        planned = import_module(module).THERE[plan]
        _process = subprocess.Popen(
            [sys.executable, "-c", f"import {module} as m; m.compile_there({plan!r})"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        _owner = os.getpid()
        _awaited.update(planned)
        _own_share.append((module, plan))
        Thread(target=_listen, args=(_process,), name="everclust-prefetch", daemon=True).start()


def _can_start() -> bool:
    """Whether there is a second core, and a Python to run: not in an application that embeds it."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    is_python = Path(sys.executable or "").name.startswith("python") and not hasattr(sys, "frozen")
    return is_python and len(cores) > 1


def _listen(process: "subprocess.Popen[str]") -> None:
    """Note which kernels the other process has compiled, until it ends."""
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            with _news:
                _awaited.discard(line.strip())
                _news.notify_all()
    process.wait()
    with _news:
        _awaited.clear()
        _news.notify_all()


def _is_awaited(name: str) -> bool:
    return name in _awaited and _owner == os.getpid()


def _wait_for(name: str) -> None:
    """Wait until the other process has compiled a kernel or has ended; use the time."""
    while _is_awaited(name) and _own_share:
        module, plan = _own_share.pop()
        import_module(module).compile_here(plan)
    if _is_awaited(name):
        with _news:
            _news.wait_for(lambda: not _is_awaited(name))


def _end() -> None:
    """End the other process, if it has not ended."""
    if _process is not None and _owner == os.getpid():
        _process.kill()
        _process.wait()


atexit.register(_end)
