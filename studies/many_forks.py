"""Simulation of a large cluster, printed by `python -m studies.many_forks`: 1,000 forks of real shards.

Shards are learnt and merged as `everclust.adapters.spark.fit` does it, in one process: a base, a fork for
each shard, a tree of mergers with its fan-in, a recount of 20 rows a node. Prints what each level moves and
takes, and AMI on all rows beside that of one model that saw everything. Arguments: number of forks, names of
data sets.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from benchmarks.speed.data import data_set
from everclust import EverClust, merge, recount

FAN_IN, MOST_BASE, ROWS_A_NODE = 16, 2000, 20  # as in everclust.adapters.spark.learning


def rows_of(name: str, order: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes, shuffled; or shuffled, then sorted by class, so that shards see different classes."""
    X, y = data_set(name)
    rows = np.random.default_rng(11).permutation(len(X))
    if order == "class":
        rows = rows[np.argsort(y[rows], kind="stable")]
    return np.ascontiguousarray(X[rows], float), y[rows]


def n_bytes(model: EverClust, folder: str) -> int:
    """Bytes that a model has when it travels."""
    path = Path(folder) / "model"
    model.save(path)
    return path.stat().st_size


def forks_of(X: np.ndarray, n_forks: int) -> tuple[EverClust, list[EverClust]]:
    """A base of the heads of the shards, and a fork of it for each shard."""
    shards = np.array_split(X, n_forks)
    n_head = min(max(1, MOST_BASE // n_forks), len(shards[-1]) // 4)
    base = EverClust().partial_fit(np.concatenate([shard[:n_head] for shard in shards]))
    return base, [base.fork().partial_fit(shard[n_head:]) for shard in shards]


def merge_level(level: list[EverClust], base: EverClust) -> tuple[list[EverClust], float]:
    """The next level of the tree, and the seconds of its slowest group."""
    found, slowest = [], 0.0
    for start in range(0, len(level), FAN_IN):
        began = time.perf_counter()
        found.append(merge(level[start : start + FAN_IN], base))
        slowest = max(slowest, time.perf_counter() - began)
    return found, slowest


def simulate(name: str, order: str, n_forks: int) -> None:
    """Print the levels of one tree and its scores."""
    X, y = rows_of(name, order)
    base, level = forks_of(X, n_forks)
    single = EverClust().partial_fit(X)
    with tempfile.TemporaryDirectory() as folder:
        sizes = f"base {n_bytes(base, folder):,} bytes, single {n_bytes(single, folder):,} bytes"
        print(f"\n{name}, {order}: {len(X):,} x {X.shape[1]}, {n_forks:,} forks, {sizes}")
        print("| models | nodes of the largest | bytes moved | bytes of the largest | slowest group, s |")
        print("|---|---|---|---|---|")
        while len(level) > 1:
            sizes_of = [n_bytes(model, folder) for model in level]
            n_models, n_nodes = len(level), max(model.n_nodes_ for model in level)
            level, slowest = merge_level(level, base)
            print(f"| {n_models:,} | {n_nodes:,} | {sum(sizes_of):,} | {max(sizes_of):,} | {slowest:.2f} |")
        merged = level[0]
        assert merged.n_samples_seen_ == len(X)
        n_rows = min(ROWS_A_NODE * merged.n_nodes_, len(X))
        again = recount(merged, X[np.random.default_rng(12).choice(len(X), n_rows, replace=False)])
        cells = [
            f"{way}: {model.n_nodes_:,} nodes, {model.n_clusters_} clusters, "
            f"AMI {adjusted_mutual_info_score(y, model.predict(X)):.3f}"
            for way, model in {"single": single, "merged": merged, "merged, recounted": again}.items()
        ]
        print(f"merged model {n_bytes(again, folder):,} bytes; " + "; ".join(cells), flush=True)


def main(n_forks: int = 1000, *names: str) -> None:
    """Simulate every data set in both orders."""
    for name in names or ("shuttle", "skin", "letter"):
        for order in ("random", "class"):
            simulate(name, order, n_forks)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])  # type: ignore[arg-type]
