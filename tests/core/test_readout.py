import numpy as np
import pytest

from everclust.core import readout as clusters
from everclust.core.state import scalars_of

GRAPH = {
    "prototype": [[0], [1], [2], [3], [4]],
    "usage": [3, 3, 3, 3, 1],
    "active": [1, 1, 0, 1, 0],
    "evidence": [(1, 3, 2), (0, 2, 1)],
    "edge": [(1, 3)],
}


@pytest.fixture
def won(model):
    """Winner and d/σ of one sample."""

    def win(x, **fields):
        winner, nearness = np.empty(1, np.int64), np.empty(1)
        clusters.assign(clusters.read_out(model(**fields)), np.array([[float(x)]]), winner, nearness)
        return winner[0], nearness[0]

    return win


def test_candidates_are_the_active_nodes(model):
    assert clusters.candidates(model(**GRAPH)).tolist() == [0, 1, 3]


def test_without_active_nodes_all_are_candidates(model):
    assert clusters.candidates(model([[0], [1], [2]])).tolist() == [0, 1, 2]


def test_edges_are_sorted_pairs(model):
    state = model(
        [[0], [1], [2], [3]],
        usage=[3, 3, 3, 3],
        active=[1, 1, 1, 1],
        evidence=[(2, 3, 1), (0, 3, 1), (0, 1, 1)],
        edge=[(2, 3), (0, 3), (0, 1)],
    )
    assert clusters.edges(state).tolist() == [[0, 1], [0, 3], [2, 3]]
    assert clusters.edges(model([[0], [1], [2]])).shape == (0, 2)


def test_components_are_named_by_their_lowest_node(model):
    state = model(**GRAPH)
    assert clusters.components(state).tolist() == [0, 1, 2, 1, 4]
    scalars = scalars_of(state)
    assert scalars.n_nodes - scalars.n_joins == 4


def test_a_component_is_named_by_its_lowest_node_not_by_its_first_slot(model):
    # Node 2 takes the first slot, because its evidence comes first.
    state = model(
        [[0], [1], [2], [3]],
        usage=[3, 3, 3, 3],
        active=[1, 1, 1, 1],
        evidence=[(2, 3, 1), (1, 3, 1)],
        edge=[(2, 3), (1, 3)],
    )
    assert clusters.components(state).tolist() == [0, 1, 1, 1]


def test_clusters_are_numbered_by_their_candidates():
    # Components 0, 1, 2 and 4; candidates 3 (of component 1) and 0 come first, then what is left.
    component = np.array([0, 1, 2, 1, 4])
    assert clusters.number_clusters(component, np.array([3, 0])).tolist() == [1, 0, 2, 0, 3]
    assert clusters.number_clusters(component, np.array([0, 1, 3])).tolist() == [0, 1, 2, 1, 3]


def test_the_winner_is_nearest_in_units_of_its_scale(won):
    # 3 from node 0 with σ = 2 is nearer than 2 from node 1 with σ = 1.
    assert won(3, prototype=[[0], [5], [50]], scale=[2, 1, 1]) == (0, 1.5)


def test_inactive_nodes_do_not_win(won):
    assert won(1, prototype=[[0], [1], [9]], usage=[3, 3, 3], active=[1, 0, 1]) == (0, 1.0)


@pytest.mark.parametrize(
    ("nodes", "winner"), [([1, -1, 9], 0), ([9, -1, 1], 1), ([9, 9, 1, -1], 2), ([2, 2, 2], 0)]
)
def test_ties_go_to_the_lowest_index(nodes, winner, won):
    assert won(0, prototype=[[float(y)] for y in nodes])[0] == winner


def test_ties_in_several_dimensions_go_to_the_lowest_index(model):
    # Nodes 1 and 2 are both 5 away: 3² + 4² + 0² = 0² + 4² + 3².
    state = model([[9.0, 9, 9], [3, 4, 0], [0, 4, -3]])
    winner, nearness = np.empty(1, np.int64), np.empty(1)
    clusters.assign(clusters.read_out(state), np.zeros((1, 3)), winner, nearness)
    assert (winner[0], nearness[0]) == (1, 5)


def test_ties_between_unequal_scales_go_to_the_lowest_index(won):
    assert won(0, prototype=[[9], [4], [2]], scale=[1, 2, 1]) == (1, 2.0)


def test_ties_between_blocks_go_to_the_lowest_index(won):
    nodes = np.full((130, 1), 50.0)
    nodes[[3, 70, 129]] = 1.0
    assert won(0, prototype=nodes) == (3, 1.0)
    nodes[3] = 50
    assert won(0, prototype=nodes) == (70, 1.0)


def test_reading_out_and_assigning_change_nothing(model):
    state = model(**GRAPH)
    before = [array.tobytes() for array in state]
    winner, nearness = np.empty(3, np.int64), np.empty(3)
    clusters.assign(clusters.read_out(state), np.array([[0.0], [2.2], [9.0]]), winner, nearness)
    assert clusters.components(state)[winner].tolist() == [0, 1, 1]
    assert [array.tobytes() for array in state] == before


def test_a_read_out_outlives_the_model(model):
    state = model(**GRAPH)
    read_out = clusters.read_out(state)
    state.prototype[:] = 1e9
    winner, nearness = np.empty(1, np.int64), np.empty(1)
    clusters.assign(read_out, np.array([[3.0]]), winner, nearness)
    assert (winner[0], nearness[0]) == (3, 0)
