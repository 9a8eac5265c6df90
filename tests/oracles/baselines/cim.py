"""CIM and its bandwidth in slow plain Python, and what CAEA's and CAE's specifications share.

Sums and means are rounded in the obvious order, which makes ties ties to everybody.
"""

import math
from itertools import pairwise


def cim(x, w, scale):
    kernels = [math.exp(-0.5 * ((a - b) / scale) ** 2) for a, b in zip(x, w, strict=True)]
    return math.sqrt(max(0.0, 1.0 - total(kernels) / len(kernels)))


def bandwidth(rows, across=False):
    """σ(Z); a single row has no spread unless it is taken across its features."""
    n, d = len(rows), len(rows[0])
    if n == 1:
        spreads = [deviation(rows[0]) if across else 1e-6]
    else:
        spreads = [deviation([row[j] for row in rows]) for j in range(d)]
    factor = (4.0 / (2.0 + d)) ** (1.0 / (4.0 + d)) * n ** (-1.0 / (4.0 + d))
    return factor * median(spreads)


def deviation(values):
    """Sample standard deviation, zero replaced by 1e-6."""
    n = len(values)
    if n == 1:
        return 1e-6
    centre = mean(values)
    return math.sqrt(total([(value - centre) ** 2 for value in values]) / (n - 1)) or 1e-6


def median(values):
    values = sorted(values)
    lower, upper = values[(len(values) - 1) // 2], values[len(values) // 2]
    return lower + 0.5 * (upper - lower)


def total(values):
    """The built-in `sum` compensates for rounding in newer versions of Python."""
    result = 0.0
    for value in values:
        result += value
    return result


def mean(values):
    return total(values) / len(values) if values else math.nan


def nearest_two(x, weights, scale):
    """(v1, s1), (v2, s2), ties to the lowest index; and the margin by which these are the nearest."""
    order = sorted((cim(x, w, scale), i) for i, w in enumerate(weights))
    gaps = [b[0] - a[0] for a, b in pairwise(order[:3])]
    return order[0], order[1] if len(order) > 1 else (math.inf, None), margin_of(gaps)


def margin_of(gaps):
    """The least one, but a tie is no close call."""
    return min((abs(gap) for gap in gaps if gap), default=math.inf)


def smallest_gaps(weights, scale):
    """For every node its smallest CIM to another node: one minimum, the node itself, is dropped."""
    gaps = []
    for a in weights:
        gaps.extend(sorted(cim(a, b, scale) for b in weights)[1:2])
    return gaps


def pull(w, x, divisor):
    return [b + (a - b) / divisor for a, b in zip(x, w, strict=True)]


def neighbours(edges, k):
    return sorted({i + j - k for i, j in edges if k in (i, j)})


def edges_of(edges, k):
    return [pair for pair in edges if k in pair]


def linked(n_nodes, edges):
    """Nodes that have an edge."""
    return [k for k in range(n_nodes) if edges_of(edges, k)]


def renumbered(edges, kept):
    return {(kept.index(i), kept.index(j)): age for (i, j), age in edges.items()}


def components(n_nodes, edges):
    """Component of every node, numbered by lowest node."""
    component = [None] * n_nodes
    n = 0
    for k in range(n_nodes):
        if component[k] is None:
            waiting = [k]
            while waiting:
                i = waiting.pop()
                if component[i] is None:
                    component[i] = n
                    waiting.extend(neighbours(edges, i))
            n += 1
    return component


def predict(x, weights, scales, edges):
    """Cluster of the nearest node."""
    if not weights:
        return 0
    (_, winner), *_ = nearest_two(x, weights, mean(scales))
    return components(len(weights), edges)[winner]
