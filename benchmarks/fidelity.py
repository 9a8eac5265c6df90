"""Does everclust find as many nodes and clusters as the paper reports? `make fidelity` prints the table."""

import sys

import numpy as np
from data import class_incremental, data_set, stationary

from everclust import IDAT
from everclust.benchmark.published import published

DATA_SETS = ["iris", "seeds", "yeast", "semeion", "optdigits", "statlog", "letter"]
SETTINGS = {"stationary": stationary, "nonstationary": class_incremental}
N_RUNS = (10, 30, 300)  # the paper has 30; with 10, chance alone moves a mean by a third of the spread


def counts(name: str, setting: str) -> np.ndarray:
    """Nodes and clusters as the paper counts them (candidates only), one row per run, seeds 1, 2, …"""
    X, y = data_set(name)
    found = []
    for seed in range(1, max(N_RUNS) + 1):
        model = IDAT().partial_fit(SETTINGS[setting](X, y, seed))
        found.append((model.n_active_nodes_ or model.n_nodes_, model.n_clusters_))
    return np.array(found)


def main() -> int:
    """Print ours beside the published means; returns how many means over all runs are out of range."""
    tables = published()
    print(
        "Mean (standard deviation) over runs, and whether it lies within the published standard deviation\n"
    )
    heads = "".join(f"{f'{n} runs':>20}" for n in N_RUNS)
    print(f"{'data set':10} {'setting':14} {'count':9} {'published':>14}{heads}")
    fits = []
    for setting in SETTINGS:
        for name in DATA_SETS:
            ours = counts(name, setting)
            for column, kind in enumerate(("nodes", "clusters")):
                mean, spread = tables[f"{setting}_nodes_clusters"][name]["IDAT"][kind]
                runs = [ours[:n, column] for n in N_RUNS]
                fits.append([abs(run.mean() - mean) <= spread for run in runs])
                cells = [f"{run.mean():.1f} ({run.std(ddof=1):.1f})" for run in runs]
                cells = "".join(
                    f"{cell:>16} {'yes' if fit else 'NO':3}"
                    for cell, fit in zip(cells, fits[-1], strict=True)
                )
                print(f"{name:10} {setting:14} {kind:9} {f'{mean} ({spread})':>14}{cells}")
    inside = np.sum(fits, axis=0)
    for n, count in zip(N_RUNS, inside, strict=True):
        print(f"\n{n} runs: {count} of {len(fits)} means lie within the published standard deviation.")
    return len(fits) - int(inside[-1])


if __name__ == "__main__":
    sys.exit(min(main(), 1))
