"""A job in a process of its own, which can be stopped when it takes too long or too much."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Iterator
from concurrent.futures import TimeoutError as TookTooLong
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from multiprocessing import current_process
from threading import Thread
from typing import Any, NamedTuple

from joblib.externals.loky import ProcessPoolExecutor

from ..data.datasets import data_folder
from .jobs import Job, Result, run_job, use_folder
from .meter import resident
from .provenance import now
from .registry import Algorithm

IDLE = 60  # seconds after which a process that has nothing to do, or nobody to do it for, ends


class Limits(NamedTuple):
    """What a job may take; None is no limit."""

    seconds: float | None = None
    memory: int | None = None
    """Bytes above what the process needs anyway."""


_process: ProcessPoolExecutor | None = None  # one, used again and again until it has to be stopped


def run_isolated(job: Job, algorithm: Algorithm, limits: Limits) -> Result:
    """Do a job in another process, within limits. Whatever goes wrong is in the result.

    Parameters
    ----------
    job : Job
    algorithm : Algorithm
        The one that the job names.
    limits : Limits

    Returns
    -------
    result : Result
    """
    started = now()
    try:
        process = _ready(algorithm)
        work = process.submit(_run_within, job, algorithm, limits.memory, str(data_folder()))
        return work.result(limits.seconds)
    except TookTooLong:
        stop()
        return Result(job, "timeout", f"Not finished after {limits.seconds:g} s.", started_at=started)
    except BrokenProcessPool as error:
        stop()
        if "SIGKILL" in str(error):
            return Result(job, "memory", "The system ended it for want of memory.", started_at=started)
        return Result(job, "failed", "Its process crashed.", started_at=started)


def _ready(algorithm: Algorithm) -> ProcessPoolExecutor:
    """The process, which has loaded all it needs: that does not count against the limit."""
    global _process
    if _process is None:
        _process = ProcessPoolExecutor(max_workers=1, timeout=IDLE)
        atexit.register(stop)
    _process.submit(_load, algorithm).result()
    return _process


def _load(algorithm: Algorithm) -> None:
    """Who is told to do this has imported this module, and that of the algorithm."""


def stop() -> None:
    """End the process, whatever it is doing."""
    global _process
    if _process is not None:
        _process.shutdown(kill_workers=True)
        _process = None
        atexit.unregister(stop)


@cache
def follow_parent() -> None:
    """Let this worker end soon after the process that has started it, which may have been killed."""
    if current_process().name.startswith("Loky"):
        Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _run_within(job: Job, algorithm: Algorithm, memory: int | None, folder: str) -> Result:
    follow_parent()
    use_folder(folder)  # it may be another one than when the process was started
    with _limited_memory(memory):
        return run_job(job, algorithm)


@contextmanager
def _limited_memory(limit: int | None) -> Iterator[None]:
    """Let allocations fail that exceed the limit, where the system can."""
    if limit is None:
        yield
        return
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    before: Any = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, ((resident("VmData") or 0) + limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
