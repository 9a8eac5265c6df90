"""Which cluster is which: permanent ids, decided at the very sample at which the topology changes.

Owner of the ids. A cluster is a component of active nodes. Each of its seats knows the *home* of the
cluster, the seat that stood for it when it was last recognised; the id and its age are kept there.
Everything is looked at in the order of nodes, not of seats: a file does not tell who sat down first.
What has happened is written down as lines, for `everclust.model.events` to read.
"""

from typing import NamedTuple

import numpy as np

from ..jit.compile import jit, jit_allocating, record
from ..jit.reference import refer
from .affected import list_concerned, list_members, sort_by_node
from .topology import ANYTHING, NO_CLUSTER, NO_HOME, NOTHING_NEW, root

GONE, SPLIT, MERGED, BORN = 0, 1, 2, 3  # in the order in which they are told within one sample
LINE = record(
    ("sample", np.int64),  # number of the sample, counted from 1
    ("kind", np.int64),
    ("cluster", np.int64),  # which is gone, was split, was merged into, or is born
    ("part", np.int64),  # one of the parts of the split or of the clusters merged; else the cluster
    ("size", np.int64),  # usage of that part
    ("centre", np.int64),  # row of the cluster's centre
)


N_ROWS = 10  # of working memory: seats concerned, marks, and the eight below


class Parts(NamedTuple):
    """Seats with the same home and the same root are a part, which goes by the seat of its oldest node."""

    home: np.ndarray  # of every part, before this sample; NO_HOME for seats that no part goes by
    of_home: np.ndarray  # the first part of every home, or NO_HOME
    next_of_home: np.ndarray  # and the next one of every part
    at_root: np.ndarray  # the same for roots
    next_at_root: np.ndarray
    mass: np.ndarray  # usage of every part
    cluster: np.ndarray  # the id that it keeps or is given
    since: np.ndarray


@jit_allocating
def recognise(state):  # INOUT seat, line, centre, clock
    """Give the clusters their ids after this sample, and write down what has happened to them."""
    settle(state, np.empty((N_ROWS, state.clock[0].n_seats), np.int64))


@jit
def settle(state, table):  # INOUT table, seat, line, centre, clock
    """`recognise` with working memory: lists of seats, or a number for each."""
    clock = state.clock[0]
    if clock.change == ANYTHING:
        n = list_concerned(state, table[0], table[1])
    else:
        n = list_members(state, table[0], table[1])
    seats = table[0, :n]
    sort_by_node(state, seats)
    compare(state, seats, table[2:])
    recognise_births(state, seats)
    clock.change = NOTHING_NEW


@jit
def compare(state, seats, table):  # INOUT table, seat, line, centre, clock
    """Compare homes, where seats belonged before this sample, with roots, where they belong now."""
    parts = refer(Parts(table[0], table[1], table[2], table[3], table[4], table[5], table[6], table[7]))
    for s in seats:
        home, r = state.seat[s].home, root(state, s)
        for i in range(table.shape[0]):
            table[i, s] = NO_HOME
            table[i, r] = NO_HOME
            if home != NO_HOME:
                table[i, home] = NO_HOME
    find_parts(state, seats, parts)
    tell_gone(state, seats, parts)
    for p in seats:
        h = parts.home[p]
        if h != NO_HOME and parts.of_home[h] == p:
            share_out(state, parts, h)
    for r in seats:
        take_over(state, parts, r)
    move_in(state, seats, parts)
    tell_splits(state, seats, parts)
    tell_mergers(state, seats, parts)


@jit
def find_parts(state, seats, parts):  # INOUT parts
    """The parts of active seats that have a home, in chains with the oldest first."""
    for s in seats:
        seat = state.seat[s]
        if seat.home == NO_HOME or not state.node[seat.node].active:
            continue
        r = root(state, s)
        p = parts.at_root[r]
        while p != NO_HOME and parts.home[p] != seat.home:
            p = parts.next_at_root[p]
        if p == NO_HOME:
            p = s
            parts.home[p] = seat.home
            parts.mass[p] = 0
            append(p, parts.at_root, r, parts.next_at_root)
            append(p, parts.of_home, seat.home, parts.next_of_home)
        parts.mass[p] += state.node[seat.node].usage


@jit
def append(p, first, place, following):  # INOUT first, following
    """Put part p at the end of the chain of that place."""
    if first[place] == NO_HOME:
        first[place] = p
        return
    last = first[place]
    while following[last] != NO_HOME:
        last = following[last]
    following[last] = p


@jit
def tell_gone(state, seats, parts):  # INOUT seat.cluster, line, centre
    """Clusters of which no node is active any more."""
    for s in seats:
        h = state.seat[s].home
        if h == NO_HOME or parts.of_home[h] != NO_HOME:
            continue
        home = state.seat[h]
        if home.cluster != NO_CLUSTER:
            centre, mass = write_centre(state, seats, h)
            write_line(state, GONE, home.cluster, home.cluster, mass, centre)
            home.cluster = NO_CLUSTER


@jit
def share_out(state, parts, h):  # INOUT parts.cluster, parts.since, seat.cluster
    """The largest part of a cluster keeps its id, the oldest on ties; the others are given new ones."""
    home, p = state.seat[h], parts.of_home[h]
    keeper = largest(p, parts.next_of_home, parts)
    while p != NO_HOME:
        parts.cluster[p], parts.since[p] = home.cluster, home.since
        if p != keeper:
            parts.cluster[p], parts.since[p] = new_cluster(state), state.clock[0].n_seen + 1
        p = parts.next_of_home[p]
    home.cluster = NO_CLUSTER


@jit
def take_over(state, parts, r):  # INOUT seat.cluster, seat.since
    """The largest of the parts that have come together gives the cluster its id, the oldest on ties."""
    giver = largest(parts.at_root[r], parts.next_at_root, parts)
    if giver != NO_HOME:
        home = state.seat[r]
        home.cluster, home.since = parts.cluster[giver], parts.since[giver]


@jit
def largest(p, following, parts):
    """The part of a chain with the most usage."""
    best = p
    while p != NO_HOME:
        if parts.mass[p] > parts.mass[best]:
            best = p
        p = following[p]
    return best


@jit
def move_in(state, seats, parts):  # INOUT seat.home
    """Homes are where the roots are; those who retired have none, and those who are new may find one."""
    for s in seats:
        seat = state.seat[s]
        r = root(state, s)
        is_home = state.node[seat.node].active and parts.at_root[r] != NO_HOME
        seat.home = r if is_home else NO_HOME


@jit
def tell_splits(state, seats, parts):  # INOUT line, centre
    """A line for every part of a cluster that has come apart."""
    for p in seats:
        if parts.home[p] == NO_HOME or parts.of_home[parts.home[p]] != p or parts.next_of_home[p] == NO_HOME:
            continue
        keeper = largest(p, parts.next_of_home, parts)
        centre, _ = write_centre(state, seats, state.seat[keeper].home)
        while p != NO_HOME:
            write_line(state, SPLIT, parts.cluster[keeper], parts.cluster[p], parts.mass[p], centre)
            p = parts.next_of_home[p]


@jit
def tell_mergers(state, seats, parts):  # INOUT line, centre
    """A line for every part that has come together with others."""
    for p in seats:
        r = state.seat[p].home
        if parts.home[p] == NO_HOME or parts.at_root[r] != p or parts.next_at_root[p] == NO_HOME:
            continue
        centre, _ = write_centre(state, seats, r)
        while p != NO_HOME:
            write_line(state, MERGED, state.seat[r].cluster, parts.cluster[p], parts.mass[p], centre)
            p = parts.next_at_root[p]


@jit
def recognise_births(state, seats):  # INOUT seat, line, centre, clock
    """Components of active nodes that nobody was at home in are new clusters."""
    clock = state.clock[0]
    untold = clock.next_cluster
    for s in seats:
        seat = state.seat[s]
        if seat.home == NO_HOME and state.node[seat.node].active:
            seat.home = root(state, s)
            home = state.seat[seat.home]
            if home.cluster == NO_CLUSTER:
                home.cluster, home.since = new_cluster(state), clock.n_seen + 1
    if untold == clock.next_cluster:
        return
    for s in seats:  # in which the new ids rise
        h = state.seat[s].home
        if h != NO_HOME and state.seat[h].cluster == untold:
            centre, mass = write_centre(state, seats, h)
            write_line(state, BORN, untold, untold, mass, centre)
            untold += 1


@jit
def new_cluster(state):  # INOUT clock.next_cluster
    """An id that was never given."""
    clock = state.clock[0]
    clock.next_cluster += 1
    return clock.next_cluster - 1


@jit
def write_line(state, kind, cluster, part, size, centre):  # INOUT line, clock.n_lines
    """One more line; lines of the same event have the same centre."""
    clock = state.clock[0]
    line = state.line[clock.n_lines]
    line.sample = clock.n_seen + 1
    line.kind = kind
    line.cluster = cluster
    line.part = part
    line.size = size
    line.centre = centre
    clock.n_lines += 1


@jit
def write_centre(state, seats, h):  # INOUT centre, clock.n_centres
    """(row of the usage-weighted mean of the nodes at home in h, their usage)."""
    clock = state.clock[0]
    row = clock.n_centres
    centre = state.centre[row]
    for j in range(centre.shape[0]):
        centre[j] = 0.0
    mass = 0
    for s in seats:
        seat = state.seat[s]
        if seat.home == h:
            usage, y = state.node[seat.node].usage, state.prototype[seat.node]
            mass += usage
            share = usage / mass
            for j in range(centre.shape[0]):
                centre[j] += (y[j] - centre[j]) * share
    clock.n_centres += 1
    return row, mass
