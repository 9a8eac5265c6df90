"""Run a job in a separate process, which can be killed when it exceeds a limit of time or memory."""

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

IDLE = 60  # seconds after which an idle worker process ends


class Limits(NamedTuple):
    """Limits of one job; None for no limit."""

    seconds: float | None = None
    memory: int | None = None
    """Bytes on top of what the process uses before the job."""


_process: ProcessPoolExecutor | None = None  # one process, reused until a job has to be killed


def run_isolated(job: Job, algorithm: Algorithm, limits: Limits) -> Result:
    """Run a job in another process, within limits. Errors are recorded in the result.

    Parameters
    ----------
    job : Job
    algorithm : Algorithm
        The algorithm that the job names.
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
            return Result(
                job, "memory", "The process was killed (SIGKILL): out of memory.", started_at=started
            )
        return Result(job, "failed", "The process of the job crashed.", started_at=started)


def _ready(algorithm: Algorithm) -> ProcessPoolExecutor:
    """The worker process, with all modules imported: the import does not count against the limit."""
    global _process
    if _process is None:
        _process = ProcessPoolExecutor(max_workers=1, timeout=IDLE)
        atexit.register(stop)
    _process.submit(_load, algorithm).result()
    return _process


def _load(algorithm: Algorithm) -> None:
    """Do nothing: unpickling the call imports this module and that of the algorithm."""


def stop() -> None:
    """Kill the worker process."""
    global _process
    if _process is not None:
        _process.shutdown(kill_workers=True)
        _process = None
        atexit.unregister(stop)


@cache
def follow_parent() -> None:
    """End this worker soon after its parent process ends, even if the parent is killed."""
    if current_process().name.startswith("Loky"):
        Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _run_within(job: Job, algorithm: Algorithm, memory: int | None, folder: str) -> Result:
    follow_parent()
    use_folder(folder)  # the folder may have changed since the process started
    with _limited_memory(memory):
        return run_job(job, algorithm)


@contextmanager
def _limited_memory(limit: int | None) -> Iterator[None]:
    """Make allocations above the limit fail, where the system supports it."""
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
