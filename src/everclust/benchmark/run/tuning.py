"""Tuning of the algorithms that need it, as the paper did: a few trials, each the mean ARI over ten runs.

The classes are used for it, so that a tuned algorithm knows more than one without parameters. Trials are
kept in a journal beside the store; a search that was killed goes on where it was, and finds the same.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from ..data.datasets import data_folder
from .baselines import paper_parameters
from .isolation import Limits
from .jobs import Job, Result, as_json
from .registry import Range, algorithm_called
from .runner import results
from .store import Store

TRIALS = 25
LIMIT_SECONDS = 12 * 3600.0
START_TRIALS = 4  # at random, before the sampler begins to learn
RUNS = range(10)
SEED = 0
SPENT = "seconds"  # of a trial, beside its parameters


class Tuning(NamedTuple):
    """What a search has found."""

    params: dict[str, Any] | None
    """None: not available, because the trials did not finish in time, or none succeeded."""
    score: float | None
    n_finished: int
    """Trials."""


def journal_beside(store_path: str | Path) -> Path:
    """Where the trials are kept that belong to a store.

    Parameters
    ----------
    store_path : str or Path

    Returns
    -------
    path : Path
    """
    return Path(f"{store_path}-trials")


def search(
    algorithm: str,
    dataset: str,
    setting: str,
    journal: str | Path,
    *,
    trials: int = TRIALS,
    limit_seconds: float = LIMIT_SECONDS,
    n_jobs: int = 1,
) -> Tuning:
    """Look for the parameters with the best mean ARI over ten runs.

    Parameters
    ----------
    algorithm : str
        With a space.
    dataset, setting : str
    journal : str or Path
        File of the trials; it is made if it is not there, and continued if it is.
    trials : int, default=25
    limit_seconds : float, default=43200
        Wall-clock time for all trials, those before an interruption included.
    n_jobs : int, default=1
        Runs at the same time.

    Returns
    -------
    tuning : Tuning
    """
    optuna = _optuna()
    study = _study(optuna, f"{algorithm}/{dataset}/{setting}", journal)
    while (n_finished := len(_finished(study))) < trials:
        left = limit_seconds - _spent(study)
        if left <= 0:
            break
        # A sampler of its own for each trial: so it does not matter whether the search was interrupted.
        study.sampler = _sampler(optuna, SEED + n_finished)
        trial = study.ask()
        params = _suggest(trial, algorithm_called(algorithm).space)
        jobs = [Job(algorithm, dataset, setting, seed, as_json(params)) for seed in RUNS]
        _evaluate(study, trial, jobs, left, n_jobs)
    return _best(study, trials)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise ImportError("Tuning needs Optuna: pip install 'everclust[bench]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _study(optuna: Any, name: str, journal: str | Path) -> Any:
    """The study of that name, begun or continued; what was running when it was killed has failed."""
    backend = optuna.storages.journal.JournalFileBackend(str(journal))
    storage = optuna.storages.JournalStorage(backend)
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return study


def _sampler(optuna: Any, seed: int) -> Any:
    """Gaussian processes as in the paper where torch is installed, which they need; else Parzen windows."""
    if importlib.util.find_spec("torch") is not None:
        return optuna.samplers.GPSampler(seed=seed, n_startup_trials=START_TRIALS)
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=START_TRIALS)


def _suggest(trial: Any, space: Any) -> dict[str, Any]:
    return {name: _suggest_one(trial, name, bounds) for name, bounds in space.items()}


def _suggest_one(trial: Any, name: str, bounds: Range) -> Any:
    low, high = bounds[:2]
    if isinstance(low, int) and isinstance(high, int):
        return trial.suggest_int(name, low, high)
    return trial.suggest_float(name, low, high, log=len(bounds) > 2)


def _evaluate(study: Any, trial: Any, jobs: list[Job], left: float, n_jobs: int) -> None:
    """Tell the study the mean ARI; a run that fails prunes the trial, one that takes too long fails it."""
    started = time.perf_counter()
    runs = list(_runs(jobs, started + left, n_jobs))
    statuses = {run.status for run in runs}
    trial.set_user_attr(SPENT, left if "timeout" in statuses else time.perf_counter() - started)
    if statuses == {"ok"}:
        study.tell(trial, float(np.mean([run.ari for run in runs])))
    else:
        study.tell(trial, state=_optuna().trial.TrialState["FAIL" if "timeout" in statuses else "PRUNED"])


def _runs(jobs: list[Job], deadline: float, n_jobs: int) -> Iterator[Result]:
    """Until one is not ok: then the trial is decided."""
    at_once = effective_n_jobs(n_jobs)
    for start in range(0, len(jobs), at_once):
        left = max(0.0, deadline - time.perf_counter())
        for run in results(jobs[start : start + at_once], n_jobs=n_jobs, limits=Limits(left)):
            yield run
            if run.status != "ok":
                return


def _finished(study: Any) -> list[Any]:
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.name in ("COMPLETE", "PRUNED")]


def _spent(study: Any) -> float:
    """Seconds so far, those of trials included that took too long."""
    return sum(trial.user_attrs.get(SPENT, 0.0) for trial in study.get_trials(deepcopy=False))


def _best(study: Any, trials: int) -> Tuning:
    """The first of the best trials, if all have finished."""
    finished = _finished(study)
    complete = [trial for trial in finished if trial.state.name == "COMPLETE"]
    if len(finished) < trials or not complete:
        return Tuning(None, None, len(finished))
    best = max(complete, key=lambda trial: trial.value)
    return Tuning(best.params, best.value, len(finished))


def tuned(
    jobs: Iterable[Job],
    store: Store,
    *,
    trials: int = TRIALS,
    limit_seconds: float = LIMIT_SECONDS,
    n_jobs: int = 1,
    as_in_paper: bool = False,
) -> list[Job]:
    """Jobs with the best parameters of their algorithm, data set and setting, which are searched for first.

    Where the search was not finished in time, the store is told so and the job is left out. Algorithms
    without anything to tune, and data sets that are missing, stay as they are.

    Parameters
    ----------
    jobs : iterable of Job
    store : Store
    trials, limit_seconds, n_jobs
        As in `search`.
    as_in_paper : bool, default=False
        Take the paper's parameters where they are known, and search for the others.

    Returns
    -------
    jobs : list of Job
    """
    found: dict[tuple[str, str, str], Tuning] = {}
    ready = []
    for job in jobs:
        place = job.algorithm, job.dataset, job.setting
        if as_in_paper and (params := paper_parameters(job.algorithm, job.setting, job.dataset)) is not None:
            ready.append(replace(job, params_json=as_json(params)))
            continue
        if not algorithm_called(job.algorithm).space or not (data_folder() / f"{job.dataset}.npz").exists():
            ready.append(job)
            continue
        if place not in found:
            journal = journal_beside(store.path)
            found[place] = search(*place, journal, trials=trials, limit_seconds=limit_seconds, n_jobs=n_jobs)
        params = found[place].params
        if params is None:
            store.add(Result(job, "timeout", _not_available(found[place], trials, limit_seconds)))
        else:
            ready.append(replace(job, params_json=as_json(params)))
    return ready


def _not_available(tuning: Tuning, trials: int, limit_seconds: float) -> str:
    if tuning.n_finished < trials:
        return f"Only {tuning.n_finished} of {trials} trials finished within {limit_seconds:g} s."
    return f"None of {trials} trials succeeded."
