import numpy as np
import pytest

from everclust.core import topology
from everclust.core.cluster_ids import update_ids
from everclust.core.invariants import check
from everclust.core.layout import ALL_CHANGED, NONE, NONE_CHANGED
from everclust.core.readout import components, edges
from everclust.core.serialise import export
from everclust.core.state import scalars_of

ON_A_LINE = [[0], [1], [3], [6]]
USED = {"usage": [3, 3, 3, 3], "active": [1, 1, 1, 1]}


def row_of(state, i, j):
    """Row of the pair of two nodes."""
    a, b = sorted(state.node["slot"][[i, j]])
    return int(
        np.flatnonzero((state.pair["a"] == a) & (state.pair["b"] == b) & (state.pair["evidence"] > 0))[0]
    )


def test_a_node_keeps_its_slot(model, compiled):
    state = model(ON_A_LINE)
    take_slot = compiled(topology.take_slot)
    assert [take_slot(state, k) for k in (2, 0, 2)] == [0, 1, 0]
    assert state.node["slot"][:4].tolist() == [1, NONE, 0, NONE]
    assert state.slot["node"][:2].tolist() == [2, 0]


def test_active_nodes_without_an_edge_are_watched_once(model, compiled):
    state = model(ON_A_LINE, usage=[3, 3, 3, 3])
    compiled(topology.activate)(state, 3)
    compiled(topology.activate)(state, 3)
    compiled(topology.list_isolated)(state, 0)
    scalars = scalars_of(state)
    assert (scalars.n_active, scalars.n_isolated) == (1, 1)
    compiled(update_ids)(state)
    check(state)


def test_evidence_of_a_retired_node_raises_the_bar(model, compiled):
    # Node 2 is inactive but shares 3 pieces with node 1. For nodes 0 and 1 the mean is (3 + n)/2 after n
    # pieces, so that only the fourth is above it. By itself a single pair would never be above its mean.
    state = model(ON_A_LINE, usage=[5, 5, 5, 1], active=[1, 1, 0, 0], evidence=[(1, 2, 3)])
    for _ in range(3):
        compiled(topology.add_evidence)(state, 0, 1)
        assert edges(state).tolist() == []
    compiled(topology.add_evidence)(state, 0, 1)
    assert edges(state).tolist() == [[0, 1]]
    assert export(state)[1]["evidence"].tolist() == [[0, 1, 4], [1, 2, 3]]
    assert state.node["activity"][:4].tolist() == [4, 4, 0, 0]


def test_an_edge_stays_when_the_bar_rises_above_it(model, compiled):
    state = model(ON_A_LINE, **USED, evidence=[(0, 1, 2), (1, 2, 5)], edge=[(0, 1)])
    compiled(topology.add_evidence)(state, 0, 1)
    assert edges(state).tolist() == [[0, 1]]
    assert scalars_of(state).n_edges == 1


def around(state, s):
    """The nodes that one meets from a slot on, following `next_in_component`."""
    met, next_in_component = [state.slot["node"][s]], state.slot["next_in_component"][s]
    while next_in_component != s:
        met.append(state.slot["node"][next_in_component])
        next_in_component = state.slot["next_in_component"][next_in_component]
    return sorted(met)


def test_promote_joins_the_components(model, compiled):
    state = model(ON_A_LINE, **USED, evidence=[(0, 2, 1), (1, 3, 1), (2, 3, 1)], edge=[(0, 2), (1, 3)])
    assert components(state).tolist() == [0, 1, 0, 1]
    row = row_of(state, 2, 3)
    compiled(topology.promote)(state, row)
    assert components(state).tolist() == [0, 0, 0, 0]
    assert scalars_of(state).n_joins == 3
    assert scalars_of(state).n_changed == 1
    assert around(state, state.changed[0]) == [0, 1, 2, 3]
    assert state.pair["length"][row] == 3  # from 3 to 6
    # A second path between joined nodes joins nothing.
    compiled(topology.add_evidence)(state, 0, 1)
    compiled(topology.promote)(state, row_of(state, 0, 1))
    assert scalars_of(state).n_joins == 3


def test_cut_takes_the_evidence_along(model, compiled):
    state = model(
        ON_A_LINE, **USED, activity=[4, 1, 0, 0], evidence=[(0, 1, 3), (1, 2, 2)], edge=[(0, 1), (1, 2)]
    )
    row = row_of(state, 0, 1)
    compiled(topology.cut)(state, row)
    scalars = scalars_of(state)
    assert (scalars.evident_pairs, scalars.total_evidence) == (1, 2)
    assert not state.pair["is_edge"][row]
    assert export(state)[1]["evidence"].tolist() == [[1, 2, 2]]
    # Node 0 gained 4 − 3; node 1 lost more than it gained.
    assert state.node["activity"][0] == 1
    assert state.node["activity"][1] <= 0
    degree = dict(zip(state.slot["node"][:4].tolist(), state.slot["degree"][:4].tolist(), strict=True))
    assert degree == {0: 0, 1: 1, 2: 1, 3: 0}
    isolated = state.slot["node"][state.isolated[: scalars.n_isolated]]
    assert sorted(isolated) == [0, 3]  # node 3 never had an edge, node 0 has none any more


def test_cut_of_inactive_nodes_isolates_none(model, compiled):
    state = model(ON_A_LINE, usage=[3, 3, 3, 3], evidence=[(0, 1, 3)], edge=[(0, 1)])
    compiled(topology.cut)(state, 0)
    assert scalars_of(state).n_isolated == 0


def test_lengths_are_measured_again_when_an_end_has_moved(model, compiled):
    state = model(ON_A_LINE, **USED, evidence=[(0, 1, 3)], edge=[(0, 1)])
    state.prototype[0] = -1
    assert compiled(topology.edge_length)(state, 0, False) == 1  # node 0 was not marked as moved
    state.node["activity"][0] = 1
    assert compiled(topology.edge_length)(state, 0, False) == 2
    state.node["activity"][:2] = 0, 1
    state.prototype[1] = 4
    assert compiled(topology.edge_length)(state, 0, False) == 5


def test_lengths_are_measured_again_when_the_metric_may_have_moved(model, compiled):
    # From 0 to 1 with a quarter of the feature: √¼.
    state = model(ON_A_LINE, **USED, evidence=[(0, 1, 3)], edge=[(0, 1)])
    state.weight[:] = 0.25
    assert compiled(topology.edge_length)(state, 0, False) == 1
    assert compiled(topology.edge_length)(state, 0, True) == 0.5


def test_what_has_changed_is_noted_down(model, compiled):
    state = model(ON_A_LINE, usage=[3, 3, 3, 3], evidence=[(0, 1, 1), (0, 2, 1)])
    scalars = scalars_of(state)
    assert scalars.n_changed == NONE_CHANGED
    compiled(topology.activate)(state, 3)
    compiled(topology.promote)(state, row_of(state, 0, 1))
    compiled(topology.activate)(state, 3)  # which it is already
    compiled(topology.activate)(state, 1)
    assert scalars.n_changed == 3
    assert state.slot["node"][state.changed[:3]].tolist() == [3, 0, 1]
    # What may have changed anything needs no list, nor does what has changed more than everybody.
    scalars.n_changed = scalars.n_slots
    compiled(topology.activate)(state, 2)
    assert scalars.n_changed == ALL_CHANGED


def test_rejoin_finds_the_components_anew(model, compiled):
    state = model(
        ON_A_LINE, **USED, evidence=[(0, 1, 1), (1, 2, 1), (2, 3, 1)], edge=[(0, 1), (1, 2), (2, 3)]
    )
    assert components(state).tolist() == [0, 0, 0, 0]
    rows = state.edge[:3].copy()
    kept = [row for row in rows if row != row_of(state, 1, 2)]
    state.edge[:2] = kept
    scalars_of(state).n_edges = 2
    compiled(topology.rejoin)(state)
    assert components(state).tolist() == [0, 0, 2, 2]
    assert scalars_of(state).n_joins == 2


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_root_is_the_oldest_slot_and_shortens_the_path(order, model, compiled):
    state = model(ON_A_LINE, **USED)
    for s in order:
        compiled(topology.join)(state, s, s + 1)
    assert [compiled(topology.root)(state, s) for s in range(4)] == [0, 0, 0, 0]
    assert (state.slot["parent"][:4] <= np.arange(4)).all()
