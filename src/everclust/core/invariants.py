"""Every invariant of the state, as one function: tests call it after every sample, loading after a load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .state import State

Rules = list[tuple[str, Any]]  # what must be so, and is it?


def check(state: State) -> None:
    """Raise ValueError naming every invariant that the state breaks."""
    broken = [rule for rule, holds in _rules(state) if not holds]
    if broken:
        raise ValueError("The model contradicts itself: " + "; ".join(broken) + ".")


def _rules(state: State) -> Rules:
    clock: Any = state.clock.view(np.recarray)[0]
    node = state.node[: clock.n_nodes]
    seat = state.seat[: clock.n_seats]
    return [
        *_of_nodes(state, clock, node),
        *_of_seats(state, clock, node, seat),
        *_of_pairs(state, clock, seat),
        *_of_clusters(clock, node, seat),
        *_of_handovers(state, clock, node),
        *_of_the_stream(state, clock),
    ]


def _of_nodes(state: State, clock: Any, node: np.ndarray) -> Rules:
    used = node["usage"][node["usage"] > 1]
    touched = state.node["touched"][: clock.n_touched]
    return [
        ("every node was used at least once", (node["usage"] >= 1).all()),
        ("no more uses than two per sample", int(node["usage"].sum()) <= 2 * clock.n_seen),
        ("the usage sums are right", (clock.used_nodes, clock.used_usage) == (len(used), used.sum())),
        ("scales are positive and finite", _positive(node["scale"])),
        ("the widest scale is the largest", clock.widest < 0 or clock.widest == node["scale"].max()),
        ("prototypes are finite", np.isfinite(state.prototype[: clock.n_nodes]).all()),
        ("idle nodes have been idle once at most", np.isin(node["idle"], (0, 1)).all()),
        ("only active nodes are idle", _implies(node["idle"] > 0, node["active"])),
        ("the count of active nodes is right", clock.n_active == node["active"].sum()),
        ("gains are not negative", (node["gain"] >= 0).all()),
        ("gains are listed once", _listed(touched, node["gain"] > 0)),
        ("nobody won a sample that is to come", _are_given(node["last_won"] - 1, clock.n_seen)),
    ]


def _of_seats(state: State, clock: Any, node: np.ndarray, seat: np.ndarray) -> Rules:
    seated = np.flatnonzero(node["seat"] >= 0)
    loose = state.seat["loose"][: clock.n_loose]
    sitting = node[seat["node"]]
    is_loose = sitting["active"] & ((seat["degree"] == 0) | (sitting["idle"] > 0))
    return [
        ("nodes used once have no seat", (node["seat"][node["usage"] == 1] < 0).all()),
        ("active nodes have a seat", (node["seat"][node["active"]] >= 0).all()),
        ("seats and nodes point at each other", np.array_equal(seat["node"][node["seat"][seated]], seated)),
        ("every seat is taken", len(seated) == len(seat)),
        ("active nodes without an edge are listed once", _all_listed(loose, is_loose, seat["is_loose"])),
    ]


def _of_pairs(state: State, clock: Any, seat: np.ndarray) -> Rules:
    pair = state.pair[: clock.n_pairs]
    edge = state.pair["edge"][: clock.n_edges]
    evident = pair["evidence"][pair["evidence"] > 0]
    sums = len(evident), evident.sum()
    degree = np.bincount(np.concatenate([pair["a"][edge], pair["b"][edge]]), minlength=len(seat))
    return [
        ("the evidence sums are right", (clock.evident_pairs, clock.total_evidence) == sums),
        ("pairs are of two different seats", (pair["a"] < pair["b"]).all()),
        ("no pair is there twice", _are_single(pair)),
        ("edges are listed once", _listed(edge, pair["is_edge"])),
        ("edges have evidence", (pair["evidence"][edge] > 0).all()),
        ("degrees are right", np.array_equal(degree, seat["degree"])),
    ]


def _of_clusters(clock: Any, node: np.ndarray, seat: np.ndarray) -> Rules:
    at_work = node["active"][seat["node"]]
    places = np.arange(len(seat))
    return [
        ("joins are right", clock.n_joins == len(seat) - (seat["parent"] == places).sum()),
        ("parents come before their children", (seat["parent"] <= places).all()),
        ("mates are all around their component", _go_around(seat)),
        ("only active nodes are at home in a cluster", np.array_equal(seat["home"] >= 0, at_work)),
        ("homes are roots, and have an id", _are_homes(seat, at_work)),
        ("ids are different and were given", _are_ids(seat["cluster"], clock.next_cluster)),
        ("nothing is left to be recognised", clock.change == 0),
        ("communities were given their ids", _are_given(node["community"], clock.next_community)),
    ]


def _of_handovers(state: State, clock: Any, node: np.ndarray) -> Rules:
    handed = state.handover[state.handover["count"] != 0]
    are_pairs = (handed["a"] < handed["b"]).all()
    are_counted = len(handed) == clock.n_handovers and _are_single(handed)
    return [
        ("births rise, and none is to come", _rises(node["birth"], clock.n_born)),
        ("hand-overs are of nodes that were born", _are_born(handed, clock.n_born)),
        ("hand-overs are counted once", are_pairs and are_counted),
        ("every sample hands over once at most", 0 <= handed["count"].sum() <= clock.n_seen),
    ]


def _of_the_stream(state: State, clock: Any) -> Rules:
    longest = min(2 * clock.interval, clock.n_seen)
    return [
        ("spread is finite and not negative", _spread_is_sound(state)),
        ("feature weights are between 0 and 1", _are_weights(state.feature[2])),
        ("interval and vigilance are in range", clock.interval >= 2 and 0 <= clock.vigilance <= 1),
        ("the cluster ratio is in range", 0 <= clock.cluster_ratio <= 1),
        ("the window holds at most two intervals", clock.window_size <= longest),
    ]


def _positive(values: np.ndarray) -> bool:
    return bool((values > 0).all() and np.isfinite(values).all())


def _spread_is_sound(state: State) -> bool:
    return bool(np.isfinite(state.feature[:2]).all() and (state.feature[1] >= 0).all())


def _rises(births: np.ndarray, n_born: int) -> bool:
    return bool((np.diff(births, append=n_born) > 0).all() and births.min(initial=0) >= 0)


def _are_born(handed: np.ndarray, n_born: int) -> bool:
    return all(bool((handed[end] >= 0).all() and (handed[end] < n_born).all()) for end in ("a", "b"))


def _are_single(pairs: np.ndarray) -> bool:
    return len(np.unique(np.stack([pairs["a"], pairs["b"]]), axis=1).T) == len(pairs)


def _roots(seat: np.ndarray) -> np.ndarray:
    root = np.arange(len(seat))
    for s in range(len(seat)):  # parents come before their children
        root[s] = root[min(seat["parent"][s], s)]
    return root


def _go_around(seat: np.ndarray) -> bool:
    """Following mates from any root, does one meet every seat of its component once?"""
    root = _roots(seat)
    return all(_met(seat, first) == np.flatnonzero(root == first).tolist() for first in np.unique(root))


def _met(seat: np.ndarray, first: int) -> list[int]:
    met, s = [first], seat["mate"][first]
    while s != first and len(met) < len(seat):
        met.append(s)
        s = seat["mate"][s]
    return sorted(met)


def _are_homes(seat: np.ndarray, at_work: np.ndarray) -> bool:
    root = _roots(seat)
    at_home = np.flatnonzero(seat["cluster"] >= 0)
    return np.array_equal(seat["home"][at_work], root[at_work]) and np.array_equal(
        np.unique(root[at_work]), at_home
    )


def _are_ids(cluster: np.ndarray, next_cluster: int) -> bool:
    ids = cluster[cluster >= 0]
    return len(np.unique(ids)) == len(ids) and bool((ids < next_cluster).all())


def _are_given(numbers: np.ndarray, next_number: int) -> bool:
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
