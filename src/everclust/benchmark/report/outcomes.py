"""Results of jobs, grouped by algorithm, data set and setting."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..data.catalogue import CATALOGUE
from ..run.settings import SETTINGS

Result = dict[str, Any]
Place = tuple[str, str, str]  # algorithm, data set, setting
Outcomes = dict[Place, list[Result]]

DONE = "ok"
NOT_RUN = "not run"
MISSING_MARKS = {"memory": "OOM"}  # all other statuses but DONE are "N/A"
RAN_OUT = {"timeout", "memory"}


class Measure(NamedTuple):
    """A field of a result, and how it is shown."""

    key: str
    title: str
    decimals: int
    printed: str = ""
    """The paper's name for it, if its table is available."""
    unit: float = 1.0
    """The report shows the value divided by this."""


NODES = Measure("nodes", "Nodes", 1, "nodes")
CLUSTERS = Measure("clusters", "Clusters", 1, "clusters")
ARI = Measure("ari", "ARI", 3, "ARI")
AMI = Measure("ami", "AMI", 3, "AMI")
AI_ARI = Measure("ai_ari", "AI of ARI", 3)
BWT_ARI = Measure("bwt_ari", "BWT of ARI", 3)
AI_AMI = Measure("ai_ami", "AI of AMI", 3)
BWT_AMI = Measure("bwt_ami", "BWT of AMI", 3)
BWT_PRINTED_ARI = Measure("bwt_printed_ari", "BWT of ARI", 3)
BWT_PRINTED_AMI = Measure("bwt_printed_ami", "BWT of AMI", 3)
SECONDS = Measure("train_cpu_seconds", "CPU seconds", 3)
MEMORY = Measure("peak_memory", "Peak memory, MiB", 1, unit=2.0**20)
PRINTED = (NODES, CLUSTERS, ARI, AMI)


class CellStatistics(NamedTuple):
    """Statistics of a measure over the runs of one algorithm, data set and setting."""

    mean: float
    deviation: float
    """With n − 1 in the denominator; NaN for a single run."""
    n: int

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; 0 for a single run, which does not determine it."""
        return self.deviation / math.sqrt(self.n) if self.n > 1 else 0.0


def gather(results: Iterable[Result], asked: Iterable[Result] = ()) -> Outcomes:
    """Group results by algorithm, data set and setting; keep only the parameters last asked for or run.

    Parameters
    ----------
    results : iterable of dict
        Rows of `everclust.benchmark.run.store.Store.results`.
    asked : iterable of dict, default=()
        Rows of `Store.asked`: jobs without a result get one with the status NOT_RUN.

    Returns
    -------
    outcomes : dict
        (algorithm, data set, setting) -> results.
    """
    outcomes, wanted = _by_place(results), _by_place(asked)
    return {
        place: _latest(outcomes.get(place, []), wanted.get(place, [])) for place in {**outcomes, **wanted}
    }


def _by_place(rows: Iterable[Result]) -> Outcomes:
    places: Outcomes = {}
    for row in rows:
        places.setdefault((row["algorithm"], row["dataset"], row["setting"]), []).append(row)
    return places


def _latest(runs: list[Result], asked: list[Result]) -> list[Result]:
    """Runs with the latest parameters, and a row for each that was asked for with them and not run."""
    known = [row for row in asked if row["params_json"] is not None] or runs or asked
    latest = max(known, key=lambda row: row.get("asked_at") or row.get("finished_at") or "").get(
        "params_json"
    )
    kept = [run for run in runs if run.get("params_json") == latest]
    found = {run["seed"] for run in kept}
    return kept + [
        row | {"status": NOT_RUN}
        for row in asked
        if row["seed"] not in found and row["params_json"] in (latest, None)
    ]


def done(outcomes: Outcomes, place: Place) -> list[Result]:
    """The successful runs."""
    return [result for result in outcomes.get(place, []) if result["status"] == DONE]


def is_ranked(outcomes: Outcomes, place: Place) -> bool:
    """True if a run succeeded, or ran out of time or memory, which is ranked worst as in the paper."""
    return any(result["status"] in {DONE, *RAN_OUT} for result in outcomes.get(place, []))


def cell_statistics(outcomes: Outcomes, place: Place, measure: Measure) -> CellStatistics | None:
    """Statistics of a measure over the successful runs, or None if no run has it."""
    values = [result.get(measure.key) for result in done(outcomes, place)]
    known = np.array([value for value in values if value is not None], dtype=float) / measure.unit
    if not len(known):
        return None
    deviation = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    return CellStatistics(float(known.mean()), deviation, len(known))


def missing_mark(outcomes: Outcomes, place: Place) -> str:
    """Mark for a missing number: "OOM" if memory was the limit, else "N/A"."""
    statuses = {result["status"] for result in outcomes.get(place, [])}
    return MISSING_MARKS.get(statuses.pop(), "N/A") if len(statuses) == 1 else "N/A"


def datasets_of(outcomes: Outcomes, setting: str = "") -> list[str]:
    """Names in the paper's order, then the others by name."""
    names = {dataset for _, dataset, of in outcomes if setting in ("", of)}
    known = [name for name in CATALOGUE if name in names]
    return known + sorted(names - set(known))


def algorithms_of(outcomes: Outcomes, setting: str = "") -> list[str]:
    """Names in order of first occurrence."""
    return list(dict.fromkeys(algorithm for algorithm, _, of in outcomes if setting in ("", of)))


def settings_of(outcomes: Outcomes) -> list[str]:
    """The settings that occur, stationary first."""
    present = {setting for _, _, setting in outcomes}
    return [setting for setting in SETTINGS if setting in present]


def other_shuffles(outcomes: Outcomes) -> list[str]:
    """Nonstationary settings with the rows of each class in another order, such as "nonstationary:1"."""
    return sorted({setting for _, _, setting in outcomes if setting.startswith("nonstationary:")})


def median_run(runs: list[Result]) -> Result | None:
    """The run with the median ARI among those with a history; the lower of two medians."""
    kept = [run for run in runs if run.get("history") and run.get("ari") is not None]
    kept.sort(key=lambda run: (run["ari"], run["seed"]))
    return kept[(len(kept) - 1) // 2] if kept else None


def n_classes(outcomes: Outcomes, dataset: str) -> int | None:
    """Number of classes: from the catalogue, else from the steps of a nonstationary run."""
    if dataset in CATALOGUE:
        return CATALOGUE[dataset].n_classes
    steps = [
        len(result["step_ari"])
        for (_, of, _), results in outcomes.items()
        for result in results
        if of == dataset and result.get("step_ari")
    ]
    return max(steps, default=None)
