"""Learn once, store what a read-out may see, and score any labelling of the nodes from that alone.

A run is learnt once per (stream, setting, seed, metric) and kept in a folder. With the contingency table of
base nodes and classes, ARI and AMI of a labelling of the nodes follow in milliseconds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics.cluster import expected_mutual_information

from everclust import IDAT
from everclust.benchmark.run.settings import class_incremental, stationary
from everclust.core.communities.linked_nodes import base_nodes
from everclust.core.handovers import handovers
from everclust.core.learn import learn
from everclust.core.state import new_state, scalars_of
from everclust.core.variants import PUBLISHED
from studies.beyond.streams import STREAMS

FOLDER = Path(os.environ.get("BEYOND_CACHE", "/tmp/beyond_cache"))
DATA = Path(os.environ.get("EVERCLUST_DATA", Path(__file__).parents[3] / "shared" / "data"))
DEV = ["seeds", "dermatology", "yeast", "image_segmentation", "phoneme", "optdigits"]
DEV += ["statlog", "penbased", "rice", "semeion"]
HOLD_OUT = ["iris", "pima", "mice_protein_uci", "binalpha", "tuandromd", "texture"]
HOLD_OUT += ["anuran_calls", "letter", "isolet", "shuttle", "msra25_256"]
SETTINGS = ("stationary", "class-incremental")
CHUNK = 2048


class Run(NamedTuple):
    """What a read-out may see, and what it is judged by."""

    prototype: np.ndarray  # of the base nodes
    usage: np.ndarray
    links: np.ndarray  # (i, j, count) between base nodes
    weight: np.ndarray  # ω
    table: np.ndarray  # rows nearest to every base node, by class
    plain: np.ndarray  # table of IDAT's own clusters and classes (metric plain only)


def order_of(X, y, setting, seed):
    """Row numbers in the order learnt."""
    if setting == "stationary":
        return stationary(X, y, seed)
    return np.concatenate(class_incremental(X, y, seed, reshuffle_within_class=True))


def nearest(X, prototype, weight):
    """Nearest node of every row."""
    root = np.sqrt(weight)
    nodes = prototype * root
    middle = nodes.mean(axis=0)
    nodes = nodes - middle
    square = (nodes**2).sum(axis=1)
    winner = np.empty(len(X), np.int64)
    for start in range(0, len(X), CHUNK):
        rows = X[start : start + CHUNK] * root - middle
        winner[start : start + CHUNK] = np.argmin(square - 2 * rows @ nodes.T, axis=1)
    return winner


def tabulate(label, y):
    """Contingency table."""
    label, y = np.unique(label, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    table = np.zeros((label.max() + 1, y.max() + 1), np.int64)
    np.add.at(table, (label, y), 1)
    return table


def base_links(state, base):
    """(i, j, count) among base nodes, by their places in base."""
    place = np.full(scalars_of(state).n_nodes, -1)
    place[base] = np.arange(len(base))
    first, second, count = handovers(state).T
    inside = (place[first] >= 0) & (place[second] >= 0)
    return np.stack([place[first], place[second], count], axis=1)[inside]


def learnt(X, y, setting, seed, metric):
    """One run."""
    variant = PUBLISHED._replace(capped=metric == "capped")
    rows = np.ascontiguousarray(X[order_of(X, y, setting, seed)])
    state = learn(new_state(X.shape[1], variant), rows, variant)
    base = base_nodes(state)
    prototype, weight = state.prototype[base].copy(), state.weight.copy()
    table = np.zeros((len(base), len(np.unique(y))), np.int64)
    np.add.at(table, (nearest(X, prototype, weight), np.unique(y, return_inverse=True)[1]), 1)
    plain = np.zeros((0, 0), np.int64)
    if metric == "plain":
        plain = tabulate(IDAT().partial_fit(rows).predict(X), y)
    return Run(prototype, state.node["usage"][base].copy(), base_links(state, base), weight, table, plain)


def cached(name, draw, setting, seed, metric):
    """The run of that name, learnt now or earlier."""
    path = FOLDER / f"{name}__{setting}__{seed}__{metric}.npz"
    if path.exists():
        with np.load(path) as file:
            return Run(*(file[field] for field in Run._fields))
    FOLDER.mkdir(exist_ok=True)
    X, y = draw()
    run = learnt(X, y, setting, seed, metric)
    np.savez(path, **run._asdict())
    return run


def generated(half, metric, seeds=(1, 2)):
    """(stream, setting, run) of one half of the generated streams."""
    for stream in STREAMS:
        if stream.half == half:
            for setting in SETTINGS if stream.family != "one" else SETTINGS[:1]:
                for seed in seeds:
                    yield stream, setting, cached(stream.name, stream.draw, setting, seed, metric)


def load(name):
    """X and y of a real set."""
    with np.load(DATA / f"{name}.npz") as file:
        return np.ascontiguousarray(file["X"], dtype=float), file["y"]


def real(names, setting, metric, seeds=(1, 2)):
    """(name, run) of real sets."""
    for name in names:
        for seed in seeds[:1] if name == "shuttle" else seeds:
            yield name, cached(name, lambda name=name: load(name), setting, seed, metric)


def merged(table, label):
    """The table with the rows of equal label added up."""
    out = np.zeros((label.max() + 1, table.shape[1]), np.int64)
    np.add.at(out, label, table)
    return out[out.sum(axis=1) > 0]


def pairs(n):
    """Number of pairs among n things."""
    return (n * (n - 1) / 2).sum()


def ari(table):
    """Adjusted Rand index; for one class 1 if one cluster is found, else 0."""
    if table.shape[1] == 1 or table.shape[0] == 1:
        return float(table.shape[0] == table.shape[1])
    both, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    chance = rows * columns / pairs(table.sum())
    return (both - chance) / ((rows + columns) / 2 - chance)


def entropy(counts):
    """Of shares given by counts."""
    share = counts[counts > 0] / counts.sum()
    return -(share * np.log(share)).sum()


def ami(table):
    """Adjusted mutual information (arithmetic mean); one class as for `ari`."""
    if table.shape[1] == 1 or table.shape[0] == 1:
        return float(table.shape[0] == table.shape[1])
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    information = entropy(rows) + entropy(columns) - entropy(table.ravel())
    chance = expected_mutual_information(table, int(table.sum()))
    return (information - chance) / ((entropy(rows) + entropy(columns)) / 2 - chance)
