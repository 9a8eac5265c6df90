"""EverClust beside clustering that scikit-learn users know, on data that installs with scikit-learn.

    python -m benchmarks.choose

prints the table of docs/choose.md: AMI and the number of clusters, means over five orders of the rows.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, Birch, KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.preprocessing import StandardScaler

from everclust import IDAT, EverClust

SEEDS = range(5)
Rows = tuple[np.ndarray, np.ndarray]
ALGORITHMS: dict[str, Callable[[int], object]] = {
    "EverClust": lambda k: EverClust(),
    "IDAT": lambda k: IDAT(),
    "k-means, told k": lambda k: KMeans(k, n_init=10, random_state=0),
    "HDBSCAN": lambda k: HDBSCAN(copy=True),
    "Birch, told k": lambda k: Birch(n_clusters=k),
}


def one_cloud(seed: int) -> Rows:
    """No clusters at all: one normal distribution."""
    return np.random.default_rng(seed).normal(size=(5000, 4)), np.zeros(5000, int)


def background(seed: int) -> Rows:
    """Five groups on a background of a fifth of the rows, which is a class of its own."""
    X, y = make_blobs(4000, centers=5, random_state=seed)
    noise = np.random.default_rng(seed).uniform(X.min(axis=0), X.max(axis=0), (1000, 2))
    return np.concatenate([X, noise]), np.concatenate([y, np.full(1000, 5)])


DATA: dict[str, Callable[[int], Rows]] = {
    "digits (1,797 × 64)": lambda seed: load_digits(return_X_y=True),
    "wine, standardised (178 × 13)": lambda seed: standardised(load_wine(return_X_y=True)),
    "wine (178 × 13)": lambda seed: load_wine(return_X_y=True),
    "iris (150 × 4)": lambda seed: load_iris(return_X_y=True),
    "20 groups (5,000 × 8)": lambda seed: make_blobs(5000, 8, centers=20, random_state=seed),
    "two moons (5,000 × 2)": lambda seed: make_moons(5000, noise=0.06, random_state=seed),
    "two rings (5,000 × 2)": lambda seed: make_circles(5000, noise=0.05, factor=0.4, random_state=seed),
    "5 groups and background (5,000 × 2)": background,
    "one cloud (5,000 × 4)": one_cloud,
}


def standardised(rows: Rows) -> Rows:
    """Features with mean 0 and variance 1."""
    return StandardScaler().fit_transform(rows[0]), rows[1]


def runs(data: Callable[[int], Rows], algorithm: Callable[[int], Any]) -> Iterator[tuple[float, int]]:
    """(AMI, number of clusters) for every order of the rows."""
    for seed in SEEDS:
        X, y = data(seed)
        order = np.random.default_rng(seed).permutation(len(X))
        labels = algorithm(len(np.unique(y))).fit_predict(X[order])
        yield adjusted_mutual_info_score(y[order], labels), len(set(labels.tolist()) - {-1})


def cell(data: Callable[[int], Rows], algorithm: Callable[[int], Any]) -> str:
    """Means as text."""
    ami, n_clusters = np.mean(list(runs(data, algorithm)), axis=0)
    return f"{ami:.2f} ({n_clusters:.0f})"


def main() -> None:
    """Print the table."""
    print("| |", " | ".join(ALGORITHMS), "|")
    print("|---" * (1 + len(ALGORITHMS)) + "|")
    for name, data in DATA.items():
        print(
            f"| {name} |",
            " | ".join(cell(data, algorithm) for algorithm in ALGORITHMS.values()),
            "|",
            flush=True,
        )


if __name__ == "__main__":
    main()
