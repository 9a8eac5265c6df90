"""Every invariant of the state, as one function: tests call it after every sample, `load` once."""

from typing import Any

import numpy as np

from .correlation import EXPECTED
from .layout import LONGEST_REST, NO_EXPONENT
from .state import State, scalars_of

LARGEST_EXPONENT = 1_100  # beyond that of any float64

Rules = list[tuple[str, Any]]  # (invariant, whether it holds)


def check(state: State) -> None:
    """Raise ValueError naming every invariant that the state breaks."""
    broken = [rule for rule, holds in _rules(state) if not holds]
    if broken:
        raise ValueError("The model contradicts itself: " + "; ".join(broken) + ".")


def _rules(state: State) -> Rules:
    scalars = scalars_of(state)
    node = state.node[: scalars.n_nodes]
    slot = state.slot[: scalars.n_slots]
    return [
        *_of_nodes(state, scalars, node),
        *_of_slots(state, scalars, node, slot),
        *_of_pairs(state, scalars, slot),
        *_of_clusters(scalars, node, slot),
        *_of_handovers(state, scalars, node),
        *_of_the_stream(state, scalars),
        *_of_probes(state, scalars),
    ]


def _of_nodes(state: State, scalars: Any, node: np.ndarray) -> Rules:
    used = node["usage"][node["usage"] > 1]
    touched = state.touched[: scalars.n_touched]
    return [
        ("every node was used at least once", (node["usage"] >= 1).all()),
        ("no more uses than two per sample", int(node["usage"].sum()) <= 2 * scalars.n_seen),
        ("a win is a use", ((node["wins"] >= 1) & (node["wins"] <= node["usage"])).all()),
        ("no more wins than samples", int(node["wins"].sum()) <= scalars.n_seen),
        ("the usage sums are right", (scalars.used_nodes, scalars.used_usage) == (len(used), used.sum())),
        ("scales are positive and finite", _positive(node["scale"])),
        ("the widest scale is the largest", scalars.widest < 0 or scalars.widest == node["scale"].max()),
        ("prototypes are finite", np.isfinite(state.prototype[: scalars.n_nodes]).all()),
        ("idle nodes have been idle once at most", np.isin(node["idle"], (0, 1)).all()),
        ("only active nodes are idle", _implies(node["idle"] > 0, node["active"])),
        ("the count of active nodes is right", scalars.n_active == node["active"].sum()),
        ("activities are not negative", (node["activity"] >= 0).all()),
        ("nodes with activity are listed once", _listed(touched, node["activity"] > 0)),
        ("no node won a sample that is to come", _are_issued(node["last_won"] - 1, scalars.n_seen)),
    ]


def _of_slots(state: State, scalars: Any, node: np.ndarray, slot: np.ndarray) -> Rules:
    slotted = np.flatnonzero(node["slot"] >= 0)
    isolated = state.isolated[: scalars.n_isolated]
    occupant = node[slot["node"]]
    is_isolated = occupant["active"] & ((slot["degree"] == 0) | (occupant["idle"] > 0))
    return [
        ("nodes used once have no slot", (node["slot"][node["usage"] == 1] < 0).all()),
        ("active nodes have a slot", (node["slot"][node["active"]] >= 0).all()),
        ("slots and nodes point at each other", np.array_equal(slot["node"][node["slot"][slotted]], slotted)),
        ("every slot is taken", len(slotted) == len(slot)),
        (
            "active nodes without an edge are listed once",
            _all_listed(isolated, is_isolated, slot["is_isolated"]),
        ),
    ]


def _of_pairs(state: State, scalars: Any, slot: np.ndarray) -> Rules:
    pair = state.pair[: scalars.n_pairs]
    edge = state.edge[: scalars.n_edges]
    bucket = state.pair_bucket
    evident = pair["evidence"][pair["evidence"] > 0]
    sums = len(evident), evident.sum()
    degree = np.bincount(np.concatenate([pair["a"][edge], pair["b"][edge]]), minlength=len(slot))
    return [
        ("the evidence sums are right", (scalars.evident_pairs, scalars.total_evidence) == sums),
        ("pairs are of two different slots", (pair["a"] < pair["b"]).all()),
        ("no pair is there twice", _are_single(pair)),
        ("the hash table holds every pair once", _listed(bucket[bucket >= 0], np.ones(len(pair), bool))),
        ("edges are listed once", _listed(edge, pair["is_edge"])),
        ("edges have evidence", (pair["evidence"][edge] > 0).all()),
        ("degrees are right", np.array_equal(degree, slot["degree"])),
    ]


def _of_clusters(scalars: Any, node: np.ndarray, slot: np.ndarray) -> Rules:
    is_active = node["active"][slot["node"]]
    indices = np.arange(len(slot))
    return [
        ("joins are right", scalars.n_joins == len(slot) - (slot["parent"] == indices).sum()),
        ("parents come before their children", (slot["parent"] <= indices).all()),
        ("circular lists go around their component", _go_around(slot)),
        ("only active nodes have a cluster root", np.array_equal(slot["cluster_root"] >= 0, is_active)),
        ("cluster roots are roots and have an id", _are_cluster_roots(slot, is_active)),
        ("ids are different and were issued", _are_ids(slot["cluster"], scalars.next_cluster)),
        ("no change of components is pending", scalars.n_changed == 0),
        ("ids of communities were issued", _are_issued(node["community"], scalars.next_community)),
    ]


def _of_handovers(state: State, scalars: Any, node: np.ndarray) -> Rules:
    handed = state.handover[state.handover["count"] != 0]
    are_pairs = (handed["a"] < handed["b"]).all()
    are_counted = len(handed) == scalars.n_handovers and _are_single(handed)
    return [
        ("birth numbers rise and were issued", _rises(node["birth"], scalars.n_born)),
        ("hand-overs have birth numbers that were issued", _are_born(handed, scalars.n_born)),
        ("hand-overs are counted once", are_pairs and are_counted),
        ("every sample hands over once at most", 0 <= handed["count"].sum() <= scalars.n_seen),
    ]


def _of_the_stream(state: State, scalars: Any) -> Rules:
    longest = min(2 * scalars.interval, scalars.n_seen)
    return [
        ("spread is finite and not negative", _spread_is_sound(state)),
        ("feature weights are between 0 and 1", _are_weights(state.weight)),
        ("directions and their sums are finite", np.isfinite([*state.direction, *state.projection]).all()),
        ("no expected variance is negative", (state.projection[EXPECTED] >= 0).all()),
        ("nodes were compared in the past", 0 <= scalars.foretold_at <= scalars.n_seen),
        ("interval and vigilance are in range", scalars.interval >= 2 and 0 <= scalars.vigilance <= 1),
        ("the cluster ratio is in range", 0 <= scalars.cluster_ratio <= 1),
        ("the window holds at most two intervals", scalars.window_size <= longest),
    ]


def _of_probes(state: State, scalars: Any) -> Rules:
    nearest, second = state.probe_distance[:2, : scalars.n_probes]
    counted = np.array([scalars.n_ratios, scalars.log_ratios, *state.distance_count])
    return [
        (
            "there are at most as many probes as there is room for",
            0 <= scalars.n_probes <= state.probe.shape[1],
        ),
        ("rounds and rests are in range", 0 <= scalars.n_rounds <= LONGEST_REST and scalars.n_resting >= 0),
        ("no more samples were compared than learnt", 0 <= scalars.n_compared <= scalars.n_seen),
        ("a probe's nearest sample is nearer than the second", ((nearest >= 0) & (nearest <= second)).all()),
        (
            "counts and sums of distances are not negative",
            (counted >= 0).all(),
        ),
        ("the first distance has an exponent of its own", _is_exponent(int(scalars.first_exponent))),
        ("the radius is made smaller, if at all", 0 < scalars.radius_factor <= 1),
        ("clusters end at some distance, or at none", 0 <= scalars.cluster_end < np.inf),
        ("clusters that end are counted, and more than one", _are_counted(scalars)),
        ("clusters have some radius, or none", 0 <= scalars.cluster_radius < np.inf),
    ]


def _are_counted(scalars: Any) -> bool:
    n_clusters = scalars.n_clusters
    return bool(1 < n_clusters < np.inf if scalars.cluster_end > 0 else n_clusters == 0)


def _is_exponent(number: int) -> bool:
    return number == NO_EXPONENT or abs(number) <= LARGEST_EXPONENT


def _positive(values: np.ndarray) -> bool:
    return bool((values > 0).all() and np.isfinite(values).all())


def _spread_is_sound(state: State) -> bool:
    return bool(np.isfinite([state.mean, state.square_sum]).all() and (state.square_sum >= 0).all())


def _rises(births: np.ndarray, n_born: int) -> bool:
    return bool((np.diff(births, append=n_born) > 0).all() and births.min(initial=0) >= 0)


def _are_born(handed: np.ndarray, n_born: int) -> bool:
    return all(bool((handed[end] >= 0).all() and (handed[end] < n_born).all()) for end in ("a", "b"))


def _are_single(pairs: np.ndarray) -> bool:
    return len(np.unique(np.stack([pairs["a"], pairs["b"]]), axis=1).T) == len(pairs)


def _roots(slot: np.ndarray) -> np.ndarray:
    root = np.arange(len(slot))
    for s in range(len(slot)):  # parents come before their children
        root[s] = root[min(slot["parent"][s], s)]
    return root


def _go_around(slot: np.ndarray) -> bool:
    """Whether the circular list of every root meets every slot of its component once."""
    root = _roots(slot)
    return all(_met(slot, first) == np.flatnonzero(root == first).tolist() for first in np.unique(root))


def _met(slot: np.ndarray, first: int) -> list[int]:
    met, s = [first], slot["next_in_component"][first]
    while s != first and len(met) < len(slot):
        met.append(s)
        s = slot["next_in_component"][s]
    return sorted(met)


def _are_cluster_roots(slot: np.ndarray, is_active: np.ndarray) -> bool:
    root = _roots(slot)
    owners = np.flatnonzero(slot["cluster"] >= 0)
    return np.array_equal(slot["cluster_root"][is_active], root[is_active]) and np.array_equal(
        np.unique(root[is_active]), owners
    )


def _are_ids(cluster: np.ndarray, next_cluster: int) -> bool:
    ids = cluster[cluster >= 0]
    return len(np.unique(ids)) == len(ids) and bool((ids < next_cluster).all())


def _are_issued(numbers: np.ndarray, next_number: int) -> bool:
    return bool((numbers >= -1).all() and (numbers < next_number).all())


def _are_weights(weight: np.ndarray) -> bool:
    return bool((weight >= 0).all() and (weight <= 1).all())


def _implies(these: np.ndarray, those: np.ndarray) -> bool:
    return bool((~these | those).all())


def _listed(entries: np.ndarray, members: np.ndarray) -> bool:
    return np.array_equal(np.sort(entries), np.flatnonzero(members))


def _all_listed(entries: np.ndarray, members: np.ndarray, flags: np.ndarray) -> bool:
    """The list may still name some that have got an edge since, but it misses none."""
    return _listed(entries, flags) and _implies(members, flags)
