"""All that IDAT has learnt: one flat tuple of arrays. Data only: every rule imports it."""

from typing import Any, NamedTuple

import numpy as np

from ..jit.blocks import LANES, copy_blocks, new_blocks
from ..jit.compile import record
from ..jit.reference import declare_lists
from .layout import N_BINS, N_DIRECTIONS, N_PROBES, NO_CLUSTER, NO_EXPONENT, NONE, NOT_CENTRED
from .variants import PUBLISHED, Variant

SCALARS = record(
    ("n_seen", np.int64),  # t, samples learnt
    ("since_recalibration", np.int64),  # r
    ("interval", np.int64),  # Λ
    ("vigilance", np.float64),  # V_threshold
    ("cluster_ratio", np.float64),  # ρ, smoothed C/K
    ("n_nodes", np.int64),  # K
    ("n_active", np.int64),
    ("n_touched", np.int64),  # nodes that won or were created since the last maintenance
    ("used_nodes", np.int64),  # T_active = used_usage / used_nodes, over nodes used more than once
    ("used_usage", np.int64),
    ("widest", np.float64),  # max σ_k; negative when it must be computed again
    ("window_head", np.int64),
    ("window_size", np.int64),
    ("n_slots", np.int64),
    ("n_pairs", np.int64),
    ("n_edges", np.int64),
    ("n_isolated", np.int64),  # active nodes without an edge
    ("n_joins", np.int64),  # edges that joined two components: components = n_nodes - n_joins
    ("evident_pairs", np.int64),  # T_edge = total_evidence / evident_pairs
    ("total_evidence", np.int64),
    ("n_changed", np.int64),  # slots whose component this sample has changed, or ALL_CHANGED
    ("next_cluster", np.int64),  # the next id
    ("provisional", np.int64),  # id of the answer while no node is active
    ("next_community", np.int64),  # the next id of a hand-over cluster
    ("n_events", np.int64),  # of clusters, not yet read: see cluster_ids.py
    ("n_event_centres", np.int64),
    ("n_born", np.int64),  # the next birth number
    ("n_handovers", np.int64),  # rows of their table in use
    ("coarse_unit", np.float64),  # see nearest.py
    ("coarse_stretch", np.float64),  # of a distance in the coarse copy: see metric.py
    ("n_coarse_misses", np.int64),
    ("n_probes", np.int64),  # samples that the next ones are compared with: see probes.py
    ("n_compared", np.int64),  # samples compared with these probes
    ("n_rounds", np.int64),  # of comparison, or LONGEST_REST of them
    ("n_resting", np.int64),  # samples until the next probes
    ("first_exponent", np.int64),  # of the first squared distance that was counted
    ("n_ratios", np.float64),  # D = n_ratios / log_ratios
    ("log_ratios", np.float64),
    ("radius_factor", np.float64),  # of the radius that V stands for
    ("n_clusters", np.float64),  # as the probes see it, or 0
    ("cluster_end", np.float64),  # distance at which clusters end, if they do, else 0
    ("cluster_radius", np.float64),  # how far clusters reach from their centres, if they are many, else 0
    ("foretold_at", np.int64),  # n_seen when nodes were compared: see foretold.py
)
NODE = record(
    ("usage", np.int64),  # M_k
    ("wins", np.int64),  # samples that it won as the nearest node, the one that created it included
    ("scale", np.float64),  # σ_k
    ("active", np.bool_),  # a_k
    ("idle", np.int64),  # U_k
    ("activity", np.int64),  # P_k so far: usage and evidence gained since the last maintenance
    ("slot", np.int64),  # in the graph, or NONE
    ("last_won", np.int64),  # number of the sample
    ("community", np.int64),  # id of its hand-over cluster at the last update of ids, or NO_CLUSTER
    ("birth", np.int64),  # number in the order of creation, which names the node in hand-overs
)
SLOT = record(
    ("node", np.int64),  # the node in this slot
    ("degree", np.int64),  # number of edges
    ("parent", np.int64),  # union-find forest of the components
    ("next_in_component", np.int64),  # circular list of the slots of a component
    ("cluster_root", np.int64),  # slot that holds the cluster's id, or NONE when the node is not active
    ("cluster", np.int64),  # the id, in cluster roots only
    ("since", np.int64),  # the sample at which the cluster appeared, in cluster roots only
    ("is_isolated", np.bool_),
)
PAIR = record(
    ("a", np.int64),  # two slots, a < b
    ("b", np.int64),
    ("evidence", np.int64),  # E_cand
    ("is_edge", np.bool_),
    ("length", np.float64),
)
EVENT = record(
    ("sample", np.int64),  # number of the sample, counted from 1
    ("kind", np.int64),
    ("cluster", np.int64),  # that ended, was split, was merged into, or is new
    ("part", np.int64),  # one of the parts of the split or of the clusters merged; else the cluster
    ("size", np.int64),  # wins of that part
    ("centre", np.int64),  # row of the cluster's centre
)
HANDOVER = record(("a", np.int64), ("b", np.int64), ("count", np.int64))  # births, a < b; no count: empty


class State(NamedTuple):
    """The model. Arrays have room to grow; the scalars say how much of them is in use."""

    scalars: np.ndarray  # one row
    # Nodes, in order of creation.
    node: np.ndarray
    prototype: np.ndarray  # y_k
    touched: np.ndarray  # list of nodes with activity: the first n_touched entries
    # Features.
    mean: np.ndarray  # of the whole stream
    square_sum: np.ndarray  # of deviations from the mean
    weight: np.ndarray  # ω, in the metric
    direction: np.ndarray  # of features, in standard deviations; none unless the metric is capped
    projection: np.ndarray  # sums of squares along the directions: see correlation.py
    foretold: np.ndarray  # by others: the cap may be relaxed for these features
    # The latest samples, a ring.
    window: np.ndarray
    # The graph: only nodes that were ever active or have evidence have a slot.
    slot: np.ndarray
    isolated: np.ndarray  # list of slots of active nodes without an edge: the first n_isolated entries
    changed: np.ndarray  # list of slots whose component has changed: the first n_changed entries
    pair: np.ndarray  # pairs of slots with common evidence
    pair_bucket: np.ndarray  # hash table: slots -> pair
    edge: np.ndarray  # list of pairs that are edges: the first n_edges entries
    # Events of clusters that were not read yet.
    event: np.ndarray
    event_centre: np.ndarray
    # Hand-overs between nodes, a hash table for reading out only.
    handover: np.ndarray
    # Probes, feature by feature, and their distances to the samples after them; none for IDAT.
    probe: np.ndarray
    probe_distance: (
        np.ndarray
    )  # squares: to the nearest, second nearest and present sample; when the nearest came
    distance_count: np.ndarray  # how many were as far away as each bin says
    # The coarse copy of the nodes, for the search only.
    coarse: np.ndarray  # float32
    coarse_centre: np.ndarray
    coarse_scale: np.ndarray  # per feature


declare_lists(State, "touched", "isolated", "changed", "pair_bucket", "edge")


def new_state(n_features: int, variant: Variant = PUBLISHED) -> State:
    """A model that has seen nothing."""
    state = allocate(
        n_features,
        window=2 * variant.first_interval,
        probes=N_PROBES * variant.refines,
        directions=N_DIRECTIONS * variant.capped,
    )
    state.scalars["interval"] = variant.first_interval
    return state


def allocate(
    n_features: int,
    nodes: int = 1,
    slots: int = 1,
    pairs: int = 1,
    window: int = 1,
    events: int = 1,
    event_centres: int = 1,
    handovers: int = 1024,
    probes: int = 0,
    directions: int = 0,
) -> State:
    """An empty state with room for at least so many of each."""
    nodes, slots, pairs = capacity(nodes), capacity(slots), capacity(pairs)
    state = State(
        scalars=np.zeros(1, SCALARS),
        node=np.zeros(nodes, NODE),
        prototype=np.zeros((nodes, n_features)),
        touched=np.zeros(nodes, np.int64),
        mean=np.zeros(n_features),
        square_sum=np.zeros(n_features),
        weight=np.ones(n_features),
        direction=np.zeros((n_features, directions)),
        projection=np.zeros((2, directions)),
        foretold=np.zeros(n_features if directions else 0, np.bool_),
        window=np.zeros((capacity(window), n_features)),
        slot=np.zeros(slots, SLOT),
        isolated=np.zeros(slots, np.int64),
        changed=np.zeros(slots, np.int64),
        pair=np.zeros(pairs, PAIR),
        pair_bucket=np.full(pairs, NONE),
        edge=np.zeros(pairs, np.int64),
        event=np.zeros(capacity(events), EVENT),
        event_centre=np.zeros((capacity(event_centres), n_features)),
        handover=np.zeros(capacity(handovers), HANDOVER),
        probe=np.zeros((n_features, probes)),
        probe_distance=np.zeros((4, probes)),
        distance_count=np.zeros(N_BINS if probes else 0),
        coarse=new_coarse(nodes, n_features),
        coarse_centre=np.zeros(n_features),
        coarse_scale=np.zeros(n_features),
    )
    state.scalars["widest"] = -1.0
    state.scalars["n_coarse_misses"] = NOT_CENTRED
    state.scalars["provisional"] = NO_CLUSTER
    state.scalars["first_exponent"] = NO_EXPONENT
    state.scalars["radius_factor"] = 1.0
    return state


def new_coarse(nodes: int, n_features: int) -> np.ndarray:
    """Room for the coarse copy of so many nodes."""
    coarse = new_blocks(nodes // LANES, n_features + 1, np.float32)
    coarse[:, n_features] = np.inf  # lanes without a node
    return coarse


def capacity(needed: int) -> int:
    """The least power of two, from 64 on, with enough room."""
    return max(LANES, 1 << (int(needed) - 1).bit_length())


def scalars_of(state: State) -> Any:
    """The scalars by name, readable and writable from plain Python."""
    return state.scalars.view(np.recarray)[0]


def scalar(state: State, name: str) -> Any:
    """One of the scalars, in a twentieth of the time that `scalars_of` takes."""
    return state.scalars[name].item()


def copy(state: State) -> State:
    """An independent model with the same content."""
    copied = State(*(np.empty_like(array) for array in state))._replace(coarse=copy_blocks(state.coarse))
    for new, old in zip(copied, state, strict=True):
        copy_rows(new, old)
    return copied


def copy_rows(new: np.ndarray, old: np.ndarray) -> None:  # INOUT new
    """Put old rows where the new ones begin; records as bytes, because NumPy copies them field by field."""
    if old.dtype.names is None:
        new[: len(old)] = old
    else:
        new.reshape(-1).view(np.uint8)[: old.nbytes] = old.reshape(-1).view(np.uint8)
