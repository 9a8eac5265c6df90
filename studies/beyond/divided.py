"""Tables of nodes that divide (division.py): scores with and without, false divisions, time.

python -m studies.beyond.divided find|confirm [seeds]
python -m studies.beyond.divided real [seeds] [names]
python -m studies.beyond.divided clouds
python -m studies.beyond.divided long
python -m studies.beyond.divided time
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict

import numpy as np

from everclust.core import learn as core
from everclust.core.communities.linked_nodes import base_nodes, links_of
from everclust.core.communities.valleys import find_clusters
from everclust.core.communities.voting import predict_by_vote, vote_weights
from everclust.core.layout import NO_CLUSTER
from everclust.core.readout import read_out
from everclust.core.state import new_state
from everclust.core.variants import CAPPED
from studies.beyond import runs
from studies.beyond.division import VALLEY, WHOLE, Rule, learn, n_nodes
from studies.beyond.streams import STREAMS, mixture

RULES = {"undivided": Rule(by_wholes=False, by_valleys=False), "divided": Rule()}
REAL = [name for name in runs.DEV + runs.HOLD_OUT if name not in ("shuttle", "isolet")]


def predicted(state, X):
    """Cluster of every row, without a previous answer."""
    base = base_nodes(state)
    links, before = links_of(state, base), np.full(len(base), NO_CLUSTER)
    label = np.zeros(len(base), np.int64)
    wins = state.node["wins"][base]
    label[:] = find_clusters(state.prototype[base], state.weight, links, before, 0.0, wins, np.inf)
    return predict_by_vote(read_out(state, base, by_scale=False), label, vote_weights(links, label), X)


def measured(X, y, setting, seed, rule):
    """ARI, AMI, nodes used more than once, clusters, and nodes divided by either finding."""
    rows = np.ascontiguousarray(X[runs.order_of(X, y, setting, seed)])
    state, sides = learn(rows, rule)
    table = runs.tabulate(predicted(state, X), y)
    divided = sides.divided[WHOLE], sides.divided[VALLEY]
    return runs.ari(table), runs.ami(table), len(base_nodes(state)), len(table), *divided


def shown(values):
    """One cell of a table."""
    return "{:.3f}/{:.3f} {:.1f} nodes, {:.1f} clusters, divided {:.1f} + {:.1f}".format(*values)


def compare(cells):
    """Print every source (cell, name, X, y, setting, seeds), and the mean of each cell over its sources."""
    means = defaultdict(list)
    for cell, name, X, y, setting, seeds in cells:
        for title, rule in RULES.items():
            values = np.mean([measured(X, y, setting, seed, rule) for seed in seeds], axis=0)
            means[f"{cell}, {setting}", title].append(values)
            print(f"{name[:40]:40} {setting[0]} {title:9} {shown(values)}", flush=True)
    for (cell, title), values in means.items():
        print(f"{cell:32} {title:9} {len(values):3} {shown(np.mean(values, axis=0))}", flush=True)


def generated(half, seeds):
    """One half of the generated streams."""
    for stream in STREAMS:
        if stream.half == half:
            for setting in runs.SETTINGS if stream.family != "one" else runs.SETTINGS[:1]:
                yield stream.family, stream.name, *stream.draw(), setting, seeds


def real(names, seeds):
    """Real sets."""
    for name in names:
        for setting in runs.SETTINGS:
            yield "real", name, *runs.load(name), setting, seeds


def longer():
    """Many clusters in longer streams, and a dozen in the plane."""
    shapes = [(50, 2, 3.0), (100, 2, 3.0), (100, 10, 3.0)]
    for k, d, gap in shapes:
        for n in (10_000, 40_000):
            X, y = mixture(np.random.RandomState(7000 + k + d), n, k, d, gap)
            yield f"{k} in {d}, {n}", f"{k} in {d}, {n}", X, y, "stationary", (1, 2)
    for n in (3000, 12_000):
        for seed in range(5):
            X, y = mixture(np.random.RandomState(7100 + seed), n, 12, 2, 4.0)
            yield f"12 in 2, {n}", f"12 in 2, {n}", X, y, "stationary", (1,)


def clouds():
    """Nodes, and nodes divided, in single clouds of 20,000 samples: nothing should be."""
    random = np.random.RandomState(8000)
    for d in (1, 2, 4, 8, 16, 32, 64):
        for name, X in (("normal", random.randn(20_000, d)), ("uniform", random.rand(20_000, d))):
            state, sides = learn(X)
            print(f"{name:8} d {d:2}: {n_nodes(state)} nodes, divided {sides.divided[1:]}", flush=True)


def clock():
    """Seconds that the core takes to learn, and that dividing nodes take, best of nine in turns."""
    learners = {
        "core": lambda X: core.learn(new_state(X.shape[1], CAPPED), X, CAPPED),
        "divided": lambda X: learn(X)[0],
    }
    for k, d in ((8, 2), (8, 10), (50, 10), (10, 64)):
        X, _ = mixture(np.random.RandomState(1), 20_000, k, d, 2.5)
        X = np.ascontiguousarray(np.random.RandomState(2).permutation(X))
        best, nodes = dict.fromkeys(learners, np.inf), {}
        for title, learner in 9 * list(learners.items()):
            start = time.perf_counter()
            nodes[title] = n_nodes(learner(X))
            best[title] = min(best[title], time.perf_counter() - start)
        print(f"k {k}, d {d}: nodes {nodes}", {title: round(s, 4) for title, s in best.items()}, flush=True)


def main():
    """Print the table that the arguments name."""
    what, *rest = sys.argv[1:] or ["find"]
    seeds = tuple(range(1, 1 + int(rest[0]))) if rest else (1,)
    if what in ("find", "confirm"):
        compare(generated(what, seeds))
    elif what == "real":
        compare(real(rest[1:] or REAL, seeds))
    elif what == "long":
        compare(longer())
    else:
        {"clouds": clouds, "time": clock}[what]()


if __name__ == "__main__":
    main()
