"""Tables of the study: which metric is better where, and what could tell.

python -m studies.metric.study scores | single | deciders | traits [find | confirm]
"""

from __future__ import annotations

import pickle
import sys

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from studies.beyond.runs import SETTINGS
from studies.metric.criteria import criteria, joint_labels, traits
from studies.metric.runs import FOLDER, data, path_of
from studies.metric.sets import SETS

SINGLE = ("euclidean", "capped", "root", "quantile", "mean")
SEEDS = (1, 2)


def scored(y, label):
    """(ARI, AMI)."""
    return adjusted_rand_score(y, label), adjusted_mutual_info_score(y, label)


def line_of(one, setting, seed):
    """Scores, criteria and traits of one run."""
    with np.load(path_of(one.name, setting, seed)) as file:
        run = dict(file)
    X, y = data(one)
    line = {"name": one.name, "kind": one.kind, "half": one.half, "setting": setting, "seed": seed}
    line["scores"] = {name: scored(y, run[f"{name}_label"]) for name in SINGLE}
    for crossed in (True, False):
        by_first, by_second = joint_labels(run, X, crossed)
        line["scores"]["joint" if crossed else "joint, not crossed"] = scored(y, by_first)
        line["scores"]["joint, by capped nodes" if crossed else "joint, not crossed, by capped"] = scored(y, by_second)
    return line | {"criteria": criteria(run, X), "traits": traits(run, X)}


def lines():
    """Of all runs that are stored."""
    path = FOLDER / "lines.pickle"
    known = pickle.loads(path.read_bytes()) if path.exists() else {}
    for one in SETS:
        for setting in SETTINGS:
            for seed in SEEDS:
                key = one.name, setting, seed
                if key not in known and path_of(*key).exists():
                    known[key] = line_of(one, setting, seed)
    path.write_bytes(pickle.dumps(known))
    return list(known.values())


def mean_of(chosen):
    """Mean ARI/AMI."""
    return "{:.3f}/{:.3f}".format(*np.mean(chosen, axis=0)) if chosen else "-"
