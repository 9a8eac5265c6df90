"""The graph with ageing edges, against sets and dicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.baselines.graph import graph as g
from everclust.baselines.graph.components import components
from everclust.jit.compile import jit, kernel


@jit
def age_of(graph, i, j):
    """Age of the edge i–j, or NONE if there is no such edge."""
    h = g.find(graph, i, j)
    return g.NONE if h == g.NONE else graph.age[h >> 1]


@jit
def neighbours_of(graph, k, out):  # INOUT out
    """Write down the neighbours of node k; returns how many."""
    n, h = 0, graph.first[k]
    while h != g.NONE:
        out[n] = graph.end[h]
        n += 1
        h = graph.after[h]
    return n


@kernel
def act(graph, what, i, j, number, keep, out):
    """Do one thing to a graph; returns a number, and a sum where there is one."""
    if what == 0:
        return g.add_node(graph), 0
    if what == 1:
        return int(g.set_age(graph, i, j, number)), 0
    if what == 2:
        return int(g.remove_edge(graph, i, j)), 0
    if what == 3:
        g.add_to_ages(graph, i, number)
        return 0, 0
    if what == 4:
        return g.cut_older(graph, i, number, out)
    if what == 5:
        return g.drop_nodes(graph, keep), 0
    if what == 6:
        return age_of(graph, i, j), 0
    if what == 7:
        return neighbours_of(graph, i, out), 0
    if what == 8:
        return g.ages_of(graph, i, out), 0
    return int(g.has_room(graph)), 0


ADD, SET, REMOVE, GROW_OLDER, CUT_OLDER, DROP, AGE, NEIGHBOURS, AGES, HAS_ROOM = range(10)
NOTHING = np.zeros(0, np.int64)


class Twin:
    """The compiled graph and a dict {(i, j): age} that is treated in the same way."""

    def __init__(self):
        self.graph, self.n_nodes, self.ages = g.new_graph(nodes=1, edges=4), 0, {}

    def do(self, what, i=0, j=0, number=0, keep=NOTHING, out=NOTHING):
        while not act(self.graph, HAS_ROOM, 0, 0, 0, NOTHING, NOTHING)[0]:
            self.graph = g.grow(self.graph)
        return act(self.graph, what, i, j, number, keep, out)

    def edges_of(self, k):
        return {pair for pair in self.ages if k in pair}

    def add(self):
        assert self.do(ADD)[0] == self.n_nodes
        self.n_nodes += 1

    def set(self, i, j, age):
        pair = tuple(sorted((i, j)))
        assert self.do(SET, i, j, age)[0] == (pair in self.ages)
        self.ages[pair] = age

    def remove(self, i, j):
        assert self.do(REMOVE, i, j)[0] == (self.ages.pop(tuple(sorted((i, j))), None) is not None)

    def grow_older(self, k, years):
        self.do(GROW_OLDER, k, number=years)
        for pair in self.edges_of(k):
            self.ages[pair] += years

    def cut_older(self, k, limit):
        old = {pair for pair in self.edges_of(k) if self.ages[pair] > limit}
        lost = np.full(self.n_nodes, -7)
        n, total = self.do(CUT_OLDER, k, number=limit, out=lost)
        assert sorted(lost[:n]) == sorted(sum(pair) - k for pair in old)
        assert total == sum(self.ages.pop(pair) for pair in old)

    def drop(self, keep):
        assert self.do(DROP, keep=keep)[0] == keep.sum()
        number = np.cumsum(keep) - 1
        self.ages = {(number[i], number[j]): age for (i, j), age in self.ages.items() if keep[i] and keep[j]}
        self.n_nodes = int(keep.sum())

    def check(self):
        size = g.size_of(self.graph)
        assert (size.n_nodes, size.n_edges) == (self.n_nodes, len(self.ages))
        pairs, ages = g.edges(self.graph)
        assert list(map(tuple, pairs.tolist())) == sorted(self.ages)
        assert ages.tolist() == [self.ages[pair] for pair in sorted(self.ages)]
        for k in range(self.n_nodes):
            self.check_node(k)
        component, n = components(self.graph)
        assert component.tolist() == self.components()
        assert n == len(set(self.components()))

    def check_node(self, k):
        mine = self.edges_of(k)
        assert self.graph.degree[k] == len(mine)
        out = np.empty(self.n_nodes, np.int64)
        assert sorted(out[: self.do(NEIGHBOURS, k, out=out)[0]]) == sorted(sum(pair) - k for pair in mine)
        assert sorted(out[: self.do(AGES, k, out=out)[0]]) == sorted(self.ages[pair] for pair in mine)
        for j in range(self.n_nodes):
            if j != k:
                assert self.do(AGE, k, j)[0] == self.ages.get((min(j, k), max(j, k)), g.NONE)

    def components(self):
        lowest = list(range(self.n_nodes))
        for _ in lowest:
            for i, j in self.ages:
                lowest[i] = lowest[j] = min(lowest[i], lowest[j])
        return [sorted(set(lowest)).index(k) for k in lowest]


node = st.integers(0, 9)
actions = st.lists(
    st.one_of(
        st.just(("add",)),
        st.tuples(st.just("set"), node, node, st.integers(0, 5)),
        st.tuples(st.just("set"), node, node, st.integers(0, 5)),
        st.tuples(st.just("remove"), node, node),
        st.tuples(st.just("grow_older"), node, st.integers(1, 3)),
        st.tuples(st.just("cut_older"), node, st.integers(0, 5)),
        st.tuples(st.just("drop"), st.lists(st.booleans(), min_size=20, max_size=20)),
    ),
    max_size=40,
)


@given(st.integers(0, 9), actions)
def test_against_a_dict(n_nodes, actions):
    twin = Twin()
    for _ in range(n_nodes):
        twin.add()
    for name, *arguments in actions:
        if name == "drop":
            twin.drop(np.array((arguments[0] * 3)[: twin.n_nodes], bool))
        elif twin.n_nodes > 1 or name == "add":
            if name in ("set", "remove"):
                i, j = arguments[0] % twin.n_nodes, arguments[1] % (twin.n_nodes - 1)
                arguments[:2] = i, j + (j >= i)
            elif name != "add":
                arguments[0] %= twin.n_nodes
            getattr(twin, name)(*arguments)
        twin.check()


@pytest.fixture
def hub():
    """Node 0 with an edge to each of a thousand others, the age being their number."""
    twin = Twin()
    twin.add()
    for k in range(1, 1001):
        twin.add()
        twin.set(0, k, k)
    return twin


def test_a_node_may_have_any_number_of_edges(hub):
    assert hub.graph.degree[0] == 1000
    assert components(hub.graph)[1] == 1
    hub.cut_older(0, 400)
    assert components(hub.graph)[1] == 601


def test_slots_are_used_again(hub):
    room = len(hub.graph.age)
    for _ in range(5):
        hub.cut_older(0, 0)
        assert g.size_of(hub.graph).n_edges == 0
        for k in range(1, 1001):
            hub.set(k, 0, 3)
    assert len(hub.graph.age) == room


def test_copies_are_independent(hub):
    before = g.edges(hub.graph)
    twin = g.copy(hub.graph)
    hub.cut_older(0, 0)
    assert all(np.array_equal(a, b) for a, b in zip(g.edges(twin), before, strict=True))
    assert len(g.edges(hub.graph)[0]) == 0
