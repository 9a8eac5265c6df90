"""All that IDAT has learnt: one flat tuple of arrays."""

from typing import Any, NamedTuple

import numpy as np

from ..jit.blocks import LANES, copy_blocks, new_blocks
from ..jit.compile import jit, record
from .cluster_ids import LINE
from .handovers import HANDOVER, enter, worth_keeping
from .invariants import check as check
from .nearest import NO_NODE, NOT_ANCHORED
from .pair_table import EMPTY, rehash
from .spread import N_ROWS, WEIGHT
from .topology import NO_CLUSTER
from .variants import PUBLISHED, Reading

SEED_NODES = 3  # so many samples become nodes without being asked

CLOCK = record(
    ("n_seen", np.int64),  # t, samples learnt
    ("since_recalibration", np.int64),  # r
    ("interval", np.int64),  # Λ
    ("vigilance", np.float64),  # V_threshold
    ("cluster_ratio", np.float64),  # ρ, smoothed C/K
    ("n_nodes", np.int64),  # K
    ("n_active", np.int64),
    ("n_touched", np.int64),  # nodes that won or were born since the last maintenance
    ("used_nodes", np.int64),  # T_active = used_usage / used_nodes, over nodes used more than once
    ("used_usage", np.int64),
    ("widest", np.float64),  # max σ_k; negative when it has to be looked up anew
    ("window_head", np.int64),
    ("window_size", np.int64),
    ("n_seats", np.int64),
    ("n_pairs", np.int64),
    ("n_edges", np.int64),
    ("n_loose", np.int64),  # active nodes without an edge
    ("n_joins", np.int64),  # edges that joined two components: components = n_nodes - n_joins
    ("evident_pairs", np.int64),  # T_edge = total_evidence / evident_pairs
    ("total_evidence", np.int64),
    ("change", np.int64),  # what this sample has done to the components: see topology.py
    ("next_cluster", np.int64),  # the next id
    ("provisional", np.int64),  # what answers while no node is active
    ("next_community", np.int64),  # the same for hand-over clusters
    ("n_lines", np.int64),  # of what has happened to clusters: see lineage.py
    ("n_centres", np.int64),
    ("n_born", np.int64),  # the next birth number
    ("n_handovers", np.int64),  # rows of their table in use
    ("unit", np.float64),  # of the shadow: see search.py
    ("stretch", np.float64),  # of a distance in the shadow: see metric.py
    ("strays", np.int64),
)
NODE = record(
    ("usage", np.int64),  # M_k
    ("scale", np.float64),  # σ_k
    ("active", np.bool_),  # a_k
    ("idle", np.int64),  # U_k
    ("gain", np.int64),  # P_k so far: usage and evidence gained since the last maintenance
    ("seat", np.int64),  # place in the graph, or NOBODY
    ("last_won", np.int64),  # number of the sample
    ("community", np.int64),  # id of its hand-over cluster when these were last decided, or NO_CLUSTER
    ("birth", np.int64),  # number in the order of birth, by which hand-overs know the node
    ("touched", np.int64),  # a list in its own right: the first n_touched entries name nodes
)
SEAT = record(
    ("node", np.int64),  # who sits here
    ("degree", np.int64),  # number of edges
    ("parent", np.int64),  # union-find forest of the components
    ("mate", np.int64),  # the next seat of the same component, all around
    ("home", np.int64),  # seat that stands for the cluster, or NO_HOME when the node is not active
    ("cluster", np.int64),  # its id, at home only
    ("since", np.int64),  # the sample from which on it has been there, at home only
    ("is_loose", np.bool_),
    ("loose", np.int64),  # a list: the first n_loose entries name seats of active nodes without edge
    ("changed", np.int64),  # a list: the first entries, as many as clock.change says, name seats
)
PAIR = record(
    ("a", np.int64),  # two seats, a < b
    ("b", np.int64),
    ("evidence", np.int64),  # E_cand
    ("is_edge", np.bool_),
    ("length", np.float64),
    ("edge", np.int64),  # a list: the first n_edges entries name the pairs that are edges
    ("slot", np.int64),  # a hash table of the size of the array: seats -> pair
)


class State(NamedTuple):
    """The model. Arrays have room to grow; the clock says how much of them is in use."""

    clock: np.ndarray  # one row: scalars
    node: np.ndarray  # nodes, in order of creation
    prototype: np.ndarray  # y_k, their positions
    feature: np.ndarray  # per feature: mean, sum of squared deviations, weight, anchor and unit of the shadow
    window: np.ndarray  # ring of the latest samples
    seat: np.ndarray  # places in the graph: only nodes ever active or with evidence have one
    pair: np.ndarray  # pairs of seats with common evidence
    line: np.ndarray  # what has happened to clusters and was not read yet
    centre: np.ndarray  # where it happened
    handover: np.ndarray  # hand-overs between nodes, for reading out only
    shadow: np.ndarray  # float32 copy of the nodes, for the search only


def new_state(n_features: int, reading: Reading = PUBLISHED) -> State:
    """A model that has seen nothing."""
    state = allocate(n_features, window=2 * reading.first_interval)
    state.clock["interval"] = reading.first_interval
    return state


def allocate(
    n_features: int,
    nodes: int = 1,
    seats: int = 1,
    pairs: int = 1,
    window: int = 1,
    lines: int = 1,
    centres: int = 1,
    handovers: int = 1024,
) -> State:
    """An empty state with room for at least so many of each."""
    state = State(
        clock=np.zeros(1, CLOCK),
        node=np.zeros(_doubled(nodes), NODE),
        prototype=np.zeros((_doubled(nodes), n_features)),
        feature=np.zeros((N_ROWS, n_features)),
        window=np.zeros((_doubled(window), n_features)),
        seat=np.zeros(_doubled(seats), SEAT),
        pair=np.zeros(_doubled(pairs), PAIR),
        line=np.zeros(_doubled(lines), LINE),
        centre=np.zeros((_doubled(centres), n_features)),
        handover=np.zeros(_doubled(handovers), HANDOVER),
        shadow=new_blocks(_doubled(nodes) // LANES, n_features + 1, np.float32),
    )
    state.clock["widest"] = -1.0
    state.feature[WEIGHT] = 1.0
    state.clock["strays"] = NOT_ANCHORED
    state.clock["provisional"] = NO_CLUSTER
    state.pair["slot"] = EMPTY
    state.shadow[:, n_features] = NO_NODE
    return state


def _doubled(needed: int) -> int:
    """The least power of two, from 64 on, with enough room."""
    return max(LANES, 1 << (int(needed) - 1).bit_length())


def clock_of(state: State) -> Any:
    """The scalars by name, readable and writable from plain Python."""
    return state.clock.view(np.recarray)[0]


@jit
def has_room(state):
    """Can one more sample be learnt without more memory?"""
    clock = state.clock[0]
    return (
        clock.n_nodes < state.node.shape[0]
        and clock.n_seats + 2 <= state.seat.shape[0]
        and 2 * clock.n_pairs < state.pair.shape[0]  # hashing wants half of it empty
        and 2 * clock.interval <= state.window.shape[0]
        and 2 * clock.n_handovers < state.handover.shape[0]
        # At worst every active node is a part of a split and of a merger, and two more are born.
        and clock.n_lines + 2 * clock.n_active + 4 <= state.line.shape[0]
        and clock.n_centres + clock.n_active + 4 <= state.centre.shape[0]
    )


def scalar(state: State, name: str) -> Any:
    """One of the numbers of the clock, in a twentieth of the time that `clock_of` takes."""
    return state.clock[name].item()


def grow(state: State) -> State:
    """The same model with twice the room of whatever has run out, or would soon: each time costs a copy."""
    is_crowded = 4 * scalar(state, "n_handovers") >= len(state.handover)
    handover = worth_keeping(state) if is_crowded else state.handover
    n_nodes, n_active = scalar(state, "n_nodes"), scalar(state, "n_active")
    bigger = allocate(
        state.prototype.shape[1],
        nodes=max(2 * n_nodes, len(state.node)),
        seats=max(2 * scalar(state, "n_seats"), len(state.seat)),
        pairs=max(4 * scalar(state, "n_pairs"), len(state.pair)),
        window=max(2 * scalar(state, "interval"), len(state.window)),
        lines=max(scalar(state, "n_lines") + 4 * n_active + 4, len(state.line)),
        centres=max(scalar(state, "n_centres") + 2 * n_active + 4, len(state.centre)),
        handovers=4 * int(np.count_nonzero(handover["count"])) if is_crowded else len(handover),
    )
    for name in ("clock", "node", "prototype", "feature", "seat", "pair", "line", "centre"):
        _copy_into(getattr(bigger, name), getattr(state, name))
    rows = window_rows(state)
    bigger.window[: len(rows)] = rows
    bigger.clock["window_head"] = len(rows) % len(bigger.window)
    bigger.clock["strays"] = NOT_ANCHORED
    rehash(bigger)
    if is_crowded:
        bigger.clock["n_handovers"] = 0
        enter(bigger, handover)
    else:
        _copy_into(bigger.handover, handover)
    return bigger


def window_rows(state: State) -> np.ndarray:
    """The remembered samples, oldest first."""
    head = scalar(state, "window_head")
    rows = np.arange(head - scalar(state, "window_size"), head)
    return state.window[rows % len(state.window)]


def copy(state: State) -> State:
    """An independent model with the same content."""
    copied = State(*(np.empty_like(array) for array in state))._replace(shadow=copy_blocks(state.shadow))
    for new, old in zip(copied, state, strict=True):
        _copy_into(new, old)
    return copied


def _copy_into(new: np.ndarray, old: np.ndarray) -> None:
    """Put old rows where the new ones begin, as bytes: NumPy copies records field by field."""
    new.reshape(-1).view(np.uint8)[: old.nbytes] = old.reshape(-1).view(np.uint8)
