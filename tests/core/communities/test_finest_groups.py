"""Valleys inside of groups that modularity leaves whole."""

import numpy as np
import pytest

from everclust.core.communities.boundaries import sort_by_group
from everclust.core.communities.finest_groups import finest, links_inside, split
from everclust.core.communities.louvain import louvain, new_graph
from oracles import valleys as slow
from support.graphs import near_ones


def test_a_clear_valley_inside_of_a_group_is_found(compiled):
    """Two chains that modularity left in one group, with one thin link between them."""
    position = np.array([[0.0], [1], [2], [3], [20], [21], [22], [23]])
    links = [(0, 1, 40), (1, 2, 40), (2, 3, 40), (3, 4, 1), (4, 5, 40), (5, 6, 40), (6, 7, 40)]
    part = compiled(split)(position, np.array(links))
    assert part.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    even = np.array([(i, i + 1, 40) for i in range(7)])
    assert compiled(split)(np.arange(8.0)[:, None], even).tolist() == [0] * 8
    # Too few nodes, or some without a link inside, are left alone.
    assert compiled(split)(position[:3], np.array(links[:2])).tolist() == [0, 0, 0]
    assert compiled(split)(position[:4], np.array(links[:2])).tolist() == [0] * 4


@pytest.mark.parametrize("seed", range(20))
def test_a_tie_is_no_clear_valley_however_it_is_rounded(seed, compiled):
    """Six pairs in a row, 4 hand-overs inside and 1 in between: W + √Σw² = 2, and E = 4/2 for those in the
    middle, whatever the distances."""
    gaps = np.tile(np.random.default_rng(seed).uniform([0.1, 1], [1, 2]), 6)[:11]
    position = np.concatenate([[0], np.cumsum(gaps)])[:, None]
    links = np.array([(i, i + 1, 4 if i % 2 == 0 else 1) for i in range(11)])
    group = compiled(louvain)(compiled(new_graph)(links, 12))
    assert np.unique(group, return_inverse=True)[1].tolist() == [k // 2 for k in range(12)]
    assert compiled(split)(position, links).tolist() == [0] * 12
    assert slow.split(position.tolist(), {(i, j): n for i, j, n in links.tolist()}) == [0] * 12


def test_groups_are_split_until_no_valley_is_left(compiled):
    """Modularity has a resolution limit: of many small groups in a row it joins neighbours.

    One hand-over joins two groups with 10 inside when 1 > 22² / 2L, and L is 11 for each of 40 groups. In a
    group 20 / √(12 · (2 + 5/12)), about 3.7, would cross a plane; between them 1 does, ± 1.
    """
    n_groups, n = 40, 5
    position = np.array([[30.0 * c + k] for c in range(n_groups) for k in range(n)])
    links = [(c * n + i, c * n + j, 1) for c in range(n_groups) for i in range(n) for j in range(i + 1, n)]
    links += [(c * n + n - 1, (c + 1) * n, 1) for c in range(n_groups - 1)]
    links = np.array(sorted(links))
    too_few = compiled(louvain)(compiled(new_graph)(links, len(position)))
    assert len(set(too_few.tolist())) < n_groups
    group, n_found = compiled(finest)(position, links, too_few)
    assert n_found == n_groups
    assert all(len(set(group[c * n : (c + 1) * n].tolist())) == 1 for c in range(n_groups))


def test_links_inside_of_a_group(compiled):
    links = np.array([(0, 1, 5), (1, 2, 6), (2, 3, 7)])
    inside = compiled(sort_by_group)(links, np.array([0, 1, 1, 1]), 2)
    place = np.zeros(4, np.int64)
    assert compiled(links_inside)(inside, 1, place).tolist() == [[0, 1, 6], [1, 2, 7]]
    assert compiled(links_inside)(inside, 0, place).tolist() == []


def in_a_queue(position, links, compiled):
    """The finest groups again, one after the other; also how often a piece of a piece was split."""
    n = len(position)
    group = compiled(louvain)(compiled(new_graph)(links, n))
    waiting = [(np.flatnonzero(group == c), 1) for c in np.unique(group)]
    found, n_found, deepest = np.full(n, -1), 0, 0
    while waiting:
        nodes, depth = waiting.pop(0)
        place = np.full(n, -1)
        place[nodes] = np.arange(len(nodes))
        own = np.column_stack([place[links[:, 0]], place[links[:, 1]], links[:, 2]])
        part = compiled(split)(position[nodes], own[(own >= 0).all(axis=1)])
        deepest = max(deepest, depth)
        if part.max() == 0:
            found[nodes] = n_found
            n_found += 1
        else:
            waiting += [(nodes[part == c], depth + 1) for c in range(part.max() + 1)]
    return found, n_found, deepest


def test_pieces_of_pieces_are_split(compiled):
    """A hundred small clouds, each node linked with its three nearest."""
    rng = np.random.default_rng(5)
    centre = rng.uniform(0, 30, (100, 2))
    position = np.repeat(centre, 10, axis=0) + rng.normal(size=(1000, 2)) / 2
    links = near_ones(rng, position, 3)
    group = compiled(louvain)(compiled(new_graph)(links, len(position)))
    group, n_found = compiled(finest)(position, links, group)
    expected, n_expected, deepest = in_a_queue(position, links, compiled)
    assert deepest >= 3
    assert n_found == n_expected
    assert group.tolist() == expected.tolist()
