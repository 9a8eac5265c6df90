"""TBM-P in slow plain Python, literally: the ladder of vigilances, and the correlation with every member.

Prototypes are deleted by renumbering all that come after them.
"""

import math

ALPHA, STEP = 1e-3, 0.01


def total(values):
    """In order: newer Pythons' `sum` compensates rounding errors."""
    result = 0.0
    for value in values:
        result += value
    return result


def rounded(value):
    """Half away from zero."""
    return math.floor(value + 0.5)


def scaled(values):
    low, high = min(values), max(values)
    return [(v - low) / (high - low + 1e-16) for v in values]


def code(values):
    return [*values, *(1.0 - v for v in values)]


def meet(item, prototype):
    return [min(i, p) for i, p in zip(item, prototype, strict=True)]


def pearson(a, b):
    if not a or min(a) == max(a) or min(b) == max(b):
        return 0.0
    mean_a, mean_b = total(a) / len(a), total(b) / len(b)
    a, b = [v - mean_a for v in a], [v - mean_b for v in b]
    norm = math.sqrt(total(v * v for v in a)) * math.sqrt(total(v * v for v in b))
    return total(v * w for v, w in zip(a, b, strict=True)) / norm


class TopoART:
    def __init__(self, vigilance, beta_sb, phi, tau):
        self.vigilance, self.beta_sb, self.phi, self.tau = vigilance, beta_sb, phi, tau
        self.prototypes, self.counters, self.edges, self.labels = [], [], set(), []

    def look(self, item):
        """(A, s) of every prototype."""
        sizes = [total(meet(item, p)) for p in self.prototypes]
        choices = [size / (ALPHA + total(p)) for size, p in zip(sizes, self.prototypes, strict=True)]
        return choices, [size / total(item) for size in sizes]

    def search(self, item, vigilance):
        """(winner or None, those passed over before it)."""
        choices, matches = self.look(item)
        passed_over = []
        for j in sorted(range(len(choices)), key=lambda j: -choices[j]):
            if matches[j] >= vigilance:
                return j, passed_over
            passed_over.append(j)
        return None, passed_over

    def add(self, item):
        self.prototypes.append(list(item))
        self.counters.append(1)
        self.labels.append(len(self.prototypes) - 1)

    def learn_second(self, winner, j, item):
        old = self.prototypes[j]
        self.prototypes[j] = [
            self.beta_sb * i + (1.0 - self.beta_sb) * p if i < p else p
            for i, p in zip(item, old, strict=True)
        ]
        self.edges.add(frozenset((winner, j)))

    def present(self, item, agree=lambda j: True, quirks=False):
        """`agree` tells whether the item correlates with the members of a prototype."""
        choices, matches = self.look(item)
        vigilance = self.vigilance
        while True:
            winner, passed_over = self.search(item, vigilance)
            if winner is None or vigilance == 1.0 or agree(winner):
                break
            vigilance = min(1.0, vigilance + STEP)
        if winner is None:
            self.add(item)
        else:
            self.prototypes[winner] = meet(item, self.prototypes[winner])
            second = self.second(choices, matches, winner, passed_over, agree, quirks)
            self.counters[winner] += 1
            self.labels.append(winner)
            if second is not None:
                self.learn_second(winner, second, item)
        if self.tau and len(self.labels) % self.tau == 0:
            self.prune()

    def second(self, choices, matches, winner, passed_over, agree, quirks):
        able = [j for j in range(len(choices)) if j != winner and matches[j] >= self.vigilance]
        for j in sorted(able, key=lambda j: -choices[j]):
            if j not in passed_over and agree(j):
                return j
        if quirks and winner != 0 and set(able) & set(passed_over) and agree(0):
            return 0
        return None

    def prune(self):
        for j in reversed(range(len(self.prototypes))):
            if self.counters[j] <= self.phi:
                self.delete(j)

    def delete(self, gone):
        del self.prototypes[gone], self.counters[gone]
        self.edges = {frozenset(j - (j > gone) for j in edge) for edge in self.edges if gone not in edge}
        self.labels = [-1 if k == gone else k - (k > gone) for k in self.labels]

    def label_rest(self, items):
        if not self.prototypes:
            self.prototypes, self.counters = [[1.0] * len(items[0])], [0]
        self.labels = [
            self.nearest(item) if k == -1 else k for item, k in zip(items, self.labels, strict=True)
        ]

    def nearest(self, item):
        """1 − |P ∧ I − P| / |I| is largest."""
        fits = [
            1.0
            - total(abs(m - p) for m, p in zip(meet(item, prototype), prototype, strict=True)) / total(item)
            for prototype in self.prototypes
        ]
        return fits.index(max(fits))

    def components(self):
        """Component of every prototype, numbered by their oldest ones."""
        name = list(range(len(self.prototypes)))
        for _ in name:
            for edge in self.edges:
                for j in edge:
                    name[j] = min(name[k] for k in edge)
        return [sorted(set(name)).index(n) for n in name]


class TBMP:
    """`present` the samples one by one, then `label_rest`."""

    def __init__(self, X, rho_a, beta_sb_a, phi_a, tau_a, rho_b, beta_sb_b, phi_b, tau_b, eta, quirks=False):
        rows = [[float(v) for v in row] for row in X]
        self.n, self.d, self.eta, self.quirks = len(rows), len(rows[0]), eta, quirks
        self.F = [list(row) for row in zip(*map(scaled, zip(*rows, strict=True)), strict=True)]
        self.b = self.group_features(rows, rho_b, beta_sb_b, rounded(phi_b), rounded(tau_b * self.d))
        self.a = TopoART(rho_a, beta_sb_a, rounded(phi_a), rounded(tau_a * self.n))
        self.margin = math.inf  # of all decisions about correlation

    def group_features(self, rows, *rules):
        items = [code(column) for column in zip(*map(scaled, rows), strict=True)]
        module = TopoART(*rules)
        for item in items:
            module.present(item)
        module.label_rest(items)
        return module

    def agrees(self, i, w):
        members = [m for m, label in enumerate(self.a.labels) if label == w]
        for b in range(len(self.b.prototypes)):
            block = [f for f in range(self.d) if self.b.labels[f] == b]
            at = [self.F[i][f] for f in block]
            r = total(pearson(at, [self.F[m][f] for f in block]) for m in members) / len(members)
            self.margin = min(self.margin, abs(r - self.eta))
            if r > self.eta:
                return True
        return False

    def present(self, i):
        self.a.present(code(self.F[i]), lambda w: self.agrees(i, w), self.quirks)

    def label_rest(self):
        self.a.label_rest([code(row) for row in self.F])
        component = self.a.components()
        return [component[k] for k in self.a.labels]
