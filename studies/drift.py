"""Study of permanent cluster ids and of `max_nodes`, printed by `make drift`.

Ids: share of labels that change while a stream is learnt, with permanent ids and with clusters renumbered at
every call. Bound: scores with at most 200 and 500 nodes, and whether cost and memory stay constant.
"""

import time

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from benchmarks.speed.data import class_incremental, data_set
from everclust import IDAT

BOUNDS = (None, 500, 200)
MILLION = 1_000_000


def renumbered(labels: np.ndarray) -> np.ndarray:
    """Number clusters from 0 in the order of their first row."""
    names, first, group = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(names), int)
    number[np.argsort(first)] = np.arange(len(names))
    return number[group]


def label_changes(step: int = 100) -> None:
    """OptDigits class by class: labels of all samples learnt so far, before and after each step."""
    X = class_incremental(*data_set("optdigits"), seed=0)
    model, shares = IDAT().partial_fit(X[:step]), []
    for start in range(step, len(X), step):
        probes = X[:start]
        before = model.predict(probes)
        after = model.partial_fit(X[start : start + step]).predict(probes)
        shares.append([np.mean(before != after), np.mean(renumbered(before) != renumbered(after))])
    permanent, renumbering = 100 * np.mean(shares, axis=0)
    print(f"OptDigits class by class, labels that change per {step} samples:")
    print(f"  permanent ids {permanent:.1f} %, renumbered at every call {renumbering:.1f} %")


def wandering(rng: np.random.Generator, start: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Five round clusters that move together by one standard deviation per 5,000 samples and never return."""
    centres = 10 * np.random.default_rng(0).normal(size=(5, 8))
    label = rng.integers(5, size=n)
    shift = (start + np.arange(n))[:, None] / 5000
    return centres[label] + shift + rng.normal(size=(n, 8)), label


def scores() -> None:
    """AMI with and without `max_nodes`."""
    print("\nAMI of all rows at the end, and nodes")
    for name in ("letter", "optdigits"):
        X, y = data_set(name)
        for bound in BOUNDS:
            found = [_score(X, y, bound, seed) for seed in range(5)]
            ami, nodes = np.mean(found, axis=0)
            print(f"  {name:10} max_nodes={bound!s:5} AMI {ami:.3f}, nodes {nodes:.0f}")
    for bound in BOUNDS:
        rng, model = np.random.default_rng(1), IDAT(max_nodes=bound)
        for start in range(0, MILLION, 10_000):
            X, y = wandering(rng, start, 10_000)
            model.partial_fit(X)
        ami = adjusted_mutual_info_score(y, model.predict(X))
        print(
            f"  wandering  max_nodes={bound!s:5} AMI {ami:.3f} of the latest 10,000, nodes {model.n_nodes_}"
        )


def _score(X: np.ndarray, y: np.ndarray, bound: int | None, seed: int) -> tuple[float, int]:
    rows = np.arange(len(y), dtype=float)[:, None]
    order = class_incremental(rows, y, seed)[:, 0].astype(int)
    model = IDAT(max_nodes=bound).partial_fit(X[order])
    return adjusted_mutual_info_score(y, model.predict(X)), model.n_nodes_


def cost_over_time(n_millions: int = 10) -> None:
    """Cost and memory for each million of samples."""
    centres = 10 * np.random.default_rng(0).normal(size=(20, 8))

    def drifting(rng: np.random.Generator, start: int, n: int) -> np.ndarray:
        return rng.normal(size=(n, 8)) + (start + np.arange(n))[:, None] / 1000

    def stationary(rng: np.random.Generator, start: int, n: int) -> np.ndarray:
        return centres[rng.integers(20, size=n)] + rng.normal(size=(n, 8))

    for name, stream, n in (("a blob that drifts", drifting, n_millions), ("20 Gaussians", stationary, 5)):
        rng, model, times = np.random.default_rng(0), IDAT(max_nodes=200), []
        print(f"\n{name}, max_nodes=200, million by million")
        for million in range(n):
            took = 0.0
            for part in range(10):
                X = stream(rng, million * MILLION + part * MILLION // 10, MILLION // 10)
                start = time.process_time()
                model.partial_fit(X)
                took += time.process_time() - start
            times.append(took)
            memory = sum(array.nbytes for array in model._learner.state) / 1024
            print(f"  {million + 1}: {took:.2f} µs a sample, {model.n_nodes_} nodes, {memory:.0f} KiB")
        print(f"  the last million relative to the second: {times[-1] / times[1]:.2f} (at most 1.1)")


if __name__ == "__main__":
    label_changes()
    scores()
    cost_over_time()
