import numpy as np
import pytest

from everclust.core import topology
from everclust.core.cluster_ids import recognise
from everclust.core.readout import components, edges
from everclust.core.serialise import export
from everclust.core.spread import WEIGHT
from everclust.core.state import check, clock_of

LINE = [[0], [1], [3], [6]]
USED = {"usage": [3, 3, 3, 3], "active": [1, 1, 1, 1]}


def row_of(state, i, j):
    """Row of the pair of two nodes."""
    a, b = sorted(state.node["seat"][[i, j]])
    return int(
        np.flatnonzero((state.pair["a"] == a) & (state.pair["b"] == b) & (state.pair["evidence"] > 0))[0]
    )


def test_a_node_keeps_its_seat(model, compiled):
    state = model(LINE)
    take_seat = compiled(topology.take_seat)
    assert [take_seat(state, k) for k in (2, 0, 2)] == [0, 1, 0]
    assert state.node["seat"][:4].tolist() == [1, topology.NOBODY, 0, topology.NOBODY]
    assert state.seat["node"][:2].tolist() == [2, 0]


def test_active_nodes_without_an_edge_are_watched_once(model, compiled):
    state = model(LINE, usage=[3, 3, 3, 3])
    compiled(topology.activate)(state, 3)
    compiled(topology.activate)(state, 3)
    compiled(topology.watch)(state, 0)
    clock = clock_of(state)
    assert (clock.n_active, clock.n_loose) == (1, 1)
    compiled(recognise)(state)
    check(state)


def test_evidence_of_a_retired_node_raises_the_bar(model, compiled):
    # Node 2 is inactive but shares 3 pieces with node 1. For nodes 0 and 1 the mean is (3 + n)/2 after n
    # pieces, so that only the fourth is above it. By itself a single pair would never be above its mean.
    state = model(LINE, usage=[5, 5, 5, 1], active=[1, 1, 0, 0], evidence=[(1, 2, 3)])
    for _ in range(3):
        compiled(topology.add_evidence)(state, 0, 1)
        assert edges(state).tolist() == []
    compiled(topology.add_evidence)(state, 0, 1)
    assert edges(state).tolist() == [[0, 1]]
    assert export(state)[1]["evidence"].tolist() == [[0, 1, 4], [1, 2, 3]]
    assert state.node["gain"][:4].tolist() == [4, 4, 0, 0]


def test_an_edge_stays_when_the_bar_rises_above_it(model, compiled):
    state = model(LINE, **USED, evidence=[(0, 1, 2), (1, 2, 5)], edge=[(0, 1)])
    compiled(topology.add_evidence)(state, 0, 1)
    assert edges(state).tolist() == [[0, 1]]
    assert clock_of(state).n_edges == 1


def around(state, s):
    """The nodes that one meets from a seat on, following mates."""
    met, mate = [state.seat["node"][s]], state.seat["mate"][s]
    while mate != s:
        met.append(state.seat["node"][mate])
        mate = state.seat["mate"][mate]
    return sorted(met)


def test_promote_joins_the_components(model, compiled):
    state = model(LINE, **USED, evidence=[(0, 2, 1), (1, 3, 1), (2, 3, 1)], edge=[(0, 2), (1, 3)])
    assert components(state).tolist() == [0, 1, 0, 1]
    row = row_of(state, 2, 3)
    compiled(topology.promote)(state, row)
    assert components(state).tolist() == [0, 0, 0, 0]
    assert clock_of(state).n_joins == 3
    assert clock_of(state).change == 1
    assert around(state, state.seat["changed"][0]) == [0, 1, 2, 3]
    assert state.pair["length"][row] == 3  # from 3 to 6
    # A second path between joined nodes joins nothing.
    compiled(topology.add_evidence)(state, 0, 1)
    compiled(topology.promote)(state, row_of(state, 0, 1))
    assert clock_of(state).n_joins == 3


def test_cut_takes_the_evidence_along(model, compiled):
    state = model(LINE, **USED, gain=[4, 1, 0, 0], evidence=[(0, 1, 3), (1, 2, 2)], edge=[(0, 1), (1, 2)])
    row = row_of(state, 0, 1)
    compiled(topology.cut)(state, row)
    clock = clock_of(state)
    assert (clock.evident_pairs, clock.total_evidence) == (1, 2)
    assert not state.pair["is_edge"][row]
    assert export(state)[1]["evidence"].tolist() == [[1, 2, 2]]
    # Node 0 gained 4 − 3; node 1 lost more than it gained.
    assert state.node["gain"][0] == 1
    assert state.node["gain"][1] <= 0
    degree = dict(zip(state.seat["node"][:4].tolist(), state.seat["degree"][:4].tolist(), strict=True))
    assert degree == {0: 0, 1: 1, 2: 1, 3: 0}
    loose = state.seat["node"][state.seat["loose"][: clock.n_loose]]
    assert sorted(loose) == [0, 3]  # node 3 never had an edge, node 0 has none any more


def test_cut_of_inactive_nodes_watches_nobody(model, compiled):
    state = model(LINE, usage=[3, 3, 3, 3], evidence=[(0, 1, 3)], edge=[(0, 1)])
    compiled(topology.cut)(state, 0)
    assert clock_of(state).n_loose == 0


def test_lengths_are_measured_again_when_an_end_has_moved(model, compiled):
    state = model(LINE, **USED, evidence=[(0, 1, 3)], edge=[(0, 1)])
    state.prototype[0] = -1
    assert compiled(topology.measure)(state, 0, False) == 1  # nobody said that node 0 moved
    state.node["gain"][0] = 1
    assert compiled(topology.measure)(state, 0, False) == 2
    state.node["gain"][:2] = 0, 1
    state.prototype[1] = 4
    assert compiled(topology.measure)(state, 0, False) == 5


def test_lengths_are_measured_again_when_the_metric_may_have_moved(model, compiled):
    # From 0 to 1 with a quarter of the feature: √¼.
    state = model(LINE, **USED, evidence=[(0, 1, 3)], edge=[(0, 1)])
    state.feature[WEIGHT] = 0.25
    assert compiled(topology.measure)(state, 0, False) == 1
    assert compiled(topology.measure)(state, 0, True) == 0.5


def test_what_has_changed_is_noted_down(model, compiled):
    state = model(LINE, usage=[3, 3, 3, 3], evidence=[(0, 1, 1), (0, 2, 1)])
    clock = clock_of(state)
    assert clock.change == topology.NOTHING_NEW
    compiled(topology.activate)(state, 3)
    compiled(topology.promote)(state, row_of(state, 0, 1))
    compiled(topology.activate)(state, 3)  # which it is already
    compiled(topology.activate)(state, 1)
    assert clock.change == 3
    assert state.seat["node"][state.seat["changed"][:3]].tolist() == [3, 0, 1]
    # What may have changed anything needs no list, nor does what has changed more than everybody.
    clock.change = clock.n_seats
    compiled(topology.activate)(state, 2)
    assert clock.change == topology.ANYTHING


def test_rejoin_finds_the_components_anew(model, compiled):
    state = model(LINE, **USED, evidence=[(0, 1, 1), (1, 2, 1), (2, 3, 1)], edge=[(0, 1), (1, 2), (2, 3)])
    assert components(state).tolist() == [0, 0, 0, 0]
    rows = state.pair["edge"][:3].copy()
    kept = [row for row in rows if row != row_of(state, 1, 2)]
    state.pair["edge"][:2] = kept
    clock_of(state).n_edges = 2
    compiled(topology.rejoin)(state)
    assert components(state).tolist() == [0, 0, 2, 2]
    assert clock_of(state).n_joins == 2


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_root_is_the_oldest_seat_and_shortens_the_path(order, model, compiled):
    state = model(LINE, **USED)
    for s in order:
        compiled(topology.join)(state, s, s + 1)
    assert [compiled(topology.root)(state, s) for s in range(4)] == [0, 0, 0, 0]
    assert (state.seat["parent"][:4] <= np.arange(4)).all()
