"""Turn names on the command line into jobs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path

from ...optional import require
from ..data import datasets
from ..data.catalogue import CATALOGUE
from ..defaults import PAPER_SEEDS
from .jobs import Job
from .registry import ALGORITHMS, GROUPS, Algorithm, algorithm_called, n_classes
from .settings import SETTINGS, setting_called

UNKNOWN_SAMPLES = 1000


class PlanError(ValueError):
    """The request cannot be run; the message is one sentence for the user."""


def plan(
    algorithms: Sequence[str],
    data: Sequence[str],
    settings: Sequence[str],
    seeds: int = PAPER_SEEDS,
    *,
    shuffles: int = 0,
) -> list[Job]:
    """All jobs for the given names, sorted by data set.

    Ablation variants run in the nonstationary setting only; algorithms that are not incremental run in the
    stationary setting and its scaled form only.

    Parameters
    ----------
    algorithms : sequence of str
        Names, "all" (the paper's comparison without ablation variants), "ablation", "extensions",
        "references" or "streams".
    data : sequence of str
        Names of available, valid data sets or of batteries, or "all" for the whole catalogue, available or
        not.
    settings : sequence of str
        Names, aliases, or "both".
    seeds : int, default=30
        Number of runs, with seeds 1, 2, …
    shuffles : int, default=0
        Number of other orders within the classes to run on data sets with two classes; their settings are
        "nonstationary:1" and so on. Two classes have only two orders, so the result depends on the order
        within the classes.

    Returns
    -------
    jobs : list of Job

    Raises
    ------
    ValueError
        If an algorithm or setting is unknown, or there is nothing to run.
    DataSetError
        If a named data set is missing or invalid.
    """
    if seeds < 1:
        raise PlanError(f"There must be at least 1 seed, but {seeds} were given.")
    chosen = algorithms_named(algorithms)
    places = [(dataset, setting) for dataset in datasets_named(data) for setting in settings_named(settings)]
    jobs = [
        Job(algorithm.name, dataset, of, seed)
        for dataset, setting in places
        for algorithm in chosen
        if _takes_part(algorithm, setting)
        for of in [setting, *_other_orders(algorithm, dataset, setting, shuffles)]
        for seed in range(1, seeds + 1)
    ]
    if not jobs:
        raise PlanError(
            f"There is nothing to run: {', '.join(algorithms)} do not take part in {', '.join(settings)}."
        )
    return jobs


def _takes_part(algorithm: Algorithm, setting: str) -> bool:
    if setting == "nonstationary":
        return algorithm.incremental
    return algorithm.kind != "ablation" and (algorithm.incremental or not setting.startswith("prequential"))


def _other_orders(algorithm: Algorithm, dataset: str, setting: str, shuffles: int) -> list[str]:
    if not shuffles or setting != "nonstationary" or algorithm.kind == "ablation":
        return []
    if _n_classes(dataset) != 2:
        return []
    return [f"{setting}:{within_seed}" for within_seed in range(1, shuffles + 1)]


def _n_classes(dataset: str) -> int:
    if dataset in CATALOGUE:
        return CATALOGUE[dataset].n_classes
    return n_classes(datasets.load(dataset)[1])


def algorithms_named(names: Iterable[str]) -> list[Algorithm]:
    """Algorithms by name or group, without duplicates; groups leave out what is not installed.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    algorithms : list of Algorithm

    Raises
    ------
    ImportError
        If an algorithm called by its name needs a package that is not installed, or if nothing is left.
    """
    names = list(names)
    members = _members(names)
    installed = [algorithm for algorithm in members if algorithm.is_installed]
    for algorithm in left_out(names):
        if algorithm.name in names or not installed:
            require(algorithm.needs, extra=algorithm.extra, purpose=algorithm.title)
    return installed


def left_out(names: Iterable[str]) -> list[Algorithm]:
    """Algorithms of these names and groups whose package is not installed.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    algorithms : list of Algorithm
    """
    return [algorithm for algorithm in _members(names) if not algorithm.is_installed]


def _members(names: Iterable[str]) -> list[Algorithm]:
    found: dict[str, Algorithm] = {}
    for name in names:
        group = GROUPS.get(name)
        members = [algorithm_called(name)] if group is None else filter(group, ALGORITHMS.values())
        found |= {algorithm.name: algorithm for algorithm in members}
    return list(found.values())


def datasets_named(names: Iterable[str]) -> list[str]:
    """Names of data sets without duplicates; "all" stands for the catalogue, a battery for all its sets.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    names : list of str

    Raises
    ------
    DataSetError
        If a named data set is missing or invalid. With "all", this is checked when the job runs.
    """
    found: dict[str, None] = {}
    for name in names:
        if name == "all":
            found |= dict.fromkeys(CATALOGUE)
            continue
        members = [] if datasets.is_at_hand(name) else datasets.battery(name)
        for member in members or [name]:
            datasets.load(member)
            found[member] = None
    return list(found)


def settings_named(names: Iterable[str]) -> list[str]:
    """Settings by name, alias or "both", without duplicates.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    settings : list of str
    """
    return list(
        dict.fromkeys(
            setting for name in names for setting in (SETTINGS if name == "both" else [setting_called(name)])
        )
    )


def fetchable(names: Iterable[str]) -> list[str]:
    """Names of data sets to download; "all" stands for those of the catalogue with a public address.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    names : list of str
    """
    public = [name for name, entry in CATALOGUE.items() if entry.recipe is not None]
    return list(dict.fromkeys(name for given in names for name in (public if given == "all" else [given])))


def cost(job: Job) -> float:
    """Rough relative duration of a job, for the progress bar.

    Parameters
    ----------
    job : Job

    Returns
    -------
    cost : float
    """
    return sqrt(CATALOGUE[job.dataset].n_samples if job.dataset in CATALOGUE else UNKNOWN_SAMPLES)


def import_plugin(file: Path) -> None:
    """Import a file that registers algorithms or data sets.

    Parameters
    ----------
    file : Path

    Raises
    ------
    PlanError
        If the file does not exist, cannot be imported, or has the name of another module.
    """
    if not file.is_file():
        raise PlanError(f"There is no file {file} to import algorithms or data sets from.")
    sys.path.insert(0, str(file.resolve().parent))  # workers import it too
    try:
        module = importlib.import_module(file.stem)
    except Exception as error:
        raise PlanError(f"{file} cannot be imported ({type(error).__name__}: {error}).") from error
    if Path(module.__file__ or "").resolve() != file.resolve():
        raise PlanError(f"There is another module called {file.stem!r}; give {file} another name.")
