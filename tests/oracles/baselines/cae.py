"""CAE's specification in slow plain Python. Imports nothing from everclust."""

import math
from statistics import median

import numpy as np

from oracles.baselines.cim import (
    bandwidth,
    cim,
    edges_of,
    linked,
    margin_of,
    mean,
    nearest_two,
    neighbours,
    pull,
    renumbered,
    smallest_gaps,
)


class Oracle:
    """One sample at a time, once the first bandwidth is known."""

    def __init__(self, first_rows, n_active=None, max_nodes=None, det_threshold=1e-6):
        first_rows = [[float(value) for value in row] for row in first_rows]
        self.first_scale = self.fill_scale = bandwidth(first_rows, across=True)
        self.n_active, self.max_nodes = n_active or math.inf, max_nodes or math.inf
        self.det_threshold = det_threshold
        self.k, self.ready, self.interval, self.threshold = 0, False, math.inf, math.nan
        self.w, self.count, self.scale = [], [], []
        self.act = []  # node ids, latest won or made first
        self.edges = {}  # (i, j) with i < j -> age
        self.away = []  # CIM of every node, from the second on, to all before it
        self.n_cut, self.cut_age = 0, 0.0
        self.margin = math.inf  # of the closest decision so far

    def new_call(self):
        self.k = 0

    def learn(self, x):
        x = [float(value) for value in x]
        self.k += 1
        if self.ready and len(self.w) >= self.n_active:
            self.resonate(x)
        elif len(self.w) < self.max_nodes:
            self.fill(x)
        if self.k % self.interval == 0 and len(self.w) > 1:
            self.delete_isolated()

    def add(self, x):
        self.act.insert(0, len(self.w))
        self.w.append(x)
        self.count.append(1)
        self.scale.append(self.fill_scale)

    def fill(self, x):
        self.add(x)
        n = len(self.w)
        if not self.ready and n >= 2:
            self.away.append([cim(x, w, self.first_scale) for w in self.w[:-1]])
            found, margin = determinant(self.away)
            if n >= 10:
                closeness = abs(math.log(abs(found) / self.det_threshold)) if found else math.inf
                self.margin = min(self.margin, margin, closeness)
                if found < self.det_threshold:
                    self.n_active, self.interval = n, 2 * n
        if n == self.n_active:
            self.ready = True
            self.fill_scale = self.active_bandwidth()
            self.scale = [self.fill_scale] * n
            self.threshold = mean(smallest_gaps(self.w, mean(self.scale)))

    def active_bandwidth(self):
        n = min(len(self.act), self.n_active)
        return bandwidth([self.w[k] for k in sorted(self.act[:n])])

    def resonate(self, x):
        (v1, s1), (v2, s2), margin = nearest_two(x, self.w, mean(self.scale))
        self.margin = min(self.margin, margin, margin_of([v1 - self.threshold, v2 - self.threshold]))
        if self.threshold < v1 and len(self.w) < self.max_nodes:
            self.add(x)
            self.scale[-1] = self.active_bandwidth()
            return
        self.count[s1] += 1
        self.w[s1] = pull(self.w[s1], x, self.count[s1])
        self.act.remove(s1)
        self.act.insert(0, s1)
        around = neighbours(self.edges, s1)
        for pair in edges_of(self.edges, s1):
            self.edges[pair] += 1
        if self.threshold >= v2:
            for n in around:
                self.w[n] = pull(self.w[n], x, 10 * self.count[n])
            self.edges[min(s1, s2), max(s1, s2)] = 1
        self.cut(s1)

    def cut(self, s1):
        pairs = edges_of(self.edges, s1)
        limit = age_limit([self.edges[pair] for pair in pairs], self.n_cut, self.cut_age)
        old = [pair for pair in pairs if self.edges[pair] > limit]
        self.margin = min(self.margin, margin_of([self.edges[pair] - limit for pair in pairs]))
        if old:
            total = self.n_cut * self.cut_age + sum(self.edges[pair] for pair in old)
            self.n_cut += len(old)
            self.cut_age = total / self.n_cut
        for pair in old:
            del self.edges[pair]

    def delete_isolated(self):
        kept = linked(len(self.w), self.edges)
        for name in ("w", "count", "scale"):
            setattr(self, name, [getattr(self, name)[k] for k in kept])
        self.act = [kept.index(k) for k in self.act if k in kept]
        self.edges = renumbered(self.edges, kept)


def age_limit(ages, n_cut, cut_age):
    """E_m·ρ + ω·(1 − ρ), or infinity."""
    if not ages:
        return math.inf
    middle = median(ages)
    below, above = [a for a in ages if a < middle], [a for a in ages if a > middle]
    if not below or not above:
        return math.inf
    q1, q3 = median(below), median(above)
    share = n_cut / (n_cut + len(ages))
    return cut_age * share + (q3 + (q3 - q1)) * (1 - share)


def determinant(rows):
    """det exp(1 − CIM), and the least CIM above 0. Nodes that coincide make it 0."""
    away = np.zeros((len(rows) + 1, len(rows) + 1))
    for k, row in enumerate(rows, start=1):
        away[k, :k] = away[:k, k] = row
    others = away[np.triu_indices(len(away), 1)]
    return (0.0 if (others == 0).any() else np.linalg.det(np.exp(1 - away))), margin_of(others)
