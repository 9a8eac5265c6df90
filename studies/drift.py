"""What permanent identities and a bound on nodes are worth: `make drift` prints this.

Labels: how many probe labels change while a stream is learnt, with permanent ids and with clusters numbered
anew at every call. Bound: scores with at most 200 and 500 nodes, and whether cost stays flat for ever.
"""

import time

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from benchmarks.speed.data import class_incremental, data_set
from everclust import IDAT

BOUNDS = (None, 500, 200)
MILLION = 1_000_000


def numbered_anew(labels: np.ndarray) -> np.ndarray:
    """Clusters counted from 0 in the order in which the rows meet them."""
    names, first, place = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(names), int)
    number[np.argsort(first)] = np.arange(len(names))
    return number[place]


def label_changes(step: int = 100) -> None:
    """OptDigits class by class: probes are the samples that were learnt before."""
    X = class_incremental(*data_set("optdigits"), seed=0)
    model, shares = IDAT().partial_fit(X[:step]), []
    for start in range(step, len(X), step):
        probes = X[:start]
        before = model.predict(probes)
        after = model.partial_fit(X[start : start + step]).predict(probes)
        shares.append([np.mean(before != after), np.mean(numbered_anew(before) != numbered_anew(after))])
    permanent, anew = 100 * np.mean(shares, axis=0)
    print(f"OptDigits class by class, labels that change per {step} samples:")
    print(f"  permanent ids {permanent:.1f} %, numbered anew at every call {anew:.1f} %")


def wandering(rng: np.random.Generator, start: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Five round clusters that walk together, one spread per 5,000 samples, and meet nothing twice."""
    centres = 10 * np.random.default_rng(0).normal(size=(5, 8))
    label = rng.integers(5, size=n)
    way = (start + np.arange(n))[:, None] / 5000
    return centres[label] + way + rng.normal(size=(n, 8)), label


def scores() -> None:
    """AMI with and without a bound."""
    print("\nAMI of all rows in the end, and nodes")
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


def flatness(n_millions: int = 10) -> None:
    """Cost and memory, million by million."""
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
    flatness()
