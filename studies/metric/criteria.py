"""What might tell from the stream alone which of two metrics has the better clusters.

A criterion gives one number for each metric's clusters, higher for those to choose; a trait is one number of
the features, whatever the clusters.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from everclust.core.communities.valleys import find_clusters
from everclust.core.layout import NO_CLUSTER
from studies.beyond.readout import silhouettes
from studies.beyond.runs import nearest
from studies.metric.runs import BOTH, other_weights


def modularity(links, group):
    """Of the hand-overs, for any grouping of the nodes."""
    strength = np.bincount(links[:, :2].ravel(), np.repeat(links[:, 2], 2), len(group))
    total = links[:, 2].sum()
    inside = links[group[links[:, 0]] == group[links[:, 1]], 2].sum() / total
    return inside - ((np.bincount(group, strength) / (2 * total)) ** 2).sum()


def explained(X, label):
    """Share of each feature's variance between clusters, less what chance explains."""
    label = np.unique(label, return_inverse=True)[1]
    Z = X[:, X.var(axis=0) > 0]
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    n, k = len(X), label.max() + 1
    size = np.bincount(label)
    centre = np.stack([np.bincount(label, z) for z in Z.T], axis=1) / size[:, None]
    within = 1.0 - (size[:, None] * centre**2).sum(axis=0) / n
    return 1.0 - np.clip(within, 1e-9, None) * (n - 1) / max(n - k, 1)


def moved(label, winner, n_nodes):
    """Commonest label among the samples of every node; 0 for nodes without any."""
    label = np.unique(label, return_inverse=True)[1]
    count = np.zeros((n_nodes, label.max() + 1))
    np.add.at(count, (winner, label), 1)
    return count.argmax(axis=1)


def silhouette(X, label, weight):
    """Simplified silhouette of the samples."""
    label = np.unique(label, return_inverse=True)[1]
    if label.max() == 0:
        return 0.0
    return silhouettes(X * np.sqrt(weight), np.ones(len(X)), label, label.max() + 1).mean()


def criteria(run, X):
    """{criterion: (of the Euclidean clusters, of the capped ones)}."""
    e, c = (
        ({key: run[f"{m}_{key}"] for key in ("label", "position", "links", "group", "weight")}) for m in BOTH
    )
    winner = [nearest(X, one["position"], one["weight"]) for one in (e, c)]
    variance = run["variance"]
    standard = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
    found = {"modularity": [modularity(one["links"], one["group"]) for one in (e, c)]}
    found["modularity in the other metric"] = [
        modularity(c["links"], moved(e["label"], winner[1], len(c["group"]))),
        modularity(e["links"], moved(c["label"], winner[0], len(e["group"]))),
    ]
    found["halves agree"] = [adjusted_rand_score(run[f"{m}_half0"], run[f"{m}_half1"]) for m in BOTH]
    found["halves agree with all"] = [
        np.mean([adjusted_rand_score(run[f"{m}_half{h}"], run[f"{m}_label"]) for h in (0, 1)]) for m in BOTH
    ]
    for name, of in (
        ("explained variance", np.mean),
        ("median explained variance", np.median),
        ("information", lambda r: -np.log(np.clip(1 - r, 1e-9, None)).mean()),
    ):
        found[name] = [of(explained(X, one["label"])) for one in (e, c)]
    for name, weight in (
        ("standardised", standard),
        ("Euclidean", e["weight"]),
        ("capped", c["weight"]),
        ("mean", other_weights(variance)["mean"]),
    ):
        found[f"silhouette, {name}"] = [silhouette(X, one["label"], weight) for one in (e, c)]
    own = [silhouette(X, one["label"], one["weight"]) for one in (e, c)]
    found["silhouette, own"] = own
    found["silhouette, both"] = [
        (a + b) / 2 for a, b in zip(found["silhouette, Euclidean"], found["silhouette, capped"], strict=True)
    ]
    found["fewer clusters"] = [-len(np.unique(one["label"])) for one in (e, c)]
    found["fewer nodes"] = [-len(one["group"]) for one in (e, c)]
    found["modularity, both"] = [
        a + b for a, b in zip(found["modularity"], found["modularity in the other metric"], strict=True)
    ]
    return found


def traits(run, X):
    """{trait: number}."""
    v = run["variance"][run["variance"] > 0]
    d = len(v)
    share = v / v.sum()
    Z = X[:, X.var(axis=0) > 0]
    correlation = np.corrcoef(Z.T) if d > 1 else np.ones((1, 1))
    logs = np.log(v)
    quartiles = np.quantile(logs, [0.25, 0.5, 0.75])
    low, high = Z.min(axis=0), Z.max(axis=0)
    gaps = np.diff(np.sort(logs))
    return {
        "features": d,
        "largest over median variance": v.max() / np.median(v),
        "largest share of variance": share.max(),
        "effective share of features": 1 / (share**2).sum() / d,
        "effective features": 1 / (share**2).sum(),
        "deviation of log-variances": logs.std(),
        "range of log-variances": np.ptp(logs),
        "tail": (logs.max() - quartiles[1]) / max(quartiles[2] - quartiles[0], 1e-9),
        "largest gap of log-variances": gaps.max(initial=0),
        "share of variance lost by the cap": 1 - np.minimum(v, np.median(v)).sum() / v.sum(),
        "mean absolute correlation": (np.abs(correlation).sum() - d) / max(d * (d - 1), 1),
        "means over deviations": np.median(np.abs(Z.mean(axis=0)) / Z.std(axis=0)),
        "ranges differ": np.std(np.log(high - low)),
        "one sign": (low >= 0).mean(),
        "agreement of both": adjusted_rand_score(run["euclidean_label"], run["capped_label"]),
    }


def joint_labels(run, X, crossed=True):
    """Clusters of both learners' nodes together, by the package's read-out in the mean of both metrics.

    Links are the hand-overs of each, and one across for every sample, between its two nearest nodes.
    """
    weight = other_weights(run["variance"])["mean"]
    position = [run[f"{m}_position"] for m in BOTH]
    first, second = (nearest(X, run[f"{m}_position"], run[f"{m}_weight"]) for m in BOTH)
    n = len(position[0])
    links = [run["euclidean_links"], run["capped_links"] + np.array([n, n, 0])]
    if crossed:
        pairs, count = np.unique(np.stack([first, second + n], axis=1), axis=0, return_counts=True)
        links.append(np.column_stack([pairs, count]))
    every = np.ascontiguousarray(np.concatenate(links).astype(np.int64))
    both = np.ascontiguousarray(np.concatenate(position))
    unknown, wins = np.full(len(both), NO_CLUSTER), np.ones(len(both), np.int64)
    label = find_clusters(both, weight * weight.size, every, unknown, 0.0, wins, np.inf)
    return label[first], label[second + n]
