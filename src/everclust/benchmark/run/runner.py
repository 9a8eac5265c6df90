"""Run many jobs in parallel and store each result; a job that fails does not stop the others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from threading import Event
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

from ..data.datasets import data_folder
from .isolation import Limits, follow_parent, run_isolated, stop
from .jobs import Job, Result, run_job, use_folder
from .registry import Algorithm, algorithm_called
from .store import Store

AT_ONCE = 4  # jobs per core in a batch, for joblib back-ends that return whole batches only


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run.

    Parameters
    ----------
    skipped : int
        Number of jobs that were in the store already.
    statuses : dict
        Number of other jobs by status.
    seconds : float
    """

    skipped: int
    statuses: dict[str, int]
    seconds: float


def run(
    jobs: Iterable[Job],
    store: Store,
    *,
    n_jobs: int = 1,
    limit_seconds: float | None = None,
    limit_memory: int | None = None,
    retry: bool = False,
    progress: Callable[[Result], None] | None = None,
) -> RunSummary:
    """Run all jobs that are not in the store, and store each result as soon as it is finished.

    Stored jobs are not run again, so an interrupted run resumes where it stopped. Inside
    ``joblib.parallel_config(backend="dask")`` the jobs run on Dask.

    Parameters
    ----------
    jobs : iterable of Job
    store : Store
    n_jobs : int, default=1
        Number of processes, -1 for one per core.
    limit_seconds, limit_memory : float, int, optional
        Limits of one job, in seconds, and in bytes on top of what the process uses before the job.
    retry : bool, default=False
        Run unsuccessful jobs again.
    progress : callable, optional
        Called with each result after it is stored.

    Returns
    -------
    summary : RunSummary

    Raises
    ------
    ValueError
        If a job names an unknown algorithm.
    StoreError
        If a result cannot be stored.

    Examples
    --------
    >>> from everclust.benchmark.run.jobs import Job
    >>> from everclust.benchmark.run.runner import run
    >>> from everclust.benchmark.run.store import Store
    >>> with Store("results.sqlite") as store:  # doctest: +SKIP
    ...     run([Job("idat", "iris", "stationary", seed) for seed in range(1, 31)], store, n_jobs=2)
    """
    started = time.perf_counter()
    wanted = list(dict.fromkeys(jobs))
    store.ask(wanted)
    todo = remaining(wanted, store, retry=retry)
    statuses: Counter[str] = Counter()
    for result in results(todo, n_jobs=n_jobs, limits=Limits(limit_seconds, limit_memory)):
        store.add(result)
        statuses[result.status] += 1
        if progress is not None:
            progress(result)
    stop()
    return RunSummary(len(wanted) - len(todo), dict(statuses), time.perf_counter() - started)


def remaining(jobs: Iterable[Job], store: Store, *, retry: bool = False) -> list[Job]:
    """Jobs that are not in the store.

    Parameters
    ----------
    jobs : iterable of Job
    store : Store
    retry : bool, default=False
        Include unsuccessful jobs.

    Returns
    -------
    jobs : list of Job
    """
    done = store.done(retry=retry)
    return [job for job in jobs if job.key not in done]


def results(jobs: list[Job], *, n_jobs: int = 1, limits: Limits | None = None) -> Iterator[Result]:
    """Run jobs and yield their results in the order in which they finish.

    Jobs start in order of their seeds. After a timeout, other seeds of the same job are not started.

    Parameters
    ----------
    jobs : list of Job
    n_jobs : int, default=1
    limits : Limits, optional

    Yields
    ------
    result : Result
    """
    limits = limits or Limits()
    left = {job: algorithm_called(job.algorithm) for job in sorted(jobs, key=lambda job: job.seed)}
    slow: set[tuple[str, ...]] = set()  # jobs of which one seed has timed out

    def worth_trying() -> Iterator[tuple[Job, Algorithm]]:
        return ((job, algorithm) for job, algorithm in list(left.items()) if _kind(job) not in slow)

    def finished(results: Iterable[Result]) -> Iterator[Result]:
        for result in results:
            del left[result.job]
            if result.status == "timeout":
                slow.add(_kind(result.job))
            yield result

    yield from finished(_in_parallel(worth_trying(), n_jobs, limits))
    for job in left:
        yield Result(job, "timeout", f"Not started: another run was not finished after {limits.seconds:g} s.")


def _kind(job: Job) -> tuple[str, ...]:
    return job.algorithm, job.dataset, job.setting, job.params_json


def _in_parallel(jobs: Iterator[tuple[Job, Algorithm]], n_jobs: int, limits: Limits) -> Iterator[Result]:
    """Take the next job from the iterator only when a worker is free."""
    backend, _ = get_active_backend()
    if type(backend) is not BACKENDS[DEFAULT_BACKEND]:  # such as Dask
        return _in_joblib(jobs, n_jobs, limits, backend)
    n_workers = effective_n_jobs(n_jobs)
    if n_workers == 1 and limits == Limits():
        return (run_job(job, algorithm) for job, algorithm in jobs)
    return _in_workers(jobs, n_workers, limits)


def _in_workers(jobs: Iterator[tuple[Job, Algorithm]], n_workers: int, limits: Limits) -> Iterator[Result]:
    """Run the jobs in processes of this machine, each behind a thread that waits for it."""
    threads = ThreadPoolExecutor(n_workers)
    running: set[Future[Result]] = set()
    interrupted = Event()
    try:
        while True:
            for job, algorithm in islice(jobs, n_workers - len(running)):
                running.add(threads.submit(run_isolated, job, algorithm, limits, interrupted.is_set))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BaseException:  # Ctrl-C, SIGTERM, or results are no longer wanted
        interrupted.set()
        stop()
        raise
    finally:
        threads.shutdown(cancel_futures=True)


def _in_joblib(
    jobs: Iterator[tuple[Job, Algorithm]], n_jobs: int, limits: Limits, backend: Any
) -> Iterator[Result]:
    folder = str(data_folder())
    calls = (delayed(_work)(job, algorithm, limits, folder) for job, algorithm in jobs)
    if getattr(backend, "supports_return_generator", False):
        # Not in batches: a killed run would lose a whole batch.
        parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        yield from parallel(calls)
        return
    parallel = Parallel(n_jobs, batch_size=1)
    step = AT_ONCE * max(1, backend.effective_n_jobs(n_jobs))
    while some := list(islice(calls, step)):
        yield from parallel(some)


def _work(job: Job, algorithm: Algorithm, limits: Limits, folder: str) -> Result:
    """Run one job in a worker of joblib. Workers outlive a run, so each call passes the data folder."""
    follow_parent()
    use_folder(folder)
    return run_job(job, algorithm) if limits == Limits() else run_isolated(job, algorithm, limits)
