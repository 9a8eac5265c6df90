"""Run many jobs in parallel and store each result; a job that fails does not stop the others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from ..data.datasets import data_folder
from .isolation import Limits, follow_parent, run_isolated
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

    Stored jobs are not run again, so an interrupted run resumes where it stopped. The jobs run in joblib:
    inside ``joblib.parallel_config(backend="dask")`` they run on Dask.

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

    try:
        yield from finished(_in_parallel(worth_trying(), n_jobs, None if limits == Limits() else limits))
    except BrokenProcessPool:  # a job crashed its worker: isolate the remaining jobs
        yield from finished(_in_parallel(worth_trying(), n_jobs, limits))
    for job in left:
        yield Result(job, "timeout", f"Not started: another run was not finished after {limits.seconds:g} s.")


def _kind(job: Job) -> tuple[str, ...]:
    return job.algorithm, job.dataset, job.setting, job.params_json


def _in_parallel(
    jobs: Iterable[tuple[Job, Algorithm]], n_jobs: int, limits: Limits | None
) -> Iterator[Result]:
    """Take the next job from the iterator only when a worker is free."""
    folder = str(data_folder())
    calls = (delayed(_work)(job, algorithm, limits, folder) for job, algorithm in jobs)
    backend, _ = get_active_backend()
    if getattr(backend, "supports_return_generator", False):
        # Not in batches: a killed run would lose a whole batch.
        parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        yield from parallel(calls)
        return
    parallel = Parallel(n_jobs, batch_size=1)
    step = AT_ONCE * max(1, backend.effective_n_jobs(n_jobs))
    while some := list(islice(calls, step)):
        yield from parallel(some)


def _work(job: Job, algorithm: Algorithm, limits: Limits | None, folder: str) -> Result:
    """Run one job in a worker. Workers outlive a run, so each call passes the data folder."""
    follow_parent()
    use_folder(folder)
    return run_job(job, algorithm) if limits is None else run_isolated(job, algorithm, limits)
