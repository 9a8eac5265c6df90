"""Measure the time and the memory that a piece of work takes."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


class Stopwatch:
    """Adds up the wall-clock and CPU time of several intervals."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu_seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure the time inside the `with` block."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - wall
            self.cpu_seconds += time.process_time() - cpu


class MemoryMeter:
    """Largest increase of the resident memory of this process since the meter was created.

    Linux can reset the peak, so that each piece of work has its own. Other systems show only an increase
    above the highest peak so far. Memory that the process had already reserved is not counted.
    """

    def __init__(self) -> None:
        _return_free_memory()
        with suppress(OSError):
            _RESET.write_text("5", encoding="utf-8")
        self._start = resident("VmRSS") or _highest()

    def increase(self) -> int:
        """Increase at this moment, in bytes; 0 where the system does not tell."""
        return max(0, (resident("VmRSS") or 0) - self._start)

    def peak(self) -> int:
        """Largest increase so far, in bytes."""
        return max(0, (resident("VmHWM") or _highest()) - self._start)


def resident(field: str) -> int | None:
    """A field of /proc/self/status in bytes, or None if the file does not exist."""
    try:
        lines = _STATUS.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
    except (OSError, StopIteration, ValueError):
        return None


def _highest() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _return_free_memory() -> None:
    """Return freed memory to the system; otherwise the work might reuse it unmeasured."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> ctypes._NamedFuncPointer | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # not glibc
        return None
