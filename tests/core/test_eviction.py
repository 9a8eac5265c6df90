import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.cluster_ids import GONE, SPLIT
from everclust.core.eviction import evict, stalest
from everclust.core.growth import grow
from everclust.core.invariants import check
from everclust.core.learn import learn
from everclust.core.readout import cluster_ids
from everclust.core.serialise import export, restore
from everclust.core.spread import widest_scale
from everclust.core.state import copy, new_state, scalars_of
from everclust.core.variants import PUBLISHED
from support.jit_mode import PLAIN
from support.streams import TEXTURES, restored, some_model

ON_A_LINE = [[0], [1], [3], [6], [10], [15]]


# ---- Who goes ----


def next_to_go(active, last_won):
    """Plain search: of the staler half, with ties more than half, inactive before active, stalest, oldest."""
    order = sorted(range(len(last_won)), key=lambda k: last_won[k])
    latest = last_won[order[len(order) // 2 - 1]]
    half = [k for k in range(len(last_won)) if last_won[k] <= latest]
    return min(half, key=lambda k: (active[k], last_won[k], k))


@pytest.mark.parametrize(
    ("active", "last_won", "goes"),
    [
        ([0, 0, 0, 0], [4, 1, 3, 2], 1),
        ([0, 1, 0, 0], [4, 1, 3, 2], 3),  # of the staler two, 1 and 3, the inactive one
        ([0, 1, 0, 1], [4, 1, 3, 2], 1),  # node 2 is inactive, but not of the staler half
        ([1, 1, 1, 1], [4, 1, 3, 2], 1),
        ([0, 0, 0, 0], [5, 2, 2, 9], 1),  # of equals the oldest
        ([1, 0, 1, 0], [0, 0, 0, 0], 1),  # nothing is known of any of them
        ([1, 1, 1, 0, 0], [1, 2, 2, 2, 9], 3),  # nodes as stale as the last of the half belong to it
    ],
)
def test_the_stalest_goes(active, last_won, goes, model, compiled):
    state = model(
        [[k] for k in range(len(active))],
        usage=[2] * len(active),
        active=active,
        n_seen=20,
        last_won=last_won,
    )
    assert compiled(stalest)(state) == goes == next_to_go(active, last_won)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=4, max_size=30))
def test_the_stalest_by_plain_search(model, compiled, nodes):
    active, last_won = [list(column) for column in zip(*nodes, strict=True)]
    n = len(nodes)
    state = model([[k] for k in range(n)], usage=[2] * n, active=active, last_won=last_won, n_seen=100)
    assert compiled(stalest)(state) == next_to_go(active, last_won)


# ---- What goes with it ----


def gone(state, max_nodes):
    evict(state, max_nodes)
    check(state)
    return export(state)[1]


def test_a_node_goes_with_its_edges_evidence_and_hand_overs(model):
    state = model(
        ON_A_LINE[:4],
        usage=[3, 4, 5, 6],
        scale=[1, 2, 3, 4],
        active=[1] * 4,
        activity=[0, 7, 1, 0],
        last_won=[9, 1, 8, 2],
        community=[0, 0, 1, 1],
        evidence=[(0, 1, 2), (0, 3, 1), (1, 2, 5), (2, 3, 2)],
        edge=[(0, 1), (1, 2), (2, 3)],
        handover=[(0, 1, 3), (0, 2, 1), (1, 3, 2), (2, 3, 4)],
        next_community=2,
        n_seen=40,
    )
    after = gone(state, 3)
    assert after["prototype"].ravel().tolist() == [0, 3, 6]
    assert after["usage"].tolist() == [3, 5, 6]
    assert after["scale"].tolist() == [1, 3, 4]
    assert after["last_won"].tolist() == [9, 8, 2]
    assert after["community"].tolist() == [0, 1, 1]
    assert after["evidence"].tolist() == [[0, 2, 1], [1, 2, 2]]
    assert after["edge"].tolist() == [[1, 2]]
    assert after["handover"].tolist() == [[0, 1, 1], [1, 2, 4]]
    scalars = scalars_of(state)
    assert (scalars.evident_pairs, scalars.total_evidence, scalars.n_joins) == (2, 3, 1)
    assert (scalars.used_nodes, scalars.used_usage) == (3, 14)
    # Node 2 gained 1 and lost evidence of 5 with its edge: as good as nothing.
    assert after["activity"].tolist() == [0, 0, 0]
    # {0, 1, 2, 3} came apart: {2, 3} with a usage of 11 is the larger part.
    assert cluster_ids(state).tolist() == [1, 0, 0]
    told = state.event[: scalars.n_events].tolist()
    assert [line[:5] for line in told] == [(40, SPLIT, 0, 1, 3), (40, SPLIT, 0, 0, 11)]


def test_a_gain_falls_by_the_evidence_that_goes(model):
    # Nodes 1 and 2 share evidence with node 0: 2 of it with an edge, 3 without.
    state = model(
        ON_A_LINE[:4],
        usage=[3] * 4,
        active=[1] * 4,
        activity=[0, 5, 4, 0],
        last_won=[1, 5, 6, 7],
        evidence=[(0, 1, 2), (0, 2, 3)],
        edge=[(0, 1)],
        n_seen=40,
    )
    assert gone(state, 3)["activity"].tolist() == [3, 1, 0]


def test_a_node_without_a_slot_is_dropped_without_an_event(model):
    state = model(ON_A_LINE, usage=[1, 3, 1, 3, 1, 1], active=[0, 1, 0, 1, 0, 0], last_won=[1, 2, 3, 4, 5, 6])
    after = gone(state, 5)
    assert after["prototype"].ravel().tolist() == [1, 3, 6, 10, 15]
    assert scalars_of(state).n_events == 0


def test_a_cluster_goes_with_its_last_node(model):
    state = model(ON_A_LINE[:4], usage=[4] * 4, active=[1, 1, 0, 0], last_won=[1, 2, 8, 7], n_seen=30)
    after = gone(state, 3)
    assert after["prototype"].ravel().tolist() == [1, 3, 6]
    scalars = scalars_of(state)
    assert state.event[: scalars.n_events].tolist() == [(30, GONE, 0, 0, 4, 0)]
    assert state.event_centre[0].tolist() == [0]
    assert cluster_ids(state).tolist() == [1, -1, -1]
    assert (scalars.n_seen, scalars.n_active) == (30, 1)


def test_the_widest_scale_may_go(model, compiled):
    state = model(ON_A_LINE[:4], usage=[2] * 4, scale=[9, 1, 2, 3], last_won=[1, 2, 3, 4], n_seen=20)
    assert compiled(widest_scale)(state) == 9
    evict(state, 3)
    assert compiled(widest_scale)(state) == 3


def test_several_go_at_once(model):
    state = model(ON_A_LINE, usage=[2] * 6, active=[0, 1, 0, 0, 1, 0], last_won=[6, 5, 4, 3, 2, 1], n_seen=30)
    # Halves: {3, 4, 5} → 5; {3, 4} of five → 3; {2, 4} of four, by staleness 4 and 2 → 2.
    assert gone(state, 3)["prototype"].ravel().tolist() == [0, 1, 10]


def test_no_room_to_tell_is_no_reason_to_write_beyond_it(model):
    """A star of 200 loses its middle: 199 parts. What does not fit waits until there is room."""
    n = 80 if PLAIN else 200
    state = model(
        np.arange(float(n))[:, None],
        usage=[3] * n,
        active=[1] * n,
        last_won=np.arange(n),
        evidence=[(0, i, 2) for i in range(1, n)],
        edge=[(0, i) for i in range(1, n)],
        n_seen=2000,
    )
    assert len(state.event) < 2 * n
    evict(state, n // 2)
    assert scalars_of(state).n_nodes == n
    rows = np.empty((0, 1))
    state = learn(state, rows, PUBLISHED._replace(max_nodes=n // 2))
    check(state)
    scalars = scalars_of(state)
    assert scalars.n_nodes == n // 2
    told = state.event[: scalars.n_events]
    assert (told["kind"] == SPLIT).sum() == n - 1
    assert (told["kind"] == GONE).sum() == n // 2 - 1
    assert scalars.n_active == n // 2


# ---- Bound while learning ----


@given(
    texture=st.sampled_from(TEXTURES),
    seed=st.integers(0, 2**32),
    n=st.integers(1, 100),
    max_nodes=st.integers(3, 12),
)
def test_never_more_nodes_than_allowed(texture, seed, n, max_nodes):
    X = texture(np.random.default_rng(seed), n, 2)
    variant = PUBLISHED._replace(max_nodes=max_nodes)
    state, won = new_state(2, variant), {}
    for i in range(len(X)):
        usage = dict(zip(births(state), state.node["usage"].tolist(), strict=False))
        state = learn(state, X[i : i + 1], variant)
        check(state)
        assert scalars_of(state).n_nodes <= max_nodes
        # Who was moved or made by this sample has won it.
        for birth, used in zip(births(state), state.node["usage"].tolist(), strict=False):
            if used != usage.get(birth, 0):
                won[birth] = i + 1
        last_won = state.node["last_won"][: scalars_of(state).n_nodes].tolist()
        assert last_won == [won[birth] for birth in births(state)]


def births(state):
    return state.node["birth"][: scalars_of(state).n_nodes].tolist()


@given(seed=st.integers(0, 2**32), d=st.integers(1, 2))
def test_what_is_left_of_any_model(seed, d):
    """Everything that does not concern the node stays, node after node."""
    rng = np.random.default_rng(seed)
    state = restored(some_model(rng, d, PUBLISHED))
    n_nodes = int(scalars_of(state).n_nodes)
    state.node["last_won"][:n_nodes] = rng.integers(0, 20, n_nodes)
    while scalars_of(state).n_nodes > 3:
        _, before = export(state)
        k = next_to_go(before["active"].tolist(), before["last_won"].tolist())
        n_before = int(scalars_of(state).n_nodes)
        evict(state, n_before - 1)
        if scalars_of(state).n_nodes == n_before:
            state = grow(state)
            evict(state, n_before - 1)
        check(state)
        _, after = export(state)
        for name in ("usage", "scale", "active", "idle", "last_won", "community", "prototype"):
            np.testing.assert_array_equal(after[name], np.delete(before[name], k, axis=0))
        for name in ("evidence", "edge", "handover"):
            np.testing.assert_array_equal(after[name], without(before[name], k))
        lost = np.zeros(n_before, np.int64)
        for i, j, count in before["evidence"].tolist():
            if k in (i, j):
                lost[i + j - k] += count
        np.testing.assert_array_equal(
            after["activity"], np.delete(np.maximum(before["activity"] - lost, 0), k)
        )
        again = export(restore(*export(state)))[1]
        for name, array in after.items():
            np.testing.assert_array_equal(again[name], array)


def without(pairs, k):
    """Pairs of other nodes, as these are numbered then."""
    kept = pairs[(pairs[:, 0] != k) & (pairs[:, 1] != k)].copy()
    kept[:, :2] -= kept[:, :2] > k
    return kept


def test_a_bound_that_is_never_reached_changes_nothing():
    X = np.random.default_rng(0).normal(size=(400, 2))
    free, bounded = learn(new_state(2), X), learn(new_state(2), X, PUBLISHED._replace(max_nodes=10**6))
    for ours, theirs in zip(bounded, free, strict=True):
        assert np.array_equal(ours, theirs)


def test_a_bound_that_is_lowered_is_kept_at_once():
    X = np.random.default_rng(0).normal(size=(400, 2))
    state = learn(new_state(2), X)
    assert scalars_of(state).n_nodes > 20
    state = learn(copy(state), X[:1], PUBLISHED._replace(max_nodes=5))
    check(state)
    assert scalars_of(state).n_nodes <= 5


def test_nodes_and_slots_stay_few_under_endless_drift():
    """What is forgotten takes no room: arrays stop growing."""
    rng = np.random.default_rng(1)
    half = 400 if PLAIN else 2000
    X = rng.normal(size=(2 * half, 2)) + np.arange(2 * half)[:, None] * 0.05
    variant = PUBLISHED._replace(max_nodes=30)
    state = learn(new_state(2, variant), X[:half], variant)
    scalars_of(state).n_events = scalars_of(state).n_event_centres = 0
    sizes = [len(array) for array in (state.node, state.slot, state.pair, state.window)]
    state = learn(state, X[half:], variant)
    check(state)
    assert [len(array) for array in (state.node, state.slot, state.pair)] == sizes[:3]
    assert scalars_of(state).n_slots <= 30
