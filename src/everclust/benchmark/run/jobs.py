"""A job is one run of one algorithm on one data set; a result holds its measures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..data import datasets
from ..data.datasets import MissingDataSet
from .details import Details
from .prequential import run_prequential
from .provenance import machine, now, versions
from .registry import Algorithm
from .settings import FURTHER_SETTINGS, class_incremental, rescaled, stationary
from .trial import Stream, run_for_ari, run_trial

Key = tuple[str, str, str, int, str]


@dataclass(frozen=True)
class Job:
    """One run of one algorithm on one data set.

    Parameters
    ----------
    algorithm, dataset : str
        Names.
    setting : str
        "stationary" or "nonstationary"; "nonstationary:3" is the latter with the rows of each class
        shuffled by seed 3 instead of 0. Or one of `everclust.benchmark.run.settings.FURTHER_SETTINGS`.
    seed : int
        Seed of the run; the paper uses 1 to 30.
    params_json : str, default="{}"
        Parameters of the algorithm.
    parameters : {"none", "given", "printed", "fitted", "searched"}, optional
        Where the parameters come from: there are none, the caller gave them, the paper prints them, we fitted
        them to the paper's numbers of nodes and clusters, or a search for the best ARI found them. Not part
        of the job's identity. By default "none" or "given".
    final_ari_only : bool, default=False
        Measure the ARI at the end of the stream and nothing else, as the trials of a search need it. Not part
        of the job's identity.
    """

    algorithm: str
    dataset: str
    setting: str
    seed: int
    params_json: str = "{}"
    parameters: str = field(default="", compare=False)
    final_ari_only: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if not self.parameters:
            object.__setattr__(self, "parameters", "none" if self.params_json == "{}" else "given")

    @property
    def key(self) -> Key:
        """The identity of the job: the fields that are compared, as a tuple."""
        return self.algorithm, self.dataset, self.setting, self.seed, self.params_json

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the algorithm."""
        return json.loads(self.params_json)


def as_json(params: Mapping[str, Any]) -> str:
    """Parameters as JSON; equal parameters give the same text.

    Parameters
    ----------
    params : mapping

    Returns
    -------
    text : str
    """
    return json.dumps(params, sort_keys=True)


@dataclass(frozen=True)
class Result:
    """Result of a job; measures that do not apply are None.

    Parameters
    ----------
    job : Job
    status : {"ok", "failed", "timeout", "memory", "missing", "uninstalled"}
        "missing": the data set is not available; "uninstalled": a package that the algorithm needs is not.
    error : str or None
        One sentence, unless the status is "ok".
    ari, ami : float
        Scores at the end of the stream, on all rows.
    step_ari, step_ami : list of float
        Scores after each class on all classes so far, in the nonstationary setting; the first is set to 1.
    ai_ari, ai_ami, bwt_ari, bwt_ami : float
        Average incremental score, and backward transfer as the authors' program computes it, from the steps.
    bwt_printed_ari, bwt_printed_ami : float
        Backward transfer by the paper's formula, from the scores on single classes.
    node_ari, node_ami : float
        Scores at the end of the stream with each node as a cluster of its own, for CAEA: the paper's
        nonstationary scores of CAEA are such.
    nodes, clusters : int
        As the paper counts them.
    train_seconds, train_cpu_seconds : float
        Wall-clock and CPU time without loading and compiling: in the stationary setting of one call of `fit`
        with all rows and of labelling them, in the nonstationary one of the calls of `partial_fit`.
    peak_memory : int
        Largest increase of the resident memory of the process while it learnt and predicted, in bytes,
        relative to the memory with the data loaded.
    history : dict of list
        For IDAT: n_samples_seen, interval, vigilance, n_nodes, n_active_nodes and n_clusters at up to 200
        points of the stream.
    details : Details or None
        Further scores, and the label of every sample.
    started_at, finished_at : str
        UTC, in ISO format.
    versions, machine : dict
        Versions of the packages, and the machine.
    """

    job: Job
    status: str
    error: str | None = None
    ari: float | None = None
    ami: float | None = None
    step_ari: Sequence[float] | None = None
    step_ami: Sequence[float] | None = None
    ai_ari: float | None = None
    ai_ami: float | None = None
    bwt_ari: float | None = None
    bwt_ami: float | None = None
    bwt_printed_ari: float | None = None
    bwt_printed_ami: float | None = None
    node_ari: float | None = None
    node_ami: float | None = None
    nodes: int | None = None
    clusters: int | None = None
    train_seconds: float | None = None
    train_cpu_seconds: float | None = None
    peak_memory: int | None = None
    history: Mapping[str, Sequence[float]] | None = None
    details: Details | None = field(default=None, compare=False, repr=False)
    started_at: str = field(default_factory=now)
    finished_at: str = field(default_factory=now)
    versions: Mapping[str, str] = field(default_factory=versions)
    machine: Mapping[str, Any] = field(default_factory=machine)

    def row(self) -> dict[str, Any]:
        """All fields but the details as one flat dict; lists and dicts become JSON text.

        Returns
        -------
        row : dict
        """
        fields = asdict(replace(self, details=None))
        del fields["details"]
        flat = fields.pop("job") | fields
        del flat["final_ari_only"]
        return {name: _scalar(value) for name, value in flat.items()}


def _scalar(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list | tuple) else value


def run_job(job: Job, algorithm: Algorithm) -> Result:
    """Run a job. Errors are recorded in the result.

    Parameters
    ----------
    job : Job
    algorithm : Algorithm
        The algorithm that the job names.

    Returns
    -------
    result : Result
    """
    started = now()
    try:
        X, labellings = _data(str(datasets.data_folder()), job.dataset)
        with threadpool_limits(1):  # jobs run in parallel, and their times are compared
            measures = _learner(job)(algorithm, job.params, job.seed, _stream(job, algorithm, X, labellings))
        return Result(job, "ok", **measures, started_at=started)
    except MissingDataSet as error:
        return Result(job, "missing", str(error), started_at=started)
    except ImportError as error:
        return Result(job, "uninstalled", str(error), started_at=started)
    except MemoryError as error:
        words = str(error).rstrip(".") or "an allocation failed"
        return Result(job, "memory", f"Out of memory: {words}.", started_at=started)
    except Exception as error:
        return Result(job, "failed", f"{type(error).__name__}: {error}", started_at=started)


def _learner(job: Job) -> Callable[[Algorithm, dict[str, Any], int, Stream], dict[str, Any]]:
    if job.final_ari_only:
        return run_for_ari
    return run_prequential if job.setting.startswith("prequential") else run_trial


def use_folder(folder: str) -> None:
    """Load data sets from the same folder as the main process.

    Parameters
    ----------
    folder : str
    """
    if str(datasets.data_folder()) != folder:
        os.environ["EVERCLUST_DATA"] = folder


@lru_cache(maxsize=2)
def _data(folder: str, name: str) -> tuple[np.ndarray, list[np.ndarray]]:
    return datasets.load_with_labellings(name)


def _stream(job: Job, algorithm: Algorithm, X: np.ndarray, labellings: Sequence[np.ndarray]) -> Stream:
    setting, _, shuffle = job.setting.partition(":")
    y, order_of = labellings[0], FURTHER_SETTINGS.get(setting, setting)
    if setting == "scaled":
        X = rescaled(X, job.seed)
    if algorithm.in_stored_order:
        return Stream(X, y, labellings=labellings)
    if order_of == "stationary":
        order = stationary(X, y, job.seed)
        return Stream(X[order], y[order], None, order, labellings)
    steps = class_incremental(X, y, job.seed, within_seed=int(shuffle or 0))
    order = np.concatenate(steps)
    return Stream(X[order], y[order], np.cumsum([len(step) for step in steps]).tolist(), order, labellings)
