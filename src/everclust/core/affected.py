"""Whose clusters a sample has changed: few as a rule, and nobody else needs to be looked at."""

from ..jit.compile import jit
from .topology import NO_HOME, root


@jit
def list_members(state, seats, is_listed):  # INOUT seats, is_listed
    """List the seats of the components that are said to have changed; returns how many there are."""
    n_changed, n = state.clock[0].change, 0
    for i in range(n_changed):
        is_listed[root(state, state.seat[i].changed)] = False
    for i in range(n_changed):
        first = s = root(state, state.seat[i].changed)
        while not is_listed[first] or s != first:
            is_listed[first] = True
            seats[n] = s
            n += 1
            s = state.seat[s].mate
    return n


@jit
def list_concerned(state, seats, concerned):  # INOUT seats, concerned
    """List the seats of clusters that have changed; returns how many there are.

    A seat that is not where its home is has moved: then its old cluster and its new one are concerned.
    """
    n_seats = seats.shape[0]
    for s in range(n_seats):
        concerned[s] = False
    for s in range(n_seats):
        seat, r = state.seat[s], root(state, s)
        now = r if state.node[seat.node].active else NO_HOME
        if seat.home != now:
            concerned[r] = True
            if seat.home != NO_HOME:
                concerned[seat.home] = True
    n = 0
    for s in range(n_seats):
        home = state.seat[s].home  # concerned with it is the root as well, wherever that is
        if concerned[home if home != NO_HOME else root(state, s)]:
            seats[n] = s
            n += 1
    return n


@jit
def sort_by_node(state, seats):  # INOUT seats
    """Shell's way, which is quick for the few that there are and not slow for many."""
    gap = seats.shape[0] // 2
    while gap > 0:
        for i in range(gap, seats.shape[0]):
            s, place = seats[i], i
            while place >= gap and state.seat[seats[place - gap]].node > state.seat[s].node:
                seats[place] = seats[place - gap]
                place -= gap
            seats[place] = s
        gap //= 2
