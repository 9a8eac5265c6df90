"""Where clusters end, as far as probes know it (resolution.py): no hand-over leads from one to another.

So a single node may be a cluster. docs/handover.md, The read-out, has the rule.
"""

import numpy as np

from ...jit.compile import jit_allocating
from ..metric import distance
from ..state import State, scalar

SMALLEST = 1.0 / 8.0  # of a cluster's samples on average: a node that won as many may be one


def fewest_of_cluster(state: State) -> float:
    """Samples that make a node without hand-overs a cluster; infinite where no end is known."""
    if not scalar(state, "cluster_end"):
        return np.inf
    return float(SMALLEST * scalar(state, "n_seen") / scalar(state, "n_clusters"))


@jit_allocating
def links_within(links, position, weight, wins, end, fewest):
    """The links without those beyond the end of clusters from or to nodes that won enough."""
    kept, n = np.empty_like(links), 0
    for e in range(links.shape[0]):
        i, j = links[e, 0], links[e, 1]
        is_light = max(wins[i], wins[j]) < fewest
        if is_light or distance(position[i], position[j], weight) <= end:
            kept[n] = links[e]
            n += 1
    return kept[:n]


@jit_allocating
def label_alone(strength, wins, fewest, label):  # INOUT label
    """Nodes that won enough and have no hand-overs are clusters of their own; returns which have a label."""
    is_labelled, n_clusters = np.empty(label.shape[0], np.bool_), 0
    for k in range(label.shape[0]):
        is_labelled[k] = strength[k] > 0
        if is_labelled[k]:
            n_clusters = max(n_clusters, label[k] + 1)
    for k in range(label.shape[0]):
        if strength[k] == 0 and wins[k] >= fewest:
            is_labelled[k] = True
            label[k] = n_clusters
            n_clusters += 1
    return is_labelled
