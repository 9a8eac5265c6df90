"""Run jobs in worker processes, which are killed when a job exceeds a limit of time or memory.

A worker serves many jobs, so it imports packages and loads compiled code once. It is replaced after a
timeout, a crash, or a job that needed too much memory. Parent and worker exchange pickles through the
worker's standard input and output.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import current_process
from threading import Lock, Thread, Timer
from typing import IO, Any, NamedTuple

from joblib.externals.loky.backend.reduction import dumps

from ..data.datasets import data_folder
from .jobs import Job, Result, run_job, use_folder
from .meter import resident
from .provenance import now
from .registry import Algorithm

_LENGTH = struct.Struct(">Q")
_SERVE = "import sys; sys.path[:] = {paths!r}; from everclust.benchmark.run.isolation import serve; serve()"


class Limits(NamedTuple):
    """Limits of one job; None for no limit."""

    seconds: float | None = None
    memory: int | None = None
    """Bytes on top of what the process uses before the job."""


class Worker:
    """A process that runs one job after the other."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _SERVE.format(paths=sys.path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._loaded: set[str] = set()

    def run(self, job: Job, algorithm: Algorithm, limits: Limits) -> Result:
        """Run a job within limits; the worker may be dead afterwards."""
        started = now()
        if algorithm.name not in self._loaded:  # imports do not count against the limit
            answer = self._ask(algorithm)
            if isinstance(answer, str):
                return Result(job, "failed", answer, started_at=started)
            self._loaded.add(algorithm.name)
        with self._killed_after(limits.seconds) as is_late:
            answer = self._ask(algorithm, job, limits.memory)
        if answer is not None:
            return answer
        self.kill()
        if is_late:
            return Result(job, "timeout", f"Not finished after {limits.seconds:g} s.", started_at=started)
        if self._process.returncode == -getattr(signal, "SIGKILL", 9):  # Windows has none
            words = "The process was killed (SIGKILL): out of memory."
            return Result(job, "memory", words, started_at=started)
        return Result(job, "failed", "The process of the job crashed.", started_at=started)

    def _ask(self, algorithm: Algorithm, *job: Any) -> Any:
        """The answer of the worker, or None if it has died."""
        message = bytes(dumps((algorithm, *job)))
        with suppress(OSError, EOFError):
            _send(self._process.stdin, pickle.dumps((sys.path, str(data_folder()), message)))
            return pickle.loads(_receive(self._process.stdout))
        return None

    @contextmanager
    def _killed_after(self, seconds: float | None) -> Iterator[list[bool]]:
        """Kill the process when time is up; yields a list that is not empty then."""
        late: list[bool] = []

        def kill() -> None:
            late.append(True)
            self._process.kill()

        timer = Timer(seconds or 0, kill)
        timer.daemon = True
        if seconds is not None:
            timer.start()
        try:
            yield late
        finally:
            timer.cancel()

    @property
    def is_alive(self) -> bool:
        """True if the process can take another job."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


def _send(pipe: IO[bytes] | None, message: bytes) -> None:
    assert pipe is not None
    pipe.write(_LENGTH.pack(len(message)) + message)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> bytes:
    assert pipe is not None
    head = pipe.read(_LENGTH.size)
    body = pipe.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
    if not body:
        raise EOFError
    return body


_lock = Lock()
_idle: list[Worker] = []
_busy: set[Worker] = set()


def run_isolated(
    job: Job, algorithm: Algorithm, limits: Limits, is_interrupted: Callable[[], bool] = bool
) -> Result:
    """Run a job in another process, within limits. Errors are recorded in the result.

    Several threads may call this at the same time; each uses a process of its own.

    Parameters
    ----------
    job : Job
    algorithm : Algorithm
        The algorithm that the job names.
    limits : Limits
    is_interrupted : callable, optional
        True if no job may start any more. `stop` then ends the jobs that have started.

    Returns
    -------
    result : Result

    Raises
    ------
    CancelledError
        If `is_interrupted` before the job starts.
    """
    worker = _take(is_interrupted)
    try:
        result = worker.run(job, algorithm, limits)
    finally:
        with _lock:
            _busy.discard(worker)
    if result.status == "memory":
        worker.kill()
    if worker.is_alive:
        with _lock:
            _idle.append(worker)
    return result


def _take(is_interrupted: Callable[[], bool]) -> Worker:
    """An idle worker, or a new one."""
    atexit.register(stop)
    with _lock:  # which `stop` needs too: a worker is either taken before it, or not at all
        if is_interrupted():
            raise CancelledError
        while _idle:
            worker = _idle.pop()
            if worker.is_alive:
                _busy.add(worker)
                return worker
        worker = Worker()
        _busy.add(worker)
        return worker


def stop() -> None:
    """Kill all workers."""
    atexit.unregister(stop)
    with _lock:
        workers = [*_idle, *_busy]
        _idle.clear()
    for worker in workers:
        worker.kill()


def serve() -> None:
    """Answer the parent's messages until it closes the pipe: what a worker does all its life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what algorithms print must not get between the answers
    while True:
        try:
            paths, folder, message = pickle.loads(_receive(sys.stdin.buffer))
        except EOFError:
            return
        sys.path[:] = paths
        use_folder(folder)  # the folder may have changed since the process started
        _send(answers, pickle.dumps(_answered(message)))


def _answered(message: bytes) -> Result | bool | str:
    """The answer to a message, or a sentence if it cannot be unpickled here."""
    try:
        return _answer(*pickle.loads(message))
    except Exception as error:
        return f"The algorithm cannot be imported in another process ({type(error).__name__}: {error})."


def _answer(algorithm: Algorithm, job: Job | None = None, memory: int | None = None) -> Result | bool:
    """Run the job; without one do nothing, because unpickling has imported all that is needed."""
    if job is None:
        return True
    with _limited_memory(memory):
        return run_job(job, algorithm)


@cache
def follow_parent() -> None:
    """End this worker of joblib soon after its parent process ends, even if the parent is killed."""
    if current_process().name.startswith("Loky"):
        Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


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
