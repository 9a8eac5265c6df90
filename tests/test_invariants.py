"""Every invariant holds after every sample, and none can be broken unnoticed."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from everclust.core import variants
from everclust.core.invariants import check
from everclust.core.learn import learn
from everclust.core.readout import candidates, components
from everclust.core.state import NODE, PAIR, SCALARS, SLOT, State, copy, new_state, scalars_of
from support.slow import others_slow

EVERY = pytest.mark.parametrize("every", others_slow([1, 7], now=[7]))


def watched(X, variant=variants.PUBLISHED, every=1):
    """Learn one by one, checking after every sample or every few; yields the state after every sample."""
    state = new_state(X.shape[1], variant)
    for i in range(len(X)):
        state = learn(state, np.ascontiguousarray(X[i : i + 1], dtype=float), variant)
        if i % every == 0:
            check(state)
        yield state


@EVERY
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_real_streams(load, by_class, every):
    data = load()
    order = np.random.default_rng(0).permutation(len(data.data))
    if by_class:
        order = np.argsort(data.target, kind="stable")
    n_seen = [scalars_of(state).n_seen for state in watched(data.data[order], every=every)]
    assert n_seen == list(range(1, len(order) + 1))


@pytest.mark.parametrize(
    "variant",
    [
        variants.PRINTED_EVIDENCE,
        pytest.param(variants.WITHOUT_GROWTH, marks=pytest.mark.slow),
        pytest.param(variants.WITHOUT_SHRINKING, marks=pytest.mark.slow),
        pytest.param(variants.WITHOUT_BOTH, marks=pytest.mark.slow),
        pytest.param(variants.starting_at(100), marks=pytest.mark.slow),
    ],
)
def test_other_readings(variant):
    for _ in watched(np.random.default_rng(0).normal(size=(400, 2)), variant):
        pass


@EVERY
def test_a_long_stream_outgrows_and_drops_everything(every):
    """Clusters that come and go: all arrays grow, nodes are dropped, retired and renumbered."""
    rng = np.random.default_rng(4)
    centre = 8 * rng.normal(size=(12, 4))
    X = centre[np.arange(4000) * 12 // 4000] + rng.normal(size=(4000, 4))
    largest_window, n_drops, n_retired, before = 0, 0, 0, (0, 0)
    for state in watched(X, every=every):
        scalars = scalars_of(state)
        largest_window = max(largest_window, int(scalars.window_size))
        n_drops += scalars.n_nodes < before[0]
        n_retired += scalars.n_active < before[1]
        before = (scalars.n_nodes, scalars.n_active)
    assert len(state.node) > 64
    assert len(state.slot) > 64
    assert len(state.pair) > 64
    assert scalars.n_pairs > 32
    assert largest_window > 64
    assert n_drops > 10
    assert n_retired > 10


def test_consequences_of_the_published_reading():
    rng = np.random.default_rng(2)
    X = np.repeat(6 * rng.normal(size=(5, 2)), 150, axis=0) + rng.normal(size=(750, 2))
    for state in watched(X):
        scalars = scalars_of(state)
        node = state.node[: scalars.n_nodes]
        component = components(state)
        in_use = component[node["active"]]
        # Inactive nodes are isolated, so that components add up.
        n_inactive = int((~node["active"]).sum())
        assert (
            scalars.n_nodes - scalars.n_joins
            == len(np.unique(component))
            == len(np.unique(in_use)) + n_inactive
        )
        # A node used once has neither an edge nor evidence.
        assert (node["slot"][node["usage"] == 1] == -1).all()
        assert len(candidates(state)) == (scalars.n_active or scalars.n_nodes)


# ---- Nothing is broken unnoticed ----


@pytest.fixture(scope="module")
def sound():
    """A model with edges, with active nodes without one, and with activity since the last maintenance."""
    X = np.repeat(np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]), 60, axis=0)
    X = np.random.default_rng(0).permutation(X + np.random.default_rng(1).normal(size=X.shape))
    best = None
    for state in watched(X):
        scalars = scalars_of(state)
        if min(scalars.n_edges, scalars.n_isolated, scalars.n_touched) > 1:
            best = copy(state)
    assert best is not None
    return best


def add(amount):
    return lambda value: value + amount


def become(value):
    return lambda _: value


# (array, field, which row, what becomes of it, what is said)
BROKEN = [
    ("scalars", "n_seen", 0, become(1), "two per sample"),
    ("scalars", "interval", 0, become(1), "interval"),
    ("scalars", "vigilance", 0, become(1.5), "vigilance"),
    ("scalars", "vigilance", 0, become(np.nan), "vigilance"),
    ("scalars", "cluster_ratio", 0, become(-0.1), "cluster ratio"),
    ("scalars", "cluster_ratio", 0, become(np.nan), "cluster ratio"),
    ("scalars", "n_probes", 0, become(33), "probes as there is room"),
    ("scalars", "foretold_at", 0, become(10**6), "compared in the past"),
    ("scalars", "n_compared", 0, become(10**6), "compared than learnt"),
    ("scalars", "n_rounds", 0, become(8), "rounds and rests"),
    ("scalars", "n_resting", 0, become(-1), "rounds and rests"),
    ("scalars", "first_exponent", 0, become(5000), "exponent"),
    ("scalars", "n_ratios", 0, become(-1.0), "sums of distances"),
    ("scalars", "log_ratios", 0, become(np.nan), "sums of distances"),
    ("scalars", "radius_factor", 0, become(0.0), "radius"),
    ("scalars", "radius_factor", 0, become(np.nan), "radius"),
    ("scalars", "cluster_end", 0, become(-1.0), "clusters end"),
    ("scalars", "cluster_end", 0, become(np.inf), "clusters end"),
    ("scalars", "cluster_end", 0, become(2.0), "clusters that end are counted"),
    ("scalars", "n_clusters", 0, become(2.0), "clusters that end are counted"),
    ("scalars", "cluster_radius", 0, become(-1.0), "clusters have some radius"),
    ("scalars", "n_nodes", 0, add(1), "used at least once"),
    ("scalars", "n_active", 0, add(1), "active"),
    ("scalars", "n_touched", 0, add(-1), "activity are listed"),
    ("scalars", "used_nodes", 0, add(1), "usage sums"),
    ("scalars", "used_usage", 0, add(1), "usage sums"),
    ("scalars", "widest", 0, become(1e9), "widest"),
    ("scalars", "window_size", 0, become(1000), "window"),
    ("scalars", "n_slots", 0, add(1), "every slot is taken"),
    ("scalars", "n_pairs", 0, add(1), "two different slots"),
    ("scalars", "n_edges", 0, add(-1), "edges are listed once"),
    ("scalars", "n_isolated", 0, add(-1), "without an edge are listed"),
    ("scalars", "n_joins", 0, add(1), "joins"),
    ("scalars", "evident_pairs", 0, add(1), "evidence sums"),
    ("scalars", "total_evidence", 0, add(1), "evidence sums"),
    ("scalars", "n_born", 0, become(0), "birth numbers rise"),
    ("scalars", "n_changed", 0, become(1), "no change of components is pending"),
    ("scalars", "next_cluster", 0, become(0), "ids are different and were issued"),
    ("scalars", "next_community", 0, become(-1), "ids of communities were issued"),
    ("node", "usage", "in use", become(0), "used at least once"),
    ("node", "usage", "in use", add(1), "usage sums"),
    ("node", "wins", "in use", become(0), "a win is a use"),
    ("node", "wins", "in use", add(2**40), "no more wins than samples"),
    ("node", "scale", "in use", become(-1.0), "scales"),
    ("node", "scale", "in use", become(np.inf), "scales"),
    ("node", "active", "in use", become(False), "active"),
    ("node", "idle", "in use", become(2), "idle"),
    ("node", "idle", "not in use", become(1), "idle"),
    ("node", "activity", "in use", become(-1), "activities are not negative"),
    ("node", "slot", "in use", become(-1), "slot"),
    ("node", "slot", "used once", become(0), "used once have no slot"),
    ("touched", None, 0, add(1), "activity are listed"),
    ("node", "last_won", "in use", add(10**6), "no node won a sample"),
    ("node", "last_won", "in use", become(-1), "no node won a sample"),
    ("node", "community", "in use", become(0), "ids of communities were issued"),
    ("node", "birth", 0, become(2**40), "birth numbers rise"),
    ("handover", "a", "counted", become(-1), "hand-overs have birth numbers"),
    ("handover", "b", "counted", become(2**40), "hand-overs have birth numbers"),
    ("handover", "b", "counted", become(0), "hand-overs are counted once"),
    ("handover", "count", "counted", add(2**40), "hands over once"),
    ("handover", "count", "counted", become(0), "hand-overs are counted once"),
    ("scalars", "n_handovers", 0, add(1), "hand-overs are counted once"),
    ("slot", "node", 0, add(1), "slots and nodes"),
    ("slot", "degree", 0, add(1), "degrees"),
    ("slot", "parent", 0, become(1), "parents come before|joins"),
    ("slot", "next_in_component", "isolated", add(1), "circular lists"),
    ("slot", "is_isolated", "isolated", become(False), "without an edge are listed"),
    ("isolated", None, 0, add(1), "without an edge are listed"),
    ("slot", "cluster_root", "isolated", become(-1), "only active nodes have a cluster root"),
    ("slot", "cluster_root", "isolated", add(1), "cluster roots are roots"),
    ("slot", "cluster", "cluster root", become(-1), "cluster roots are roots and have an id"),
    ("slot", "cluster", "cluster root", become(10**6), "ids are different and were issued"),
    ("pair", "b", "edge", become(0), "two different slots"),
    ("pair", "evidence", "edge", become(0), "edges have evidence"),
    ("pair", "evidence", "edge", add(1), "evidence sums"),
    ("pair", "is_edge", "edge", become(False), "edges are listed once"),
    ("edge", None, 0, add(1), "edges are listed once"),
    ("pair_bucket", None, "edge in the hash table", become(-1), "the hash table holds every pair once"),
    ("prototype", None, (0, 0), become(np.nan), "prototypes"),
    ("mean", None, 0, become(np.inf), "spread"),
    ("square_sum", None, 1, become(-1.0), "spread"),
    ("weight", None, 1, become(1.5), "feature weights"),
]
# Where the window ends, what the search remembers: a wrong value there is found by
# comparing results (test_lockstep, test_metamorphic), not by looking at the state.
NOT_LOOKED_AT = {
    "since_recalibration",
    "window_head",
    "coarse_unit",
    "coarse_stretch",
    "n_coarse_misses",
    "n_events",
    "n_event_centres",
    "provisional",
    "since",
    "length",
}


@pytest.mark.parametrize(("array", "field", "row", "change", "said"), BROKEN)
def test_breaking_a_field_is_noticed(array, field, row, change, said, sound):
    state = copy(sound)
    check(state)
    values = getattr(state, array) if field is None else getattr(state, array)[field]
    place = row_of(state, row)
    assert change(values[place]) != values[place]
    values[place] = change(values[place])
    with pytest.raises(ValueError, match=said):
        check(state)


def test_a_pair_that_is_there_twice_is_noticed(sound):
    state = copy(sound)
    for end in ("a", "b"):
        state.pair[end][1] = state.pair[end][0]
    with pytest.raises(ValueError, match="no pair is there twice"):
        check(state)


def test_every_field_is_broken_once():
    fields = {name for record in (SCALARS, NODE, SLOT, PAIR) for name in record.names}
    assert fields - {field for _, field, *_ in BROKEN} - {"a"} <= NOT_LOOKED_AT
    arrays = {array for array, *_ in BROKEN}
    assert set(State._fields) - arrays == {
        *("window", "changed", "event", "event_centre"),
        *("coarse", "coarse_centre", "coarse_scale"),
        *("probe", "probe_distance", "distance_count", "direction", "projection", "foretold"),  # below
    }


@pytest.mark.parametrize(
    ("array", "place", "value", "said"),
    [
        ("probe_distance", (0, 3), -1.0, "nearer than the second"),
        ("probe_distance", (0, 3), 1e300, "nearer than the second"),
        ("distance_count", 5, -1.0, "sums of distances"),
    ],
)
def test_breaking_what_probes_have_met_is_noticed(array, place, value, said):
    state = new_state(2, variants.REFINED)
    state = learn(state, np.random.default_rng(0).normal(size=(60, 2)), variants.REFINED)
    check(state)
    getattr(state, array)[place] = value
    with pytest.raises(ValueError, match=said):
        check(state)


@pytest.mark.parametrize(
    ("array", "place", "value", "said"),
    [
        ("direction", (1, 3), np.nan, "directions and their sums"),
        ("projection", (0, 3), np.inf, "directions and their sums"),
        ("projection", (1, 3), -1.0, "expected variance"),
    ],
)
def test_breaking_directions_is_noticed(array, place, value, said):
    state = new_state(2, variants.CAPPED)
    state = learn(state, np.random.default_rng(0).normal(size=(60, 2)), variants.CAPPED)
    check(state)
    getattr(state, array)[place] = value
    with pytest.raises(ValueError, match=said):
        check(state)


def test_every_broken_rule_is_named(sound):
    state = copy(sound)
    scalars_of(state).vigilance = -1
    scalars_of(state).n_joins += 1
    with pytest.raises(ValueError, match=r"contradicts itself: .*joins are right; .*vigilance are in range"):
        check(state)


def row_of(state, row):
    """A row by what it is to be like."""
    scalars = scalars_of(state)
    node = state.node[: scalars.n_nodes]
    if row == "counted":
        return int(np.flatnonzero(state.handover["count"])[0])
    if row == "in use":
        return int(np.flatnonzero(node["active"])[-1])
    if row == "not in use":
        return int(np.flatnonzero(~node["active"])[0])
    if row == "used once":
        return int(np.flatnonzero(node["usage"] == 1)[0])
    if row == "cluster root":
        return int(np.flatnonzero(state.slot["cluster"][: scalars.n_slots] >= 0)[0])
    if row == "edge in the hash table":
        return int(np.flatnonzero(state.pair_bucket >= 0)[0])
    if row == "isolated":
        return int(state.isolated[0])
    if row == "edge":
        return int(state.edge[0])
    return row
