"""From names to jobs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path

from ..data import datasets
from ..data.catalogue import CATALOGUE
from .jobs import Job
from .registry import ALGORITHMS, GROUPS, Algorithm, algorithm_called
from .settings import SETTINGS, setting_called

PAPER_SEEDS = 30
PAPER_SHUFFLES = 4  # not the paper's: see `plan`
UNKNOWN_SAMPLES = 1000


class PlanError(ValueError):
    """There is nothing to run; the message is one sentence for the user."""


def plan(
    algorithms: Sequence[str],
    data: Sequence[str],
    settings: Sequence[str],
    seeds: int = PAPER_SEEDS,
    *,
    shuffles: int = 0,
) -> list[Job]:
    """All jobs that the names stand for, one data set after the other.

    Variants for the ablation run in the nonstationary setting only, and so does what cannot learn class
    after class in the stationary one.

    Parameters
    ----------
    algorithms : sequence of str
        Names, "all" (without the variants), "ablation" or "extensions".
    data : sequence of str
        Names, which must be at hand and sound, or "all" of the catalogue, at hand or not.
    settings : sequence of str
        Names, or "both".
    seeds : int, default=30
        Runs with seeds from 1 on.
    shuffles : int, default=0
        On data sets of two classes, other orders within the classes to try besides: their settings are
        "nonstationary:1" and so on. There one order decides, because only two orders of the classes exist.

    Returns
    -------
    jobs : list of Job

    Raises
    ------
    ValueError
        If there is no algorithm or setting of a name, or nothing to run.
    DataSetError
        If a named data set is missing or unsound.
    """
    if seeds < 1:
        raise PlanError(f"There must be at least 1 seed, but {seeds} are asked for.")
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
    return algorithm.incremental if setting == "nonstationary" else algorithm.kind != "ablation"


def _other_orders(algorithm: Algorithm, dataset: str, setting: str, shuffles: int) -> list[str]:
    if setting != "nonstationary" or algorithm.kind == "ablation" or _n_classes(dataset) != 2:
        return []
    return [f"{setting}:{within_seed}" for within_seed in range(1, shuffles + 1)]


def _n_classes(dataset: str) -> int:
    if dataset in CATALOGUE:
        return CATALOGUE[dataset].n_classes
    return len(set(datasets.load(dataset)[1].tolist()))


def algorithms_named(names: Iterable[str]) -> list[Algorithm]:
    """Algorithms by name or group, each once.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    algorithms : list of Algorithm
    """
    found: dict[str, Algorithm] = {}
    for name in names:
        group = GROUPS.get(name)
        members = [algorithm_called(name)] if group is None else filter(group, ALGORITHMS.values())
        found |= {algorithm.name: algorithm for algorithm in members}
    return list(found.values())


def datasets_named(names: Iterable[str]) -> list[str]:
    """Names of data sets, "all" standing for the catalogue, each once.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    names : list of str

    Raises
    ------
    DataSetError
        If one that was named is missing or unsound. Under "all" that is found out when it is run.
    """
    found: dict[str, None] = {}
    for name in names:
        if name == "all":
            found |= dict.fromkeys(CATALOGUE)
        else:
            datasets.load(name)
            found[name] = None
    return list(found)


def settings_named(names: Iterable[str]) -> list[str]:
    """Settings by name, alias or "both", each once.

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
    """Names of data sets to fetch, "all" standing for those of the catalogue that have an address.

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
    """How long a job takes, roughly and in no unit: to tell how much is left.

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
        If there is no such file, it cannot be imported, or another module has its name.
    """
    if not file.is_file():
        raise PlanError(f"There is no file {file} to take algorithms or data sets from.")
    sys.path.insert(0, str(file.resolve().parent))  # workers look there too
    try:
        module = importlib.import_module(file.stem)
    except Exception as error:
        raise PlanError(f"{file} cannot be imported ({type(error).__name__}: {error}).") from error
    if Path(module.__file__ or "").resolve() != file.resolve():
        raise PlanError(f"There is another module called {file.stem!r}; give {file} another name.")
