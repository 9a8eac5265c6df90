"""Hyperparameter search as in the paper: a few trials, each scored by the mean ARI over ten runs.

The search uses the true classes, an advantage over algorithms without parameters. Trials are stored in a
journal beside the store; an interrupted search resumes there and gives the same result.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from ...optional import require
from ..data.datasets import is_at_hand
from ..defaults import LIMIT_SECONDS, TRIALS
from .baselines import as_authors_ran, fitted_parameters, printed_parameters
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
SEARCHED, PRINTED, FITTED = "searched", "printed", "fitted"  # where parameters come from

Place = tuple[str, str, str]  # algorithm, data set, setting


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
    fixed: Mapping[str, Any] | None = None,
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
    fixed : mapping, optional
        Parameters that are not searched.

    Returns
    -------
    tuning : Tuning
    """
    optuna = _optuna()
    fixed = dict(fixed or {})
    study = _study(optuna, "/".join([algorithm, dataset, setting, *map(str, fixed)]), journal)
    while (n_finished := len(_finished(study))) < trials:
        left = limit_seconds - _spent(study)
        if left <= 0:
            break
        # A new sampler with its own seed for each trial makes an interrupted search reproducible.
        study.sampler = _sampler(optuna, SEED + n_finished)
        trial = study.ask()
        params = _suggest(trial, algorithm_called(algorithm).space) | fixed
        place = algorithm, dataset, setting
        jobs = [Job(*place, seed, as_json(params), final_ari_only=True) for seed in RUNS]
        _evaluate(study, trial, jobs, left, n_jobs)
    return _best(study, trials, fixed)


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


def _best(study: Any, trials: int, fixed: dict[str, Any]) -> Tuning:
    """The best trial, ties to the first, if all trials have finished."""
    finished = _finished(study)
    complete = [trial for trial in finished if trial.state.name == "COMPLETE"]
    if len(finished) < trials or not complete:
        return Tuning(None, None, len(finished))
    best = max(complete, key=lambda trial: trial.value)
    return Tuning(best.params | fixed, best.value, len(finished))


def tuned(
    jobs: Iterable[Job],
    store: Store,
    *,
    trials: int = TRIALS,
    limit_seconds: float = LIMIT_SECONDS,
    n_jobs: int = 1,
    take: str = SEARCHED,
    progress: Callable[[str], None] | None = None,
) -> list[Job]:
    """Find the parameters of each algorithm, data set and setting, and return the jobs with them.

    If a search does not finish in time, the job is left out and stored as a timeout. Jobs of algorithms
    without a search space, and of missing data sets, stay unchanged. The store remembers all jobs as asked
    for, and each search as soon as it is finished.

    Parameters
    ----------
    jobs : iterable of Job
    store : Store
    trials, limit_seconds, n_jobs
        As in `search`.
    take : {"searched", "printed", "fitted"}, default="searched"
        "printed": the parameters that the paper prints, and the rules of the authors' programs. "fitted": the
        parameters that we fitted to the paper's numbers of nodes and clusters, else the printed ones. Where
        there are none, and with "searched", parameters are searched.
    progress : callable, optional
        Called with a sentence when a search ends.

    Returns
    -------
    jobs : list of Job
    """
    jobs = list(jobs)
    store.ask(jobs, are_tuned=False)
    ready: list[Job] = []
    for place, members in _by_place(jobs).items():
        kind, params = _known(place, take)
        if params is None and _is_searched(place):
            kind, tuning = SEARCHED, _search_for(place, store, take, trials, limit_seconds, n_jobs)
            params = tuning.params
            if progress is not None:
                progress(_search_in_words(place, tuning, trials))
            if params is None:
                for job in members:
                    store.add(Result(job, "timeout", _not_available(tuning, trials, limit_seconds)))
                continue
        if params is not None:
            members = [replace(job, params_json=as_json(params), parameters=kind) for job in members]
        store.ask(members)
        ready += members
    return ready


def _by_place(jobs: Iterable[Job]) -> dict[Place, list[Job]]:
    places: dict[Place, list[Job]] = {}
    for job in jobs:
        setting = FURTHER_SETTINGS.get(job.setting, job.setting)
        places.setdefault((job.algorithm, job.dataset, setting), []).append(job)
    return places


def _known(place: Place, take: str) -> tuple[str, dict[str, Any] | None]:
    """Parameters that need no search, and where they come from."""
    algorithm, dataset, setting = place
    setting = setting.partition(":")[0]  # another shuffle within the classes has the same parameters
    if take == FITTED and (params := fitted_parameters(algorithm, setting, dataset)) is not None:
        return FITTED, params
    return PRINTED, printed_parameters(algorithm, setting, dataset) if take != SEARCHED else None


def _is_searched(place: Place) -> bool:
    algorithm, dataset, _ = place
    return bool(algorithm_called(algorithm).space) and is_at_hand(dataset)


def _search_for(
    place: Place, store: Store, take: str, trials: int, limit_seconds: float, n_jobs: int
) -> Tuning:
    fixed = as_authors_ran(place[0]) if take != SEARCHED else {}
    options: dict[str, Any] = {"trials": trials, "limit_seconds": limit_seconds, "n_jobs": n_jobs}
    return search(*place, journal_beside(store.path), **options, fixed=fixed)


def _search_in_words(place: Place, tuning: Tuning, trials: int) -> str:
    found = f"mean ARI {tuning.score:.3f}" if tuning.score is not None else "no parameters"
    return f"searched {', '.join(place)}: {tuning.n_finished} of {trials} trials, {found}"


def _not_available(tuning: Tuning, trials: int, limit_seconds: float) -> str:
    if tuning.n_finished < trials:
        return f"Only {tuning.n_finished} of {trials} trials finished within {limit_seconds:g} s."
    return f"None of {trials} trials succeeded."
