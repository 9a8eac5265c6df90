"""CAEA's specification in slow plain Python. Imports nothing from everclust."""

import math

from oracles.baselines.cim import (
    bandwidth,
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
    """One sample at a time; V is kept for every node, as it is written."""

    def __init__(self, interval, a_max, quirks=False):
        self.interval, self.a_max, self.quirks = interval, a_max, quirks
        self.buffer = interval / 2 if quirks else math.ceil(interval / 2)
        self.k, self.window = 0, []
        self.w, self.count, self.scale, self.threshold = [], [], [], []
        self.edges = {}  # (i, j) with i < j -> age
        self.margin = math.inf  # of the closest decision so far

    def new_call(self):
        """The counter and the window start afresh."""
        self.k, self.window = 0, []

    def learn(self, x):
        x = [float(value) for value in x]
        self.k += 1
        self.window = [*self.window, x][-math.floor(self.buffer) :]
        if len(self.w) < self.buffer:
            self.fill(x)
        else:
            self.resonate(x)
        if self.k % self.interval == 0 and len(self.w) > 1:
            self.delete_isolated()

    def fill(self, x):
        existing = set(self.threshold)
        self.add(x, math.nan)
        if len(self.w) == self.buffer:
            value = mean(smallest_gaps(self.w, mean(self.scale)))
        else:
            value = mean(list(existing))  # of equal values: nothing is lost by rounding
        self.threshold = [value] * len(self.w)

    def add(self, x, threshold):
        self.w.append(x)
        self.count.append(1)
        self.scale.append(bandwidth(self.window, across=self.quirks))
        self.threshold.append(threshold)

    def resonate(self, x):
        (v1, s1), (v2, s2), margin = nearest_two(x, self.w, mean(self.scale))
        self.margin = min(self.margin, margin, margin_of([v1 - self.threshold[s1], v2 - self.threshold[s1]]))
        if self.threshold[s1] < v1:
            self.add(x, self.threshold[s1])
            return
        for pair in edges_of(self.edges, s1):
            self.edges[pair] += 1
            if self.edges[pair] > self.a_max:
                del self.edges[pair]
        self.w[s1] = pull(self.w[s1], x, self.count[s1])
        self.count[s1] += 1
        if s2 is not None and self.threshold[s2] >= v2:
            for n in neighbours(self.edges, s1):
                self.w[n] = pull(self.w[n], x, 10 * self.count[n])
            self.edges[min(s1, s2), max(s1, s2)] = 0

    def delete_isolated(self):
        kept = linked(len(self.w), self.edges)
        for name in ("w", "count", "scale", "threshold"):
            setattr(self, name, [getattr(self, name)[k] for k in kept])
        self.edges = renumbered(self.edges, kept)
