"""Section on robustness: how much the order of the samples and the units of the features matter."""

from __future__ import annotations

import numpy as np

from ..document import Column, Entry, Grid, Row, Section, explained
from ..names import algorithm_title
from ..outcomes import AMI, ARI, Measure, Outcomes, cell_statistics, datasets_of, done
from ..parameters import parameter_note
from ..tables.scores import NOTHING, signed
from .further_measures import with_measure

STATIONARY, NONSTATIONARY, SCALED = "stationary", "nonstationary", "scaled"


def robustness(outcomes: Outcomes) -> Section:
    """Section with a table of means over data sets, for ARI and for AMI."""
    words = (
        "Means over data sets. Spread: standard deviation over the runs in the stationary setting, which "
        "differ in the order of the samples, and in the seed if the algorithm draws random numbers. Worst "
        "run: the lowest score minus the mean. Class after class: the nonstationary mean minus the "
        "stationary one. Other units: the mean with each feature multiplied by a random factor between 0.1 "
        "and 10, minus the mean without; – where this was not run. In parentheses: number of data sets."
    )
    grids = [_grid(outcomes, measure) for measure in (ARI, AMI)]
    return explained("Robustness", words, [grid for grid in grids if grid.rows])


def _grid(outcomes: Outcomes, measure: Measure) -> Grid:
    columns = [Column(title) for title in ("mean", "spread", "worst run", "class after class", "other units")]
    names = [
        name for name in with_measure(outcomes, STATIONARY, measure) if _spreads(outcomes, name, measure)
    ]
    rows = [Row(algorithm_title(name), _entries(outcomes, name, measure)) for name in names]
    note = parameter_note(outcomes, STATIONARY, names)
    return Grid(f"{measure.title} under changes", columns, rows, head="Algorithm", note=note)


def _entries(outcomes: Outcomes, name: str, measure: Measure) -> list[Entry]:
    spreads = _spreads(outcomes, name, measure)
    means, deviations, worst = np.array(spreads).T
    return [
        _mean_entry(means.tolist()),
        _mean_entry(deviations.tolist()),
        _mean_entry(worst.tolist()),
        _mean_entry(_changes(outcomes, name, measure, NONSTATIONARY)),
        _mean_entry(_changes(outcomes, name, measure, SCALED)),
    ]


def _mean_entry(values: list[float]) -> Entry:
    return Entry(f"{signed(float(np.mean(values)), 3)} ({len(values)})") if values else NOTHING


def _spreads(outcomes: Outcomes, name: str, measure: Measure) -> list[tuple[float, float, float]]:
    """Mean, standard deviation and lowest minus mean over runs, per data set with two runs or more."""
    found = []
    for dataset in datasets_of(outcomes, STATIONARY):
        runs = done(outcomes, (name, dataset, STATIONARY))
        scores = np.array([run[measure.key] for run in runs if run.get(measure.key) is not None])
        if len(scores) > 1:
            mean = float(scores.mean())
            found.append((mean, float(scores.std(ddof=1)), float(scores.min()) - mean))
    return found


def _changes(outcomes: Outcomes, name: str, measure: Measure, setting: str) -> list[float]:
    """Mean in the setting minus the stationary mean, per data set that has both."""
    pairs = [
        [cell_statistics(outcomes, (name, dataset, of), measure) for of in (setting, STATIONARY)]
        for dataset in datasets_of(outcomes, setting)
    ]
    return [changed.mean - plain.mean for changed, plain in pairs if changed and plain]
