import numpy as np
import pytest

from everclust.core import cluster_ids as rules
from everclust.core import topology
from everclust.core.cluster_ids import BORN, GONE, MERGED, SPLIT
from everclust.core.invariants import check
from everclust.core.layout import ALL_CHANGED
from everclust.core.maintenance import maintain
from everclust.core.readout import cluster_ids
from everclust.core.state import scalars_of

ON_A_LINE = [[0], [1], [3], [6], [10], [15]]
CHAIN = {"evidence": [(0, 1, 2), (1, 2, 2), (2, 3, 2)], "edge": [(0, 1), (1, 2), (2, 3)]}

AS_NOTED = -1  # by those who have changed the components


@pytest.fixture
def lines(compiled):
    """(kind, cluster, part, size) and the centres of what is told after a change, at sample n_seen + 1."""

    def update_ids(state, change=ALL_CHANGED):
        scalars = scalars_of(state)
        if change != AS_NOTED:
            scalars.n_changed = change
        compiled(rules.update_ids)(state)
        check(state)
        told = state.event[: scalars.n_events]
        assert (told["sample"] == scalars.n_seen + 1).all()
        centres = state.event_centre[told["centre"]].ravel().tolist()
        scalars.n_events = scalars.n_event_centres = 0
        return [tuple(line)[1:5] for line in told.tolist()], centres

    return update_ids


@pytest.fixture
def cut(compiled):
    """Cut the edge between two nodes."""

    def apart(state, i, j):
        a, b = sorted(state.node["slot"][[i, j]])
        scalars = scalars_of(state)
        listed = state.edge[: scalars.n_edges].copy()
        kept = [row for row in listed if (state.pair["a"][row], state.pair["b"][row]) != (a, b)]
        (row,) = set(listed) - set(kept)
        compiled(topology.cut)(state, row)
        state.edge[: len(kept)] = kept
        scalars.n_edges = len(kept)
        compiled(topology.rejoin)(state)

    return apart


@pytest.fixture
def retire():
    def inactive(state, *nodes):
        for k in nodes:
            state.node["active"][k] = False
            scalars_of(state).n_active -= 1
        slots = state.node["slot"][list(nodes)]
        state.slot["is_isolated"][slots] = False
        scalars = scalars_of(state)
        isolated = [s for s in state.isolated[: scalars.n_isolated] if s not in slots]
        state.isolated[: len(isolated)] = isolated
        scalars.n_isolated = len(isolated)

    return inactive


def ids(state):
    return cluster_ids(state).tolist()


@pytest.mark.parametrize("active", [[1] * 6, [0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0] * 4 + [1] * 2])
def test_those_joined_are_all_that_are_affected(active, model, compiled, lines):
    """Comparing the one component only and comparing all is the same."""
    links = {"evidence": CHAIN["evidence"], "edge": [(0, 1), (2, 3)]}
    one, other = (model(ON_A_LINE, usage=[2, 2, 5, 2, 2, 2], active=active, **links) for _ in range(2))
    for state in (one, other):
        a, b = sorted(state.node["slot"][[1, 2]])
        (row,) = np.flatnonzero(
            (state.pair["a"] == a) & (state.pair["b"] == b) & (state.pair["evidence"] > 0)
        )
        compiled(topology.promote)(state, row)
    told = lines(one, AS_NOTED)
    assert told == lines(other, ALL_CHANGED)
    assert bool(told[0]) == (sum(active[:2]) > 0 and sum(active[2:4]) > 0)
    assert ids(one) == ids(other)


def test_nothing_new_is_nothing_told(model, lines):
    state = model(ON_A_LINE, usage=[2] * 6, active=[1] * 6, **CHAIN)
    assert ids(state) == [0, 0, 0, 0, 1, 2]
    assert lines(state) == ([], [])
    assert ids(state) == [0, 0, 0, 0, 1, 2]


# ---- Born ----


def test_two_nodes_that_become_active_are_two_clusters(model, compiled, lines):
    state = model(ON_A_LINE, usage=[2, 4, 6, 2, 2, 2])
    for k in (2, 1):
        compiled(topology.activate)(state, k)
    # Ids follow the nodes, not the order in which they got their slots.
    told, centres = lines(state, AS_NOTED)
    assert told == [(BORN, 0, 0, 4), (BORN, 1, 1, 6)]
    assert centres == [1, 3]
    assert ids(state) == [-1, 0, 1, -1, -1, -1]
    assert state.slot["since"][:2].tolist() == [19, 19]  # 18 samples so far


def test_two_nodes_with_an_edge_are_one_cluster(model, compiled, lines):
    state = model(ON_A_LINE, usage=[2, 4, 6, 2, 2, 2], evidence=[(1, 2, 1)], edge=[(1, 2)])
    for k in (1, 2):
        compiled(topology.activate)(state, k)
    told, centres = lines(state, AS_NOTED)
    assert told == [(BORN, 0, 0, 10)]
    assert centres == pytest.approx([(4 * 1 + 6 * 3) / 10])
    assert ids(state) == [-1, 0, 0, -1, -1, -1]


def test_a_node_that_becomes_active_beside_a_cluster_joins_it_in_silence(model, compiled, lines):
    # Node 1 has an edge already: evidence counts for inactive nodes in the printed variant.
    state = model(ON_A_LINE, usage=[2] * 6, active=[1, 0, 0, 0, 0, 0], evidence=[(0, 1, 1)], edge=[(0, 1)])
    compiled(topology.activate)(state, 1)
    assert lines(state, AS_NOTED) == ([], [])
    assert ids(state) == [0, 0, -1, -1, -1, -1]


# ---- Gone ----


def test_a_cluster_without_active_nodes_is_gone(model, lines, retire):
    state = model(ON_A_LINE, usage=[2, 4, 2, 2, 2, 2], active=[1, 1, 0, 0, 0, 1])
    assert ids(state) == [0, 1, -1, -1, -1, 2]
    retire(state, 1)
    assert lines(state) == ([(GONE, 1, 1, 4)], [1.0])
    assert ids(state) == [0, -1, -1, -1, -1, 2]
    assert scalars_of(state).next_cluster == 3


def test_who_retires_is_noted(model, compiled, lines):
    """Two of the three quiet nodes have been so for a round already."""
    state = model(
        ON_A_LINE,
        usage=[2, 4, 2, 2, 2, 2],
        active=[1, 1, 0, 0, 0, 1],
        idle=[1, 1, 0, 0, 0, 0],
        activity=[0, 0, 9, 0, 0, 0],
    )
    compiled(maintain)(state, False)
    assert lines(state, AS_NOTED) == ([(GONE, 0, 0, 2), (GONE, 1, 1, 4)], [0.0, 1.0])
    assert ids(state) == [-1, -1, -1, -1, -1, 2]


def test_a_cluster_with_one_active_node_left_is_not_gone(model, lines, retire):
    state = model(ON_A_LINE, usage=[2] * 6, active=[1, 1, 0, 0, 0, 0], evidence=[(0, 1, 1)], edge=[(0, 1)])
    retire(state, 0)
    assert lines(state) == ([], [])
    assert ids(state) == [-1, 0, -1, -1, -1, -1]


def test_a_node_that_comes_back_starts_a_new_cluster(model, compiled, lines, retire):
    state = model(ON_A_LINE, usage=[2] * 6, active=[1, 0, 0, 0, 0, 0])
    retire(state, 0)
    assert lines(state)[0] == [(GONE, 0, 0, 2)]
    compiled(topology.activate)(state, 0)
    assert lines(state, AS_NOTED)[0] == [(BORN, 1, 1, 2)]
    assert ids(state)[0] == 1


def test_gone_and_back_within_one_sample_is_the_same_cluster(model, compiled, lines, retire):
    """Only the moments before and after a sample are compared."""
    state = model(ON_A_LINE, usage=[2] * 6, active=[1, 0, 0, 0, 0, 0])
    retire(state, 0)
    compiled(topology.activate)(state, 0)
    assert lines(state) == ([], [])
    assert ids(state)[0] == 0


# ---- Split ----


@pytest.mark.parametrize(
    ("usage", "expected", "told"),
    [
        ([5, 5, 2, 2], [0, 0, 1, 1], [(0, 10), (1, 4)]),
        ([2, 2, 5, 5], [1, 1, 0, 0], [(1, 4), (0, 10)]),
        ([3, 3, 3, 3], [0, 0, 1, 1], [(0, 6), (1, 6)]),  # of equals, the one with the oldest node keeps it
    ],
)
def test_the_larger_part_keeps_the_id(usage, expected, told, model, lines, cut):
    state = model(ON_A_LINE[:4], usage=usage, active=[1] * 4, **CHAIN)
    assert ids(state) == [0, 0, 0, 0]
    cut(state, 1, 2)
    found, centres = lines(state)
    assert found == [(SPLIT, 0, part, size) for part, size in told]
    assert ids(state) == expected
    keeper = [k for k in range(4) if expected[k] == 0]
    centre = np.average([ON_A_LINE[k][0] for k in keeper], weights=[usage[k] for k in keeper])
    assert centres == pytest.approx([centre, centre])


def test_a_cluster_in_three_parts(model, lines, cut):
    state = model(ON_A_LINE[:4], usage=[2, 3, 4, 9], active=[1] * 4, **CHAIN)
    cut(state, 0, 1)
    cut(state, 2, 3)
    # {0}: 2, {1, 2}: 7, {3}: 9, which keeps the id; new ones in the order of the oldest nodes.
    told, centres = lines(state)
    assert told == [(SPLIT, 0, 1, 2), (SPLIT, 0, 2, 7), (SPLIT, 0, 0, 9)]
    assert centres == [6, 6, 6]
    assert ids(state) == [1, 2, 2, 0]


def test_the_age_of_the_parts(model, lines, cut):
    state = model(
        ON_A_LINE[:4],
        usage=[5, 5, 2, 2],
        active=[1] * 4,
        since=[3] * 4,
        cluster=[7] * 4,
        next_cluster=8,
        **CHAIN,
    )
    cut(state, 1, 2)
    lines(state)
    assert ids(state) == [7, 7, 8, 8]
    since = state.slot["since"][state.slot["cluster_root"][state.node["slot"][:4]]]
    assert since.tolist() == [3, 3, 15, 15]  # after 14 samples


def test_two_clusters_split_at_once(model, lines, cut):
    # {0, 3} is cluster 0 and {1, 2} cluster 1. Node 1 got its slot first, but node 0 is the oldest.
    graph = {"evidence": [(1, 2, 2), (0, 3, 2)], "edge": [(1, 2), (0, 3)]}
    state = model(ON_A_LINE[:4], usage=[3, 3, 3, 3], active=[1] * 4, **graph)
    assert ids(state) == [0, 1, 1, 0]
    cut(state, 0, 3)
    cut(state, 1, 2)
    told, _ = lines(state)
    assert told == [(SPLIT, 0, 0, 3), (SPLIT, 0, 2, 3), (SPLIT, 1, 1, 3), (SPLIT, 1, 3, 3)]
    assert ids(state) == [0, 1, 3, 2]


def test_a_part_that_retires_is_no_part(model, lines, cut, retire):
    state = model(ON_A_LINE[:4], usage=[2, 2, 5, 5], active=[1] * 4, **CHAIN)
    cut(state, 1, 2)
    retire(state, 0, 1)
    assert lines(state) == ([], [])
    assert ids(state) == [-1, -1, 0, 0]


# ---- Merged ----


@pytest.mark.parametrize(
    ("usage", "expected"), [([5, 5, 2, 2], 0), ([2, 2, 5, 5], 1), ([3, 3, 3, 3], 0), ([1 + 2, 3, 3, 4], 1)]
)
def test_the_larger_cluster_gives_its_id(usage, expected, model, compiled, lines):
    graph = {"evidence": [(0, 1, 2), (1, 2, 2), (2, 3, 2)], "edge": [(0, 1), (2, 3)]}
    state = model(
        ON_A_LINE[:4],
        usage=usage,
        active=[1] * 4,
        since=[2, 2, 4, 4],
        cluster=[0, 0, 1, 1],
        next_cluster=2,
        **graph,
    )
    a, b = state.node["slot"][[1, 2]]
    (row,) = np.flatnonzero((state.pair["a"] == min(a, b)) & (state.pair["b"] == max(a, b)))[:1]
    compiled(topology.promote)(state, int(row))
    told, centres = lines(state)
    assert told == [(MERGED, expected, 0, sum(usage[:2])), (MERGED, expected, 1, sum(usage[2:]))]
    assert ids(state) == [expected] * 4
    centre = np.average([y[0] for y in ON_A_LINE[:4]], weights=usage)
    assert centres == pytest.approx([centre, centre])
    assert state.slot["since"][state.slot["cluster_root"][0]] == (4 if expected else 2)
    assert scalars_of(state).next_cluster == 2


def test_of_three_that_merge_the_largest_gives_its_id(model, compiled, lines):
    state = model(ON_A_LINE[:3], usage=[2, 3, 4], active=[1] * 3, evidence=[(0, 1, 2), (1, 2, 2)])
    assert ids(state) == [0, 1, 2]
    for row in (0, 1):
        compiled(topology.promote)(state, row)
    told, _ = lines(state)
    assert told == [(MERGED, 2, 0, 2), (MERGED, 2, 1, 3), (MERGED, 2, 2, 4)]
    assert ids(state) == [2, 2, 2]


# ---- More at once ----


def test_a_part_may_merge_with_another_cluster_at_once(model, compiled, lines, cut):
    # {0, 1, 2} is cluster 0 and {3} cluster 1. The edge between 1 and 2 is cut, one between 2 and 3 made.
    graph = {"evidence": [(0, 1, 2), (1, 2, 2), (2, 3, 2)], "edge": [(0, 1), (1, 2)]}
    state = model(ON_A_LINE[:4], usage=[2, 2, 3, 8], active=[1] * 4, **graph)
    assert ids(state) == [0, 0, 0, 1]
    cut(state, 1, 2)
    a, b = sorted(state.node["slot"][[2, 3]])
    (row,) = np.flatnonzero((state.pair["a"] == a) & (state.pair["b"] == b))[:1]
    compiled(topology.promote)(state, int(row))
    told, _ = lines(state)
    assert told == [(SPLIT, 0, 0, 4), (SPLIT, 0, 2, 3), (MERGED, 1, 2, 3), (MERGED, 1, 1, 8)]
    assert ids(state) == [0, 0, 1, 1]


def test_everything_at_once(model, compiled, lines, cut, retire):
    """Gone, split, merged, born, in this order."""
    positions = [[float(k)] for k in range(9)]
    graph = {"evidence": [(0, 1, 2), (2, 3, 2), (4, 5, 2)], "edge": [(0, 1), (2, 3)]}
    state = model(positions, usage=[2, 3, 4, 5, 6, 7, 8, 2, 2], active=[1] * 7 + [0] * 2, **graph)
    assert ids(state) == [0, 0, 1, 1, 2, 3, 4, -1, -1]
    retire(state, 6)
    cut(state, 0, 1)
    a, b = sorted(state.node["slot"][[4, 5]])
    (row,) = np.flatnonzero((state.pair["a"] == a) & (state.pair["b"] == b))[:1]
    compiled(topology.promote)(state, int(row))
    compiled(topology.activate)(state, 8)
    told, centres = lines(state)
    assert told == [
        (GONE, 4, 4, 8),
        (SPLIT, 0, 5, 2),
        (SPLIT, 0, 0, 3),
        (MERGED, 3, 2, 6),
        (MERGED, 3, 3, 7),
        (BORN, 6, 6, 2),
    ]
    assert centres == pytest.approx([6, 1, 1, (4 * 6 + 5 * 7) / 13, (4 * 6 + 5 * 7) / 13, 8])
    assert ids(state) == [5, 0, 1, 1, 3, 3, -1, -1, 6]


def test_maintenance_leads_to_it(model, compiled, lines):
    # The chain of test_maintenance.py, of which the last edge is cut.
    state = model(
        [[0], [1], [2], [3], [4], [14]],
        usage=[4] * 6,
        active=[1] * 6,
        evidence=[(i, i + 1, 2) for i in range(5)],
        edge=[(i, i + 1) for i in range(5)],
        n_seen=40,
    )
    compiled(maintain)(state, False)
    assert scalars_of(state).n_changed == ALL_CHANGED
    told, _ = lines(state)
    assert told == [(SPLIT, 0, 0, 20), (SPLIT, 0, 1, 4)]
