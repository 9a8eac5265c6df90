import numpy as np

from everclust.core.communities import linked_nodes


def test_the_base_is_of_nodes_used_more_than_once(model):
    assert linked_nodes.base_nodes(model([[0], [1], [2], [3]], usage=[1, 2, 1, 5])).tolist() == [1, 3]
    assert linked_nodes.base_nodes(model([[0], [1], [2]])).tolist() == [0, 1, 2]


def test_links_to_others_do_not_count(model):
    state = model(
        [[0], [1], [2], [3]], usage=[2, 1, 2, 2], handover=[(0, 1, 5), (0, 2, 3), (2, 3, 1)], n_seen=30
    )
    assert linked_nodes.links_of(state, np.array([0, 2, 3])).tolist() == [[0, 1, 3], [1, 2, 1]]


def test_what_is_known_of_the_base(model):
    state = model(
        [[0], [1], [2], [3]],
        usage=[2, 1, 2, 2],
        wins=[7, 1, 8, 9],
        community=[30, 40, -1, 30],
        handover=[(0, 1, 5), (0, 2, 3), (2, 3, 1)],
        n_seen=30,
    )
    base = linked_nodes.base_of(state)
    assert base.nodes.tolist() == [0, 2, 3]
    assert base.births.tolist() == state.node["birth"][[0, 2, 3]].tolist()
    assert base.wins.tolist() == [7, 8, 9]
    assert base.before.tolist() == [0, -1, 0]
    assert base.position.tolist() == [[0], [2], [3]]
    assert base.links.tolist() == [[0, 1, 3], [1, 2, 1]]


def test_counts_are_halved_until_their_products_fit(model):
    def counts(*count):
        state = model([[0], [1], [2], [3]], handover=[(k, k + 1, n) for k, n in enumerate(count)])
        return linked_nodes.links_of(state, np.arange(4))[:, 2]

    halved = counts(2**31, 3, 1)
    assert 2 * halved.sum() <= linked_nodes.LARGEST_TOTAL
    assert halved.min() >= 1
    assert halved[0] in (2**29, 2**30 // 2)
    assert counts(5, 6).tolist() == [5, 6]


def test_ids_as_numbers_from_0_on():
    assert linked_nodes.compact(np.array([7, -1, 3, 7, 9, 3])).tolist() == [0, -1, 1, 0, 2, 1]


def test_named_by_their_lowest_node():
    group = linked_nodes.named_by_lowest(np.array([1, 3, 4, 6]), np.array([0, 1, 0, 1]), 8)
    assert group.tolist() == [0, 1, 2, 3, 1, 5, 3, 7]


def test_links_of_nodes_with_other_numbers(compiled):
    links = np.array([(0, 1, 7), (1, 2, 8)])
    assert compiled(linked_nodes.numbered)(links, np.array([2, 0, 1])).tolist() == [[2, 0, 7], [0, 1, 8]]
