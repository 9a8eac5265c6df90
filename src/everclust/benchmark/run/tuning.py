"""Hyperparameter search as in the paper: a few trials, each scored by the mean ARI over ten runs.

The search uses the true classes, an advantage over algorithms without parameters. Trials are stored in a
journal beside the store; an interrupted search resumes there and gives the same result.
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

from ...optional import require
from ..data.datasets import is_at_hand
from ..defaults import LIMIT_SECONDS, TRIALS
from .baselines import paper_parameters
from .isolation import Limits
from .jobs import Job, Result, as_json
from .registry import Range, algorithm_called
from .runner import results
from .settings import FURTHER_SETTINGS
from .store import Store

START_TRIALS = 4  # random trials before the sampler uses a model
RUNS = range(10)
SEED = 0
SPENT = "seconds"  # name of the attribute with a trial's duration


class Tuning(NamedTuple):
    """Result of a search."""

    params: dict[str, Any] | None
    """None if the trials did not finish in time, or none succeeded."""
    score: float | None
    n_finished: int
    """Number of finished trials."""


def journal_beside(store_path: str | Path) -> Path:
    """Path of the journal of trials that belongs to a store.

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
    """Search for the parameters with the best mean ARI over ten runs.

    Parameters
    ----------
    algorithm : str
        Name of an algorithm with a search space.
    dataset, setting : str
    journal : str or Path
        File of the trials; it is created if it does not exist, and continued if it does.
    trials : int, default=25
    limit_seconds : float, default=43200
        Wall-clock time for all trials, including those before an interruption.
    n_jobs : int, default=1
        Number of parallel runs.

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
        # A new sampler with its own seed for each trial makes an interrupted search reproducible.
        study.sampler = _sampler(optuna, SEED + n_finished)
        trial = study.ask()
        params = _suggest(trial, algorithm_called(algorithm).space)
        jobs = [Job(algorithm, dataset, setting, seed, as_json(params)) for seed in RUNS]
        _evaluate(study, trial, jobs, left, n_jobs)
    return _best(study, trials)


def _optuna() -> Any:
    optuna = require("optuna", extra="bench", purpose="tuning")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _study(optuna: Any, name: str, journal: str | Path) -> Any:
    """Create or load the study; trials that were running when it was killed count as failed."""
    backend = optuna.storages.journal.JournalFileBackend(str(journal))
    storage = optuna.storages.JournalStorage(backend)
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return study


def _sampler(optuna: Any, seed: int) -> Any:
    """Gaussian process as in the paper if PyTorch is installed, which it needs; else TPE."""
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
    """Report the mean ARI to the study; a failed run prunes the trial, a timeout fails it."""
    started = time.perf_counter()
    runs = list(_runs(jobs, started + left, n_jobs))
    statuses = {run.status for run in runs}
    trial.set_user_attr(SPENT, left if "timeout" in statuses else time.perf_counter() - started)
    if statuses == {"ok"}:
        study.tell(trial, float(np.mean([run.ari for run in runs])))
    else:
        study.tell(trial, state=_optuna().trial.TrialState["FAIL" if "timeout" in statuses else "PRUNED"])


def _runs(jobs: list[Job], deadline: float, n_jobs: int) -> Iterator[Result]:
    """Run jobs until one is not "ok", which decides the trial."""
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
    """Seconds spent so far, including trials that timed out."""
    return sum(trial.user_attrs.get(SPENT, 0.0) for trial in study.get_trials(deepcopy=False))


def _best(study: Any, trials: int) -> Tuning:
    """The best trial, ties to the first, if all trials have finished."""
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
    """Search for the best parameters of each algorithm, data set and setting, and return the jobs with them.

    If a search does not finish in time, the job is left out and stored as a timeout. Jobs of algorithms
    without a search space, and of missing data sets, stay unchanged.

    Parameters
    ----------
    jobs : iterable of Job
    store : Store
    trials, limit_seconds, n_jobs
        As in `search`.
    as_in_paper : bool, default=False
        Use the paper's parameters where they are known, and search for the others.

    Returns
    -------
    jobs : list of Job
    """
    found: dict[tuple[str, str, str], Tuning] = {}
    ready = []
    for job in jobs:
        setting = FURTHER_SETTINGS.get(job.setting, job.setting)
        place = job.algorithm, job.dataset, setting
        if as_in_paper and (params := paper_parameters(job.algorithm, setting, job.dataset)) is not None:
            ready.append(replace(job, params_json=as_json(params)))
            continue
        if not algorithm_called(job.algorithm).space or not is_at_hand(job.dataset):
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
