"""Torque clustering in slow plain Python, step by step. Imports nothing from everclust."""

import math


def euclidean(X):
    return [[math.dist(x, y) for y in X] for x in X]


def connections(D):
    """Steps 1 to 5. Each connection: layer, samples, masses, distance; the lower cluster comes first."""
    clusters, layer, found = [[i] for i in range(len(D))], 0, []
    while len(clusters) > 1:
        layer += 1
        made = {}
        for i in range(len(clusters)):
            away, j, a, b = nearest(D, clusters, i)
            key = (min(i, j), max(i, j))
            if len(clusters[i]) <= len(clusters[j]) and key not in made:
                a, b = (a, b) if i < j else (b, a)
                made[key] = (layer, a, b, len(clusters[key[0]]), len(clusters[key[1]]), away)
        found += [made[key] for key in sorted(made)]
        clusters = merged(clusters, made)
    return found


def nearest(D, clusters, i):
    """The nearest of all other clusters by single linkage: distance, number, and the pair of samples."""
    return min(
        (D[a][b], j, a, b) for j in range(len(clusters)) if j != i for a in clusters[i] for b in clusters[j]
    )


def merged(clusters, edges):
    """Connected components, numbered by their smallest samples."""
    name = list(range(len(clusters)))
    for i, j in edges:
        name = [name[i] if other == name[j] else other for other in name]
    groups = {}
    for k, samples in enumerate(clusters):
        groups.setdefault(name[k], []).extend(samples)
    return sorted(sorted(samples) for samples in groups.values())


def torque(connection):
    _, _, _, mass_a, mass_b, away = connection
    return mass_a * mass_b * away * away


def mean(values):
    return sum(values) / len(values)


def count_abnormal(ordered):
    """Steps 8 to 11; None stands for NaN."""
    rest = [c for c in ordered if c[0] > 1]
    if not rest:
        return 0
    measures = (lambda c: c[3] * c[4], lambda c: c[5] * c[5], torque)
    means = [mean([measure(c) for c in rest]) for measure in measures]
    large = [
        c[0] > 1 and all(measure(c) >= m for measure, m in zip(measures, means, strict=True)) for c in ordered
    ]
    best, cut = -1.0, 0
    for i in range(len(ordered) - 1):
        above, below = torque(ordered[i]), torque(ordered[i + 1])
        if ordered[i][0] == 1 or (above == 0 and below == 0):
            continue
        gap = above / below if below else math.inf
        share = sum(large[: i + 1]) / sum(large) if any(large) else 1.0
        if gap == math.inf and share == 0:  # inf · 0 is NaN
            continue
        if gap * share > best:
            best, cut = gap * share, i + 1
    return cut


def cluster(D, n_clusters=None):
    """Labels, connections by falling torque, number of those cut."""
    ordered = sorted(connections(D), key=torque, reverse=True)  # stable
    cut = count_abnormal(ordered) if n_clusters is None else n_clusters - 1
    groups = merged([[i] for i in range(len(D))], [(c[1], c[2]) for c in ordered[cut:]])
    label = [0] * len(D)
    for k, samples in enumerate(groups):
        for i in samples:
            label[i] = k
    return label, ordered, cut
