"""The memory available to this process, and a check before a large allocation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
GIGABYTE = 1e9


def refuse_beyond_memory(n_bytes: int, purpose: str, advice: str) -> None:
    """Raise MemoryError if fewer than `n_bytes` are available.

    Parameters
    ----------
    n_bytes : int
        Size of the planned allocation.
    purpose : str
        What the memory is for: the subject of the error message.
    advice : str
        What to do instead: the end of the error message.
    """
    there = available_memory()
    if there is not None and n_bytes > there:
        raise MemoryError(
            f"{purpose} would take {n_bytes / GIGABYTE:.2f} GB of memory, but only {there / GIGABYTE:.2f} GB "
            f"are available; {advice}."
        )


def available_memory() -> int | None:
    """Bytes that this process can still allocate without swapping or being killed.

    Returns
    -------
    n_bytes : int or None
        None where the system does not report it.
    """
    known = [n_bytes for n_bytes in (_of_machine(), *_of_containers(), *_of_limits()) if n_bytes is not None]
    return max(0, min(known)) if known else None


def _of_machine() -> int | None:
    free = _field(_PROC / "meminfo", "MemAvailable:")
    if free is not None:
        return free * 1024
    with suppress(AttributeError, ValueError, OSError):  # macOS reports the total only
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_containers() -> Iterator[int | None]:
    """Bytes left within the limits of this process's control groups (version 1 and 2)."""
    for line in _lines(_PROC / "self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            top = _CGROUPS / controllers
            for group in {top, top / path.lstrip("/")}:
                yield _left_in(group, "memory.max", "memory.current", "inactive_file")
                yield _left_in(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _left_in(group: Path, limit: str, usage: str, cached: str) -> int | None:
    """Cached files count as free: the kernel evicts them when memory runs short."""
    most, used = _lines(group / limit), _lines(group / usage)
    if not most or not used or not most[0].isdigit():  # "max"
        return None
    return int(most[0]) - int(used[0]) + (_field(group / "memory.stat", cached) or 0)


def _of_limits() -> Iterator[int | None]:
    """Bytes left within this process's own limits, such as ``ulimit -v``."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for limit, usage in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
        most, used = resource.getrlimit(limit)[0], _field(_PROC / "self/status", usage)
        if most != resource.RLIM_INFINITY and used is not None:
            yield most - used * 1024


def _field(path: Path, name: str) -> int | None:
    """The number after `name` in a file with one field per line."""
    for line in _lines(path):
        words = line.split()
        if words and words[0] == name:
            return int(words[1])
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
