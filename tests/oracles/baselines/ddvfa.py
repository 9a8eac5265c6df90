"""DDVFA in slow plain Python, step by step as it is written down; samples lie in [0, 1] already."""

from statistics import median


def total(values):
    """In order: newer Pythons' `sum` compensates rounding errors."""
    result = 0.0
    for value in values:
        result += value
    return result


def code(x):
    return [*map(float, x), *(1.0 - float(v) for v in x)]


def overlap(item, weight):
    return total(min(i, w) for i, w in zip(item, weight, strict=True))


def plain_fuzzy_art(X, rho, alpha=1e-7):
    """Labels of fast-learning Fuzzy ART, its weights."""
    weights, labels = [], []
    for x in X:
        item = code(x)
        order = sorted(
            range(len(weights)), key=lambda j: -overlap(item, weights[j]) / (alpha + total(weights[j]))
        )
        won = next((j for j in order if overlap(item, weights[j]) >= rho * len(x)), None)
        if won is None:
            won = len(weights)
            weights.append(item)
        weights[won] = [min(i, w) for i, w in zip(item, weights[won], strict=True)]
        labels.append(won)
    return labels, weights


class DDVFA:
    def __init__(
        self,
        rho_lower=0.7,
        rho_upper=0.85,
        alpha=1e-3,
        beta=1.0,
        gamma=3.0,
        gamma_ref=1.0,
        linkage="single",
        max_nodes=2000,
        reference_quirks=False,
    ):
        self.rho_lower, self.rho_upper = rho_lower, rho_upper
        self.alpha, self.beta, self.gamma, self.gamma_ref = alpha, beta, gamma, gamma_ref
        self.linkage, self.max_nodes, self.reference_quirks = linkage, max_nodes, reference_quirks
        self.weights, self.owner, self.usage = [], [], []

    def choice_and_match(self, item, weight):
        norm = total(weight)
        choice = (overlap(item, weight) / (self.alpha + norm)) ** self.gamma
        return choice, norm**self.gamma_ref * choice

    def members(self, c):
        return [j for j, owner in enumerate(self.owner) if owner == c]

    def linked(self, item, c):
        """(T_c, M_c)."""
        members = self.members(c)
        if self.linkage == "centroid":
            return self.choice_and_match(
                item, [min(v) for v in zip(*(self.weights[j] for j in members), strict=True)]
            )
        both = zip(*(self.choice_and_match(item, self.weights[j]) for j in members), strict=True)
        usage = [self.usage[j] for j in members]
        return [self.reduce(values, usage) for values in both]

    def reduce(self, values, usage):
        if self.linkage == "single":
            return max(values)
        if self.linkage == "complete":
            return min(values)
        if self.linkage == "average":
            return total(values) / len(values)
        if self.linkage == "median":
            return median(values)
        return total(u * v for u, v in zip(usage, values, strict=True)) / total(usage)

    def limit(self, rho, item):
        return rho * (len(item) // 2) ** self.gamma_ref

    def visit(self, pairs, limit):
        """The first in order of decreasing T whose M reaches the limit, or None."""
        order = sorted(range(len(pairs)), key=lambda i: -pairs[i][0])  # stable: ties to the oldest
        return next((i for i in order if pairs[i][1] >= limit), None)

    def accepting(self, pairs, item):
        limit = self.limit(self.rho_lower, item)
        if self.reference_quirks:
            return next((c for c in range(len(pairs)) if pairs[c][1] >= limit), None)
        return self.visit(pairs, limit)

    def learn(self, x):
        item = code(x)
        clusters = [self.linked(item, c) for c in range(len(set(self.owner)))]
        c = self.accepting(clusters, item)
        if c is not None:
            members = self.members(c)
            pairs = [self.choice_and_match(item, self.weights[j]) for j in members]
            found = self.visit(pairs, self.limit(self.rho_upper, item))
            if found is not None:
                self.absorb(members[found], item)
                return c
        if len(self.weights) == self.max_nodes:
            return max(range(len(clusters)), key=lambda c: clusters[c][0])
        c = len(clusters) if c is None else c
        self.weights.append(item)
        self.owner.append(c)
        self.usage.append(1)
        return c

    def absorb(self, j, item):
        self.weights[j] = [
            self.beta * i + (1.0 - self.beta) * w if i < w else w
            for i, w in zip(item, self.weights[j], strict=True)
        ]
        self.usage[j] += 1

    def predict(self, x, strict=False):
        item = code(x)
        if strict:
            c = self.accepting([self.linked(item, c) for c in range(len(set(self.owner)))], item)
            return -1 if c is None else c
        choices = [self.choice_and_match(item, weight)[0] for weight in self.weights]
        return self.owner[choices.index(max(choices))]
