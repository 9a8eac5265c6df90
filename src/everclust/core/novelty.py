"""How far rows and nodes are from what was learnt. Reads nodes and writes nothing into the state.

Distances have the bits that learning gives them: squares and sums are rounded one by one, as in
`metric.distance`, so that a row is found to be novel exactly when learning it would make a node.
"""

import math

import numpy as np

from ..jit.blocks import LANES, least, plain_squared_distances
from ..jit.compile import jit, jit_inlined, kernel
from .metric import plain_weighted_squared_distances

strict_squared_distances = jit(plain_squared_distances)  # INOUT out
strict_weighted_squared_distances = jit(plain_weighted_squared_distances)  # INOUT out


@jit_inlined
def measure_strictly(read_out, x, b, squared):  # INOUT squared
    """`readout.measure_block` with the bits of `metric.distance`."""
    if read_out.weight.shape[0] == 0:
        strict_squared_distances(x, read_out.blocks[b], squared)
    else:
        strict_weighted_squared_distances(x, read_out.blocks[b], read_out.weight, squared)


@kernel
def find_first(read_out, X, first, to_first):  # INOUT first, to_first
    """Nearest node of every row and its distance, as `nearest.nearest_two` finds them."""
    squared = np.empty(LANES)
    for i in range(X.shape[0]):
        to_first[i] = np.inf
        for b in range(read_out.blocks.shape[0]):
            measure_strictly(read_out, X[i], b, squared)
            here = math.sqrt(least(squared))
            if here < to_first[i]:
                to_first[i] = here
                lane = 0
                while math.sqrt(squared[lane]) != here:  # ties of distances, not of their squares
                    lane += 1
                first[i] = read_out.node[b * LANES + lane]


@kernel
def find_reach(read_out, usage, needed, X, reach):  # INOUT reach
    """Distance from every row within which the nodes have at least the usage that is needed."""
    n_blocks = read_out.blocks.shape[0]
    squared, share, lanes = np.empty(n_blocks * LANES), np.empty(n_blocks * LANES), np.empty(LANES)
    for i in range(X.shape[0]):
        for b in range(n_blocks):
            measure_strictly(read_out, X[i], b, lanes)
            for lane in range(LANES):
                squared[b * LANES + lane] = lanes[lane]
        for k in range(usage.shape[0]):
            share[k] = usage[k]
        reach[i] = math.sqrt(weighted_quantile(squared[: usage.shape[0]], share, needed))


@jit
def weighted_quantile(value, weight, needed):  # INOUT value, weight: their order
    """Least value up to which the weights sum to what is needed, by quickselect; else the largest."""
    low, high = 0, value.shape[0] - 1
    while low < high:
        pivot = value[(low + high) // 2]
        i, k = partition(value, weight, low, high, pivot)
        below = 0.0
        for m in range(low, k + 1):
            below += weight[m]
        if below >= needed:
            high = k
            continue
        for m in range(k + 1, i):
            below += weight[m]
        if below >= needed:
            return pivot
        needed -= below
        low = min(i, high)
    return value[low]


@jit
def partition(value, weight, low, high, pivot):  # INOUT value, weight: their order
    """(i, k): values up to k are at most the pivot, those from i on at least, those between equal it."""
    i, k = low, high
    while i <= k:
        while value[i] < pivot:
            i += 1
        while value[k] > pivot:
            k -= 1
        if i <= k:
            value[i], value[k] = value[k], value[i]
            weight[i], weight[k] = weight[k], weight[i]
            i += 1
            k -= 1
    return i, k
