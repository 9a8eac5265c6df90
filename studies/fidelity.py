"""Compare numbers of nodes and clusters with those that the paper reports: `make fidelity` prints the table.

The paper makes 30 runs. In the nonstationary setting they share one shuffle within the classes, so the
published means are those of one shuffle. This study repeats the experiment with ten such shuffles; further
columns have 10 and 30 runs with a shuffle each.
"""

import sys
from collections.abc import Iterable

import numpy as np

from benchmarks.speed.data import class_incremental, data_set, stationary
from everclust import IDAT
from everclust.benchmark.report.paper.published import published
from everclust.benchmark.run import settings

DATA_SETS = ["iris", "seeds", "yeast", "semeion", "optdigits", "statlog", "letter"]
SETTINGS = {"stationary": stationary, "nonstationary": class_incremental}
N_RUNS, N_SEEDS = 30, 10
COLUMNS = ("10 runs", "30 runs", "10 seeds × 30 runs")


def counts(streams: Iterable[np.ndarray]) -> np.ndarray:
    """Nodes and clusters as the paper counts them (candidates only), one row per stream."""
    models = (IDAT().partial_fit(stream) for stream in streams)
    return np.array([(model.n_active_nodes_ or model.n_nodes_, model.n_clusters_) for model in models])


def experiments(X: np.ndarray, y: np.ndarray, setting: str) -> Iterable[np.ndarray]:
    """The streams of the paper's experiment, repeated with ten seeds."""
    for shuffle in range(N_SEEDS):
        for run in range(1, N_RUNS + 1):
            if setting == "stationary":
                yield stationary(X, y, N_RUNS * shuffle + run)
            else:
                steps = settings.class_incremental(X, y, run, within_seed=shuffle)
                yield X[np.concatenate(steps)]


def found(name: str, setting: str) -> list[np.ndarray]:
    """Counts for each column of the table."""
    X, y = data_set(name)
    single = counts(SETTINGS[setting](X, y, seed) for seed in range(1, N_RUNS + 1))
    return [single[:10], single, counts(experiments(X, y, setting))]


def main() -> int:
    """Print our means beside the published ones; returns how many of the last column are out of range."""
    tables = published()
    print(
        "Mean (standard deviation) over runs, and whether it lies within the published standard deviation\n"
    )
    heads = "".join(f"{column:>20}" for column in COLUMNS)
    print(f"{'data set':10} {'setting':14} {'count':9} {'published':>14}{heads}")
    fits = []
    for setting in SETTINGS:
        for name in DATA_SETS:
            ours = found(name, setting)
            for column, kind in enumerate(("nodes", "clusters")):
                mean, spread = tables[f"{setting}_nodes_clusters"][name]["IDAT"][kind]
                runs = [each[:, column] for each in ours]
                fits.append([abs(run.mean() - mean) <= spread for run in runs])
                cells = [f"{run.mean():.1f} ({run.std(ddof=1):.1f})" for run in runs]
                cells = "".join(
                    f"{cell:>16} {'yes' if fit else 'NO':3}"
                    for cell, fit in zip(cells, fits[-1], strict=True)
                )
                print(f"{name:10} {setting:14} {kind:9} {f'{mean} ({spread})':>14}{cells}")
    inside = np.sum(fits, axis=0)
    for column, count in zip(COLUMNS, inside, strict=True):
        print(f"\n{column}: {count} of {len(fits)} means lie within the published standard deviation.")
    return len(fits) - int(inside[-1])


if __name__ == "__main__":
    sys.exit(min(main(), 1))
