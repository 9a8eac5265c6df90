"""Linkage: one value for a cluster from the values of its categories."""

from ...jit.compile import jit
from ...jit.quantiles import hazen

SINGLE, COMPLETE, AVERAGE, MEDIAN, WEIGHTED, CENTROID = range(6)
LINKAGES = {
    "single": SINGLE,
    "complete": COMPLETE,
    "average": AVERAGE,
    "median": MEDIAN,
    "weighted": WEIGHTED,
    "centroid": CENTROID,
}


@jit
def largest(values):
    """max v."""
    found = values[0]
    for value in values:
        found = max(found, value)
    return found


@jit
def smallest(values):
    """min v."""
    found = values[0]
    for value in values:
        found = min(found, value)
    return found


@jit
def mean(values):
    """Σ v / n."""
    total = 0.0
    for value in values:
        total += value
    return total / values.shape[0]


@jit
def weighted_mean(values, usage):
    """Σ u·v / Σ u."""
    total, n = 0.0, 0.0
    for i in range(values.shape[0]):
        total += usage[i] * values[i]
        n += usage[i]
    return total / n


@jit
def linked(kind, values, usage):  # INOUT values (order only)
    """One value for a cluster from those of its categories; CENTROID needs their weights instead."""
    if kind == SINGLE:
        return largest(values)
    if kind == COMPLETE:
        return smallest(values)
    if kind == AVERAGE:
        return mean(values)
    if kind == MEDIAN:
        return hazen(values, 0.5)
    return weighted_mean(values, usage)


@jit
def shrink_to_common(row, owner, n, common):  # INOUT common
    """Minimum over each cluster's categories in one row of the weights of n categories."""
    for c in range(common.shape[0]):
        common[c] = 1.0  # the largest possible weight
    for k in range(n):
        common[owner[k]] = min(common[owner[k]], row[k])


@jit
def centroid_overlaps(item, model, common, overlap, norm):  # INOUT common, overlap, norm
    """|I ∧ W̄| and |W̄| of every cluster; W̄ is the element-wise minimum of its categories' weights."""
    for c in range(common.shape[0]):
        overlap[c] = norm[c] = 0.0
    for j in range(item.shape[0]):
        shrink_to_common(model.weight[j], model.owner, model.size[0].n_categories, common)
        for c in range(common.shape[0]):
            overlap[c] += min(item[j], common[c])
            norm[c] += common[c]
