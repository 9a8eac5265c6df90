"""Tables of the study: generated streams, real sets, steadiness, time.

    python -m studies.beyond.study generated find|confirm [seeds]
    python -m studies.beyond.study real [seeds]
    python -m studies.beyond.study steady [seeds]
    python -m studies.beyond.study time

Runs are learnt once and kept in BEYOND_CACHE (/tmp/beyond_cache); real sets are read from EVERCLUST_DATA.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict

import numpy as np
from scipy.optimize import linear_sum_assignment

from everclust.core.communities.linked_nodes import base_nodes, compact, links_of
from everclust.core.communities.valleys import find_clusters
from everclust.core.communities.voting import predict_by_vote, vote_weights
from everclust.core.layout import NO_CLUSTER
from everclust.core.learn import learn
from everclust.core.readout import read_out
from everclust.core.state import new_state
from everclust.core.variants import PUBLISHED
from studies.beyond import modularity, readout, runs
from studies.beyond.streams import STREAMS

CAPPED = PUBLISHED._replace(capped=True)
STEP, FIRST, N_PROBES = 500, 1000, 500
WATCHED = [*runs.DEV[3:9], "semeion", "texture", "anuran_calls", "tuandromd", "yeast"]


def handover(run):
    """The read-out of the specification."""
    label = np.zeros(len(run.usage), np.int64)
    modularity.find_communities(run.prototype, run.weight, run.links, label)
    return label


def cloud(run):
    """The read-out of this study."""
    return readout.clusters(run.prototype, run.weight, run.links)


def oracle(run):
    """Every node in the class of most of its rows: what no labelling of the nodes can beat by much."""
    return np.unique(run.table.argmax(axis=1), return_inverse=True)[1]


def score(table):
    """ARI, AMI, number of clusters."""
    return runs.ari(table), runs.ami(table), len(table)


def columns(capped, plain):
    """Scores of every compared answer for one run with each metric."""
    return {
        "IDAT": score(plain.plain),
        "H+birth": score(runs.merged(plain.table, handover(plain))),
        "cloud": score(runs.merged(plain.table, cloud(plain))),
        "H+cap+birth": score(runs.merged(capped.table, handover(capped))),
        "cap+cloud": score(runs.merged(capped.table, cloud(capped))),
        "oracle": score(runs.merged(capped.table, oracle(capped))),
    }


def print_table(cells):
    """Means of ARI/AMI (clusters) per row, and over rows."""
    names = list(next(iter(cells.values()))[0])
    print(f"{'':42}" + "".join(f"{name:>18}" for name in names))
    means = {
        row: {name: np.mean([s[name] for s in scores], axis=0) for name in names}
        for row, scores in cells.items()
    }
    for row, of in means.items():
        print(
            f"{row[:42]:42}"
            + "".join("{:>8.3f}/{:.3f} ({:3.0f})".format(*of[name])[-18:].rjust(18) for name in names)
        )
    mean = {name: np.mean([of[name] for of in means.values()], axis=0) for name in names}
    print(f"{'mean':42}" + "".join(f"{mean[name][0]:.3f}/{mean[name][1]:.3f}".rjust(18) for name in names))


def generated(half, seeds):
    """By stream, and by family and order."""
    streams, families = defaultdict(list), defaultdict(list)
    pairs = zip(runs.generated(half, "capped", seeds), runs.generated(half, "plain", seeds), strict=True)
    for (stream, setting, capped), (_, _, plain) in pairs:
        row = columns(capped, plain)
        streams[f"{setting[0]} {stream.name}"].append(row)
        families[f"{stream.family}, {setting}"].append(row)
    print_table(streams)
    print_table(dict(sorted(families.items())))


def real(seeds):
    """By set and setting."""
    for setting in runs.SETTINGS:
        for title, names in (("DEV", runs.DEV), ("HOLD-OUT", runs.HOLD_OUT)):
            cells = defaultdict(list)
            pairs = zip(
                runs.real(names, setting, "capped", seeds),
                runs.real(names, setting, "plain", seeds),
                strict=True,
            )
            for (name, capped), (_, plain) in pairs:
                cells[name].append(columns(capped, plain))
            print(f"\n{title}, {setting}")
            print_table(cells)


def changed(before, after):
    """Share of the probes whose label changes, under the best matching of the labels."""
    table = np.zeros((before.max() + 1, after.max() + 1))
    np.add.at(table, (before, after), 1)
    return 1 - table[linear_sum_assignment(-table)].sum() / len(before)


def watch(X, y, setting, seed, answers):
    """Changes of the probes' labels and of the number of clusters between read-outs, and ARI, by answer."""
    rows = np.ascontiguousarray(X[runs.order_of(X, y, setting, seed)])
    probes = X[np.random.RandomState(seed).permutation(len(X))[:N_PROBES]]
    state, last, labelled, moves = new_state(X.shape[1], CAPPED), {}, {}, defaultdict(list)
    for start in range(0, len(rows), STEP):
        state = learn(state, rows[start : start + STEP], CAPPED)
        base = base_nodes(state)
        birth, share = state.node["birth"][base], start / min(start + STEP, len(rows))
        for name, answer in answers.items():
            known, seen = last.get(name, ({}, None))
            before = np.array([known.get(b, NO_CLUSTER) for b in birth.tolist()])
            label, of_rows = answer(state, base, before, share)
            found = of_rows(probes)
            if seen is not None and start + STEP > FIRST:
                moves[name].append((changed(seen, found), seen.max() != found.max()))
            last[name] = dict(zip(birth.tolist(), label.tolist(), strict=True)), found
            labelled[name] = of_rows
    return {
        name: (*np.mean(values, axis=0), runs.ari(runs.tabulate(labelled[name](X), y)))
        for name, values in moves.items()
    }


def by_modularity(state, base, before, share):
    """The read-out of the specification: labels of nodes, and how rows are labelled."""
    label = modularity.by_modularity(state, base, links_of(state, base))
    prototype, weight = state.prototype[base], state.weight.copy()
    return label, lambda X: label[runs.nearest(X, prototype, weight)]


def steadily(state, base, before, share):
    """The read-out of the package, likewise."""
    label, links = np.zeros(len(base), np.int64), links_of(state, base)
    nodes, wins = state.prototype[base], state.node["wins"][base]
    label[:] = find_clusters(nodes, state.weight, links, compact(before), share, wins, np.inf)
    candidates, voice = read_out(state, base, by_scale=False), vote_weights(links, label)
    return label, lambda X: predict_by_vote(candidates, label, voice, X)


def afresh(state, base, before, share):
    """The same without a previous answer."""
    return steadily(state, base, np.full_like(before, NO_CLUSTER), share)


ANSWERS = {"H+cap+birth": by_modularity, "without a memory": afresh, "shipped": steadily}


def steady(seeds):
    """Shares of probes that change their label, and of read-outs with another number of clusters; ARI."""
    chosen = [stream for stream in STREAMS if stream.family not in ("many", "high")]
    for setting in runs.SETTINGS:
        sources = {s.name: s.draw() for s in chosen if s.family != "one" or setting == "stationary"}
        for title, cells in (("generated", sources), ("real", {name: runs.load(name) for name in WATCHED})):
            table = []
            for name, (X, y) in cells.items():
                watched = [watch(X, y, setting, seed, ANSWERS) for seed in seeds]
                moves = {answer: np.mean([found[answer] for found in watched], axis=0) for answer in ANSWERS}
                table.append([moves[answer] for answer in ANSWERS])
                print(f"{name:42}", *("{} {:.3f} {:.2f} {:.3f};".format(a, *m) for a, m in moves.items()))
            print(
                title, setting, dict(zip(ANSWERS, np.round(np.mean(table, axis=0), 3).tolist(), strict=True))
            )


def clock():
    """Milliseconds of the plain NumPy read-out, and of the compiled one of the specification."""
    for stream, setting, run in runs.generated("find", "capped", (1,)):
        for answer in (handover, cloud):
            answer(run)
        spent = []
        for answer in (handover, cloud):
            start = time.perf_counter()
            answer(run)
            spent.append(1000 * (time.perf_counter() - start))
        print(f"{stream.name:42} {setting[0]} {len(run.usage):5} nodes {spent[0]:8.2f} ms {spent[1]:8.1f} ms")


def main():
    """Print the table that the arguments name."""
    what, *rest = sys.argv[1:] or ["generated", "find"]
    n_seeds = int(rest.pop()) if rest and rest[-1].isdigit() else 2
    seeds = tuple(range(1, n_seeds + 1))
    if what == "generated":
        generated(rest[0] if rest else "find", seeds)
    else:
        {"real": lambda: real(seeds), "steady": lambda: steady(seeds), "time": clock}[what]()


if __name__ == "__main__":
    main()
