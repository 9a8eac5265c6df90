"""Many jobs across cores: what is done is kept, what goes wrong is told, and nothing stops the rest."""

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

AT_ONCE = 4  # jobs per core between two looks at a back-end that only answers when all are done


@dataclass(frozen=True)
class RunSummary:
    """What became of the jobs.

    Parameters
    ----------
    skipped : int
        Jobs that were in the store already.
    statuses : dict
        How many others ended in which way.
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
    """Do all jobs that are not in the store, and write each result into it as it comes.

    What is in the store is never done again, so a run that was killed goes on where it was. The jobs go
    through joblib: inside ``joblib.parallel_config(backend="dask")`` they run there.

    Parameters
    ----------
    jobs : iterable of Job
    store : Store
    n_jobs : int, default=1
        Processes at the same time, -1 for one per core.
    limit_seconds, limit_memory : float, int, optional
        What one job may take, in seconds, and in bytes above what the process needs anyway.
    retry : bool, default=False
        Do those again that were not successful.
    progress : callable, optional
        Called with each result, after it was written.

    Returns
    -------
    summary : RunSummary

    Raises
    ------
    ValueError
        If a job names an algorithm that there is not.
    StoreError
        If a result cannot be written.

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
        With those that were not successful.

    Returns
    -------
    jobs : list of Job
    """
    done = store.done(retry=retry)
    return [job for job in jobs if job.key not in done]


def results(jobs: list[Job], *, n_jobs: int = 1, limits: Limits | None = None) -> Iterator[Result]:
    """Do jobs and yield what comes out, in the order in which they finish.

    First runs come first. Where one takes too long, further runs of the same are not begun.

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
    slow: set[tuple[str, ...]] = set()  # of these a run took too long, and so would the others

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
    except BrokenProcessPool:  # a job took its worker with it: the rest each where it can do no harm
        yield from finished(_in_parallel(worth_trying(), n_jobs, limits))
    for job in left:
        yield Result(job, "timeout", f"Not begun: another run was not finished after {limits.seconds:g} s.")


def _kind(job: Job) -> tuple[str, ...]:
    return job.algorithm, job.dataset, job.setting, job.params_json


def _in_parallel(
    jobs: Iterable[tuple[Job, Algorithm]], n_jobs: int, limits: Limits | None
) -> Iterator[Result]:
    """The jobs are asked for one by one, when there is somebody to do them."""
    folder = str(data_folder())
    calls = (delayed(_work)(job, algorithm, limits, folder) for job, algorithm in jobs)
    backend, _ = get_active_backend()
    if getattr(backend, "supports_return_generator", False):
        # One by one: a batch would be lost as a whole when the run is killed.
        parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        yield from parallel(calls)
        return
    parallel = Parallel(n_jobs, batch_size=1)
    step = AT_ONCE * max(1, backend.effective_n_jobs(n_jobs))
    while some := list(islice(calls, step)):
        yield from parallel(some)


def _work(job: Job, algorithm: Algorithm, limits: Limits | None, folder: str) -> Result:
    """What a worker does. Workers outlive a run, and so must be told where the data are."""
    follow_parent()
    use_folder(folder)
    return run_job(job, algorithm) if limits is None else run_isolated(job, algorithm, limits)
