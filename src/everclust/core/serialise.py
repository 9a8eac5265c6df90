"""The state without its inner workings: what learning needs to go on, and nothing else.

Slots, hash tables, lists, running sums and the coarse copy follow from these arrays, so that files and
pickles survive a change of any of them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..jit.compile import jit_allocating, kernel
from ..jit.reference import refer
from .cluster_ids import update_ids
from .handovers import handovers, insert_rows, table_of
from .invariants import check
from .layout import ALL_CHANGED, N_BINS, N_DIRECTIONS, N_PROBES, NO_CLUSTER, NONE
from .pair_table import pair_of
from .readout import cluster_ids, cluster_roots, edges
from .state import State, allocate, scalar, scalars_of
from .topology import list_isolated, promote, root, take_slot
from .window import window_rows

Arrays = dict[str, np.ndarray]
KEPT_SCALARS = (
    *("n_seen", "since_recalibration", "interval", "vigilance", "cluster_ratio"),
    *("next_cluster", "provisional", "next_community"),
)
PROBE_SCALARS = (
    *("n_probes", "n_compared", "n_rounds", "n_resting", "first_exponent"),
    *("n_ratios", "log_ratios", "radius_factor", "n_clusters", "cluster_end", "cluster_radius"),
)
PROBE_ARRAYS = ("probe", "probe_distance", "distance_count")
DIRECTION_ARRAYS = ("direction", "projection", "foretold")
KINDS = {
    "usage": "i",
    "wins": "i",
    "scale": "f",
    "active": "b",
    "idle": "i",
    "activity": "i",
    "last_won": "i",
    "community": "i",
    "birth": "i",
}
NODE_FIELDS = tuple(KINDS)
FEATURE_FIELDS = ("mean", "square_sum", "weight")
KINDS |= dict.fromkeys((*FEATURE_FIELDS, "prototype", "window"), "f")
KINDS |= dict.fromkeys(("evidence", "edge", "handover", "cluster", "since"), "i")


def export(state: State, with_ids: bool = True) -> tuple[dict[str, Any], Arrays]:
    """(scalars, arrays) from which `restore` makes a state that goes on learning bit for bit.

    Without the ids of connected components if they are not asked for.
    """
    n_nodes = scalar(state, "n_nodes")
    scalars = {name: scalar(state, name) for name in (*KEPT_SCALARS, "n_born")}
    arrays = {name: state.node[name][:n_nodes].copy() for name in NODE_FIELDS}
    arrays |= {name: getattr(state, name).copy() for name in FEATURE_FIELDS}
    arrays |= {
        "prototype": state.prototype[:n_nodes].copy(),
        "window": window_rows(state),
        "evidence": _evidence(state),
        "edge": edges(state),
        "handover": handovers(state),
    }
    if with_ids:
        arrays |= {"cluster": cluster_ids(state), "since": _since(state)}
    if state.probe.size:
        scalars |= {name: scalar(state, name) for name in PROBE_SCALARS}
        arrays |= {name: getattr(state, name).copy() for name in PROBE_ARRAYS}
    if state.direction.size:
        scalars["foretold_at"] = scalar(state, "foretold_at")
        arrays |= {name: getattr(state, name).copy() for name in DIRECTION_ARRAYS}
    return scalars, arrays


def _since(state: State) -> np.ndarray:
    """From which sample on the cluster of every node has been there; 0 when it is in none."""
    n_nodes = scalars_of(state).n_nodes
    since = np.zeros(n_nodes, np.int64)
    active = np.flatnonzero(state.node["active"][:n_nodes])
    since[active] = state.slot["since"][cluster_roots(state, active)]
    return since


def _evidence(state: State) -> np.ndarray:
    """(i, j, count) of every pair with evidence, i < j, sorted: equal models make equal files."""
    pairs, node = state.pair[: scalars_of(state).n_pairs], state.slot["node"]
    pairs = pairs[pairs["evidence"] > 0]
    a, b = node[pairs["a"]], node[pairs["b"]]
    i, j = np.minimum(a, b), np.maximum(a, b)
    return np.stack([i, j, pairs["evidence"]], axis=1)[np.argsort(i * scalars_of(state).n_nodes + j)]


def restore(scalars: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> State:
    """The state that `export` took apart. The arrays are trusted: check what comes from outside.

    Parts without birth numbers get them in the order of their nodes.
    """
    n_nodes, n_features = arrays["prototype"].shape
    n_evident = len(arrays["evidence"])
    state = allocate(
        n_features,
        nodes=n_nodes + 1,
        slots=n_nodes + 2,
        pairs=2 * n_evident + 1,
        events=n_nodes,
        event_centres=n_nodes,
        window=2 * scalars["interval"],
        handovers=3 * len(arrays["handover"]),
        probes=N_PROBES if "probe" in arrays else 0,
        directions=N_DIRECTIONS if "direction" in arrays else 0,
    )
    restored = scalars_of(state)
    for name in KEPT_SCALARS:
        restored[name] = scalars[name]
    restored.n_nodes = n_nodes
    restored.n_born = scalars.get("n_born", n_nodes)
    arrays = {"birth": np.arange(n_nodes), **arrays}
    for name in NODE_FIELDS:
        state.node[name][:n_nodes] = arrays[name]
    state.prototype[:n_nodes] = arrays["prototype"]
    for name in FEATURE_FIELDS:
        getattr(state, name)[:] = arrays[name]
    restored.window_size = len(arrays["window"])
    restored.window_head = restored.window_size % len(state.window)
    state.window[: restored.window_size] = arrays["window"]
    if "probe" in arrays:
        for name in PROBE_SCALARS:
            restored[name] = scalars[name]
        for name in PROBE_ARRAYS:
            getattr(state, name)[:] = arrays[name]
    if "direction" in arrays:
        restored.foretold_at = scalars["foretold_at"]
        for name in DIRECTION_ARRAYS:
            getattr(state, name)[:] = arrays[name]
    handover = arrays["handover"].copy()
    handover[:, :2] = arrays["birth"][handover[:, :2]]
    insert_rows(state, table_of(handover))
    # Copies can be written: for the read-only arrays of a file, numba would compile the kernel once more.
    _resume(state, *(arrays[name].copy() for name in ("evidence", "edge", "cluster", "since")))
    return state


@kernel
def _resume(state, evidence, edge, cluster, since):  # INOUT scalars, node, slot, pair
    """Rebuild what follows from the arrays: lists, running sums and the graph."""
    state = refer(state)
    scalars = state.scalars[0]
    for k in range(scalars.n_nodes):
        node = state.node[k]
        node.slot = NONE
        if node.usage > 1:
            scalars.used_nodes += 1
            scalars.used_usage += node.usage
        if node.activity != 0:
            state.touched[scalars.n_touched] = k
            scalars.n_touched += 1
    for i in range(evidence.shape[0]):
        row = pair_of(state, take_slot(state, evidence[i, 0]), take_slot(state, evidence[i, 1]))
        state.pair[row].evidence = evidence[i, 2]
        scalars.evident_pairs += 1
        scalars.total_evidence += evidence[i, 2]
    for i in range(edge.shape[0]):
        promote(state, pair_of(state, state.node[edge[i, 0]].slot, state.node[edge[i, 1]].slot))
    for k in range(scalars.n_nodes):
        if state.node[k].active:
            scalars.n_active += 1
            slot = take_slot(state, k)
            # A node that got an edge after a quiet round stays listed until the next maintenance resets it.
            if state.slot[slot].degree == 0 or state.node[k].idle > 0:
                list_isolated(state, slot)
    restore_ids(state, cluster, since)


@jit_allocating
def restore_ids(state, cluster, since):  # INOUT slot, scalars
    """Give the clusters their ids back, and new ones to those that have none, without events."""
    scalars = state.scalars[0]
    for k in range(scalars.n_nodes):
        if state.node[k].active and cluster[k] != NO_CLUSTER:
            slot = state.slot[state.node[k].slot]
            slot.cluster_root = root(state, state.node[k].slot)
            state.slot[slot.cluster_root].cluster = cluster[k]
            state.slot[slot.cluster_root].since = since[k]
    scalars.n_changed = ALL_CHANGED
    update_ids(state)
    for s in range(scalars.n_slots):  # no sample is being learnt
        state.slot[s].since = min(state.slot[s].since, scalars.n_seen)
    scalars.n_events = 0
    scalars.n_event_centres = 0


def examine(scalars: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> State:
    """`restore` for parts that come from outside: raises ValueError when they cannot be those of a model.

    Nothing is allocated beyond their size before they are checked.
    """
    if arrays["prototype"].ndim != 2:
        raise ValueError("wrong shape or dtype of array 'prototype'")
    n_nodes, n_features = arrays["prototype"].shape
    n_window = len(arrays["window"])
    shapes = dict.fromkeys((*NODE_FIELDS, "cluster", "since"), (n_nodes,)) | {
        "prototype": (n_nodes, n_features),
        "mean": (n_features,),
        "square_sum": (n_features,),
        "weight": (n_features,),
        "window": (n_window, n_features),
        "evidence": (len(arrays["evidence"]), 3),
        "edge": (len(arrays["edge"]), 2),
        "handover": (len(arrays["handover"]), 3),
    }
    kinds = KINDS
    if "probe" in arrays:
        probed = (n_features, N_PROBES), (4, N_PROBES), (N_BINS,)
        shapes |= dict(zip(PROBE_ARRAYS, probed, strict=True))
        kinds = kinds | dict.fromkeys(PROBE_ARRAYS, "f")
    if "direction" in arrays:
        directed = (n_features, N_DIRECTIONS), (2, N_DIRECTIONS), (n_features,)
        shapes |= dict(zip(DIRECTION_ARRAYS, directed, strict=True))
        kinds = kinds | dict(zip(DIRECTION_ARRAYS, "ffb", strict=True))
    wrong = [name for name in shapes if arrays[name].shape != shapes[name]]
    wrong += [name for name in kinds if arrays[name].dtype.kind != kinds[name]]
    if wrong:
        raise ValueError(f"wrong shape or dtype of array {', '.join(map(repr, sorted(wrong)))}")
    if n_nodes == 0 or n_features == 0:
        raise ValueError(f"model without {'features' if n_nodes else 'nodes'}")
    wrong = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if wrong:
        raise ValueError(f"non-finite value in array {', '.join(map(repr, wrong))}")
    for name in ("evidence", "edge", "handover"):
        if not _in_order(arrays[name][:, :2], n_nodes):
            raise ValueError(f"array {name!r} has a pair of unknown nodes, a pair i >= j or a repeated pair")
    evident = set(map(tuple, arrays["evidence"][:, :2].tolist()))
    if not evident.issuperset(map(tuple, arrays["edge"].tolist())):
        raise ValueError("edge without evidence")
    if not n_window // 2 <= scalars["interval"] <= max(2, n_window):
        raise ValueError(f"interval {scalars['interval']} does not match a window of {n_window} samples")
    state = restore(scalars, arrays)
    check(state)
    known = arrays["cluster"] != NO_CLUSTER
    if not np.array_equal(cluster_ids(state)[known], arrays["cluster"][known]):
        raise ValueError("cluster ids contradict the edges")
    return state


def _in_order(pairs: np.ndarray, n_nodes: int) -> bool:
    """Whether these are pairs i < j of nodes, without duplicates."""
    inside = (pairs >= 0).all() and (pairs < n_nodes).all() and (pairs[:, 0] < pairs[:, 1]).all()
    return bool(inside and len(np.unique(pairs, axis=0)) == len(pairs))
