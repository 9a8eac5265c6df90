"""Samples per second of clusterers in river on digits, printed by `make river`: one process, best of several.

Seconds are CPU time, so that other programs on the machine count little.

`python -m benchmarks.river search` prints how the settings of river's clusterers were found, and
`python -m benchmarks.river lags` what it costs to predict from older clusters: docs/river.md.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from river import cluster
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.metrics.pairwise import pairwise_distances_argmin

from benchmarks.speed.data import data_set
from everclust.adapters import river
from everclust.adapters.river import RiverEverClust

REPEATS = 5
SECONDS = 10  # at most, for one turn of a clusterer that predicts before it learns
# Those with the best AMI in `search`; of DBSTREAM, also the fastest of those with an AMI above 0.7.
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "DBSTREAM, best clusters": (
        "DBSTREAM",
        {
            "clustering_threshold": 25.9,
            "fading_factor": 0.0008,
            "cleanup_interval": 902,
            "intersection_factor": 0.14,
            "minimum_weight": 9.5,
        },
    ),
    "DBSTREAM, fastest": (
        "DBSTREAM",
        {
            "clustering_threshold": 29.5,
            "fading_factor": 0.0003,
            "cleanup_interval": 4,
            "intersection_factor": 0.44,
            "minimum_weight": 5.9,
        },
    ),
    "DenStream": (
        "DenStream",
        {"epsilon": 30.0, "decaying_factor": 0.0052, "beta": 0.94, "mu": 2.5, "n_samples_init": 84},
    ),
    "CluStream": (
        "CluStream",
        {
            "n_macro_clusters": 10,
            "max_micro_clusters": 64,
            "micro_cluster_r_factor": 3.4,
            "time_window": 1876,
            "time_gap": 70,
            "halflife": 0.86,
            "mu": 4.9,
            "sigma": 0.4,
            "seed": 0,
        },
    ),
    "STREAMKMeans": (
        "STREAMKMeans",
        {"n_clusters": 10, "chunk_size": 194, "halflife": 0.97, "mu": 4.9, "sigma": 0.2, "seed": 0},
    ),
}


def digits(seed: int) -> tuple[list[dict[int, float]], np.ndarray]:
    """Shuffled digits as dicts, and their classes."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    return [dict(enumerate(row)) for row in X[order].tolist()], y[order]


def learn(model: Any, rows: list[dict[int, float]]) -> Any:
    """Learn all rows, none of which may wait in the end."""
    for x in rows:
        model.learn_one(x)
    if isinstance(model, RiverEverClust):
        model._learn_waiting()
    return model


def found(model: Any, rows: list[dict[int, float]]) -> np.ndarray:
    """Cluster of every row, after all were learnt."""
    if isinstance(model, cluster.DenStream):  # would group its micro-clusters for every row: the same answers
        model.predict_one(rows[0])
        centres = [[centre[j] for j in rows[0]] for centre in model.centers.values()]
        return pairwise_distances_argmin([list(x.values()) for x in rows], centres)
    return np.array([model.predict_one(x) for x in rows])


def drawn(name: str, rng: np.random.Generator) -> dict[str, Any]:
    """Settings of one of river's clusterers; distances are of the size of those between digits."""

    def log(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))).round(4))

    if name == "DBSTREAM":
        return {
            "clustering_threshold": round(rng.uniform(12, 36), 1),
            "fading_factor": log(1e-4, 0.1),
            "cleanup_interval": int(rng.integers(2, 1000)),
            "intersection_factor": round(rng.uniform(0.05, 0.5), 2),
            "minimum_weight": round(rng.uniform(1, 10), 1),
        }
    if name == "DenStream":
        return {
            "epsilon": round(rng.uniform(8, 36), 1),
            "decaying_factor": log(1e-3, 1),
            "beta": round(rng.uniform(0.51, 1), 2),
            "mu": round(rng.uniform(2, 10), 1),
            "n_samples_init": int(rng.integers(10, 100)),
        }
    if name == "CluStream":
        return {
            "n_macro_clusters": 10,
            "max_micro_clusters": int(rng.integers(20, 100)),
            "micro_cluster_r_factor": round(rng.uniform(1, 4), 1),
            "time_window": int(rng.integers(100, 2000)),
            "time_gap": int(rng.integers(10, 100)),
            "halflife": round(rng.uniform(0.05, 1), 2),
            "mu": 4.9,  # the mean pixel, where its centres begin
            "sigma": round(rng.uniform(0.1, 8), 1),
            "seed": 0,
        }
    return {
        "n_clusters": 10,
        "chunk_size": int(rng.integers(10, 200)),
        "halflife": round(rng.uniform(0.05, 1), 2),
        "mu": 4.9,
        "sigma": round(rng.uniform(0.1, 8), 1),
        "seed": 0,
    }


def search() -> None:
    """Draw settings and print those with the best AMI, with seconds of learning."""
    rows, y = digits(seed=1)
    for name, n_draws in {"DBSTREAM": 40, "DenStream": 40, "CluStream": 8, "STREAMKMeans": 40}.items():
        rng, tried = np.random.default_rng(0), []
        for _ in range(n_draws):
            settings = drawn(name, rng)
            start = time.process_time()
            try:
                model = learn(getattr(cluster, name)(**settings), rows)
                took = time.process_time() - start
                labels = found(model, rows)
            except (ValueError, KeyError, ZeroDivisionError, OverflowError):
                continue
            tried.append((adjusted_mutual_info_score(y, labels), took, len(set(labels)), str(settings)))
        print(name, len(tried))
        for score, took, n, settings in sorted(tried, reverse=True)[:8]:
            print(f"  AMI {score:.3f}, {took:.2f} s, {n} clusters: {settings}", flush=True)


def predict_and_learn(
    model: Any, rows: list[dict[int, float]], limit: float = SECONDS
) -> tuple[list[int], float]:
    """Predict each row before it is learnt, as river evaluates; returns predictions, CPU seconds per row."""
    predicted, start = [], time.process_time()
    for x in rows:
        predicted.append(model.predict_one(x))
        model.learn_one(x)
        if time.process_time() - start > limit:
            break
    return predicted, (time.process_time() - start) / len(predicted)


def seconds_to_learn(make: Callable[[], Any], rows: list[dict[int, float]]) -> float:
    """CPU seconds per row."""
    model, start = make(), time.process_time()
    learn(model, rows)
    return (time.process_time() - start) / len(rows)


def speed() -> None:
    """A table of speed and of how good the clusters are."""
    rows, y = digits(seed=0)
    makers: dict[str, Callable[[], Any]] = {
        "EverClust": RiverEverClust,
        "IDAT": lambda: RiverEverClust("idat"),
    }
    for title, (name, settings) in SETTINGS.items():
        makers[title] = lambda name=name, settings=settings: getattr(cluster, name)(**settings)
    for make in makers.values():
        learn(make(), rows).predict_one(rows[0])  # compiled kernels are loaded
    turns = [[seconds_to_learn(make, rows) for make in makers.values()] for _ in range(REPEATS)]
    learnt_in = dict(zip(makers, np.min(turns, axis=0), strict=True))
    print("EverClust relative to DBSTREAM in each turn:", [round(turn[2] / turn[0], 1) for turn in turns])
    print("| | learn, samples/s | EverClust relative to it | predict, then learn | AMI | clusters |")
    print("|---|---|---|---|---|---|")
    for title, make in makers.items():
        labels = found(learn(make(), rows), rows)
        both = min(predict_and_learn(new_for(make, title), rows)[1] for _ in range(2))
        print(
            f"| {title} | {1 / learnt_in[title]:,.0f} | {learnt_in[title] / learnt_in['EverClust']:.1f} "
            f"| {1 / both:,.0f} | {adjusted_mutual_info_score(y, labels):.3f} | {len(set(labels))} |",
            flush=True,
        )


def new_for(make: Callable[[], Any], title: str) -> Any:
    """A model that can predict: STREAMKMeans has no clusters before its first chunk."""
    model = make()
    if title == "STREAMKMeans":
        learn(model, digits(seed=2)[0][: model.chunk_size])
    return model


def streams() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Data sets of 3,000 rows at most, shuffled and sorted by class."""
    found = {}
    for name in ("digits", "optdigits", "penbased", "letter"):
        X, y = load_digits(return_X_y=True) if name == "digits" else data_set(name)
        order = np.random.default_rng(5).permutation(len(X))[:3000]
        found[f"{name}, shuffled"] = X[order], y[order]
        order = order[np.argsort(y[order], kind="stable")]
        found[f"{name}, by class"] = X[order], y[order]
    return found


def lags() -> None:
    """AMI of predictions before learning, and samples per second, for other lags."""
    chosen, tried = river.LAG, (10**9, 128, 64, 32, 16)
    print("| | " + " | ".join("none" if lag == 10**9 else f"1/{lag}" for lag in tried) + " |")
    for title, (X, y) in streams().items():
        rows, cells = [dict(enumerate(row)) for row in X.tolist()], []
        for lag in tried:
            river.LAG = lag
            predicted, seconds = predict_and_learn(RiverEverClust(), rows, limit=np.inf)
            score = adjusted_mutual_info_score(y, predicted)
            cells.append(f"{score:.3f}, {1 / seconds:,.0f}/s")
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    river.LAG = chosen


if __name__ == "__main__":
    {"": speed, "search": search, "lags": lags}["".join(sys.argv[1:])]()
