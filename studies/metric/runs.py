"""Learn every set in several metrics, once, and store what a decision may see and what it is judged by."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from everclust import EverClust
from everclust.core.communities.linked_nodes import base_of
from studies.beyond.runs import SETTINGS, order_of
from studies.metric.sets import SETS

FOLDER = Path(os.environ.get("METRIC_CACHE", "/tmp/metric_cache"))
LOOKS = [250, 500, 1000, 2000, 4000]  # samples
FACTORS = (1, 2, 4, 8, 16)
BOTH = ("euclidean", "capped")


def capped_at(variance, most):
    """Weights with which no variance is larger than `most`."""
    return np.minimum(1.0, most / np.maximum(variance, 1e-300))


def other_weights(variance):
    """Weights of metrics that the package does not have."""
    positive = variance[variance > 0]
    cap = capped_at(variance, np.median(positive))
    return {
        "root": np.sqrt(cap),
        "quantile": capped_at(variance, np.quantile(positive, 0.9)),
        "mean": 0.5 / variance.sum() + 0.5 * cap / (cap * variance).sum(),
    }


def learnt(rows, X, metric):
    """Clusters of X, and the nodes they were read out from."""
    model = EverClust(metric=metric).partial_fit(rows)
    base = base_of(model._learner.state)
    group = np.unique(model.node_labels_[base.nodes], return_inverse=True)[1]
    return {
        "label": model.predict(X).astype(np.int32),
        "position": base.position,
        "wins": base.wins,
        "links": base.links,
        "group": group,
        "weight": model.feature_weights_,
    }


def run(X, y, setting, seed):
    """Everything about one stream."""
    order = order_of(X, y, setting, seed)
    rows = np.ascontiguousarray(X[order])
    variance = X.var(axis=0)
    found = {"y": y, "variance": variance, "order": order}
    for metric in BOTH:
        found |= {f"{metric}_{key}": value for key, value in learnt(rows, X, metric).items()}
        for half in (0, 1):
            found[f"{metric}_half{half}"] = (
                EverClust(metric=metric).partial_fit(np.ascontiguousarray(rows[half::2])).predict(X)
            )
    for name, weight in other_weights(variance).items():
        root = np.sqrt(weight)
        found[f"{name}_label"] = EverClust(metric="euclidean").partial_fit(rows * root).predict(X * root)
    return found


def extra(X, y, setting, seed):
    """The cap from all rows instead of those so far, milder caps, and what is seen on the way."""
    rows = np.ascontiguousarray(X[order_of(X, y, setting, seed)])
    variance = X.var(axis=0)
    median = np.median(variance[variance > 0])
    found = {}
    for factor in (1, 2, 4):
        root = np.sqrt(capped_at(variance, factor * median))
        label = EverClust(metric="euclidean").partial_fit(rows * root).predict(X * root)
        found[f"final{factor}_label"] = label
    for metric in BOTH:
        model, done = EverClust(metric=metric), 0
        for stop in [*LOOKS[: np.searchsorted(LOOKS, len(rows))], len(rows)]:
            model.partial_fit(rows[done:stop])
            base, done = base_of(model._learner.state), stop
            found[f"{metric}_links_{stop}"] = base.links
            found[f"{metric}_group_{stop}"] = np.unique(model.node_labels_[base.nodes], return_inverse=True)[
                1
            ]
    return found


def caps(X, y, setting, seed):
    """The cap, from all rows, at multiples of the median."""
    rows = np.ascontiguousarray(X[order_of(X, y, setting, seed)])
    variance = X.var(axis=0)
    found = {}
    for factor in FACTORS:
        root = np.sqrt(capped_at(variance, factor * np.median(variance[variance > 0])))
        label = EverClust(metric="euclidean").partial_fit(rows * root).predict(X * root)
        found[f"cap{factor}_score"] = np.array(scored(y, label))
    for metric in BOTH:
        label = EverClust(metric=metric).partial_fit(rows).predict(X)
        found[f"{metric}_score"] = np.array(scored(y, label))
    return found


def stream(X, y, setting, seed):
    """The package's metric as it is now, learnt along the stream."""
    rows = np.ascontiguousarray(X[order_of(X, y, setting, seed)])
    return {"capped_score": np.array(scored(y, EverClust().partial_fit(rows).predict(X)))}


def scored(y, label):
    """(ARI, AMI)."""
    return adjusted_rand_score(y, label), adjusted_mutual_info_score(y, label)


def path_of(name, setting, seed, what="run"):
    """Where a run is stored."""
    return FOLDER / f"{name}__{setting}__{seed}{'' if what == 'run' else '__' + what}.npz"


def make(seed, what, half):
    """Learn and store the runs of one seed and half that are not there."""
    FOLDER.mkdir(exist_ok=True)
    of = {"run": run, "extra": extra, "caps": caps, "stream": stream}[what]
    for one in SETS:
        if one.half != half or all(path_of(one.name, s, seed, what).exists() for s in SETTINGS):
            continue
        X, y = data(one)
        for setting in SETTINGS:
            start = time.process_time()
            np.savez(path_of(one.name, setting, seed, what), **of(X, y, setting, seed))
            print(
                one.half, one.name, X.shape, setting, seed, f"{time.process_time() - start:.1f} s", flush=True
            )


def data(one):
    """X and y of a set, made once."""
    path = FOLDER / f"{one.name}.npz"
    if not path.exists():
        X, y = one.make()
        np.savez(path, X=X, y=y)
    with np.load(path) as file:
        return file["X"], file["y"]


if __name__ == "__main__":
    make(int(sys.argv[1]), *sys.argv[2:])
