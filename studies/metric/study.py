"""Tables of the study: single metrics, ways to decide between two, traits of features, and every set.

python -m studies.metric.study single|deciders|traits|caps|sets find|confirm
"""

from __future__ import annotations

import pickle
import sys

import numpy as np

from studies.beyond.runs import SETTINGS
from studies.metric.criteria import criteria, joint_labels, traits
from studies.metric.runs import BOTH, FACTORS, FOLDER, data, path_of, scored
from studies.metric.sets import SETS

SINGLE = ("euclidean", "capped", "root", "quantile", "mean")
SEEDS = (1, 2)
KINDS = ("raw", "scaled")


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
        line["scores"]["joint, by capped nodes" if crossed else "joint, not crossed, by capped"] = scored(
            y, by_second
        )
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
    return "{:.3f}/{:.3f}".format(*np.mean(chosen, axis=0)) if len(chosen) else "-"


def show(title, found, choose):
    """One line of a table: raw and scaled sets, all and in either order."""
    cells = []
    for kind in KINDS:
        for settings in (SETTINGS, SETTINGS[:1], SETTINGS[1:]):
            chosen = [choose(one) for one in found if one["kind"] == kind and one["setting"] in settings]
            cells.append(mean_of(chosen))
    sys.stdout.write(f"| {title} | {' | '.join(cells)} |\n")


def by(line, is_capped):
    """Scores of the metric chosen."""
    return line["scores"][BOTH[int(is_capped)]]


def single(found):
    """Metrics that need no decision."""
    for name in found[0]["scores"]:
        show(name, found, lambda line, name=name: line["scores"][name])
    show("the better of the first two", found, lambda line: max(by(line, 0), by(line, 1), key=sum))


def deciders(found):
    """The metric whose clusters have the higher criterion."""
    for name in found[0]["criteria"]:
        show(name, found, lambda line, name=name: by(line, np.diff(line["criteria"][name])[0] > 0))


def decided_traits(found):
    """The cap where a trait is on one side of a bound, which was the best on the find half."""
    known = [line for line in lines() if line["half"] == "find"]
    for name in known[0]["traits"]:
        sign, bound = max(bounds(known, name), key=lambda side: balance(known, name, *side))
        title = f"{name} {'above' if sign > 0 else 'below'} {bound:.3g}"
        show(
            title,
            found,
            lambda line, name=name, s=sign, b=bound: by(line, s * (line["traits"][name] - b) > 0),
        )


def bounds(found, name):
    """All that part the values of a trait, from either side."""
    values = np.unique([line["traits"][name] for line in found])
    return [(sign, bound) for sign in (1, -1) for bound in (values[1:] + values[:-1]) / 2]


def balance(found, name, sign, bound):
    """Mean score of both kinds."""
    return np.mean(
        [
            np.mean([by(a, sign * (a["traits"][name] - bound) > 0) for a in found if a["kind"] == kind])
            for kind in KINDS
        ]
    )


def caps(found):
    """Caps at multiples of the median, all stored seeds."""
    half = found[0]["half"]
    stored = []
    for one in SETS:
        for path in sorted(FOLDER.glob(f"{one.name}__*__caps.npz")) if one.half == half else ():
            with np.load(path) as file:
                scores = {name.removesuffix("_score"): file[name] for name in file.files}
            stored.append({"kind": one.kind, "setting": path.stem.split("__")[1], "scores": scores})
    for name in ("euclidean", *(f"cap{factor}" for factor in FACTORS), "capped"):
        show(name, stored, lambda line, name=name: line["scores"][name])


def sets(found):
    """Every set, mean of all its runs."""
    for name in dict.fromkeys(line["name"] for line in found):
        mine = [line for line in found if line["name"] == name]
        cells = [mean_of([line["scores"][metric] for line in mine]) for metric in BOTH]
        ratio = mine[0]["traits"]["largest over median variance"]
        correlation = mine[0]["traits"]["mean absolute correlation"]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} | {ratio:.3g} | {correlation:.2f} |\n")


TABLES = {"single": single, "deciders": deciders, "traits": decided_traits, "caps": caps, "sets": sets}

if __name__ == "__main__":
    TABLES[sys.argv[1]]([line for line in lines() if line["half"] == sys.argv[2]])
