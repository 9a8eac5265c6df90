"""The weighted k-NN vote of `voting.py`, decided by coarse bounds wherever they suffice: for nearly all rows.

Let L be the bounds of a row (`coarse.py`), e their slack and ρ the k-th least of them. Half of the k-th least
squared distance is between ρ and ρ + e, so only nodes with L ≤ ρ + e can be among the k nearest.

- If all of them are of one cluster, that is the answer.
- Else they vote with h·(√(ρ/L) − 1), or 0 where that is negative, as it is for nodes beyond the k nearest.
  The true weights differ by no more than √(ρ/L)·e/min L, and those in float32 by 10⁻⁶·√(ρ/L). A cluster that
  is ahead by more than the sum of these over all voters is the answer.
- L counts as 8·e where it is less. That lowers the weight of such a node, so a cluster that wins nevertheless
  is still the answer, if no such node is of another one: a row that is at a node goes with it.
- Else the row is measured exactly.

ρ is bounded first: the k-th least of the minima over every 32nd candidate is not less.
"""

import numpy as np

from ...jit.compile import jit, kernel
from ...jit.simd import WIDTH, higher, load, lower, square_root, store
from ..coarse import (
    EVERYTHING,
    N_ROWS,
    ROW_LIMIT,
    TILE_LANES,
    V0,
    V1,
    Coarse,
    bound_rows,
    has_near,
    new_bounds,
    round_up,
    slack,
)
from ..readout import ReadOut, measure_vector
from .poll import FLAGS, N_VOTERS, clear, new_poll, register, sort_columns
from .voting import Voters, choose, insert_neighbour, n_neighbours, new_neighbours

UNDECIDED = -1
FLOOR = 8.0  # times e
FLOAT32 = 1e-6  # relative error of √(ρ/L) in float32, 4·2⁻²⁴ and more


@jit
def put_minima(bound, n_lanes, poll, r):  # INOUT poll.table, poll.minima
    """Column r of the table: the least bound of every 32nd candidate."""
    a, b = load(bound, V0), load(bound, V1)
    for k in range(TILE_LANES, n_lanes, TILE_LANES):
        a, b = lower(a, load(bound, k + V0)), lower(b, load(bound, k + V1))
    store(poll.minima, V0, a)
    store(poll.minima, V1, b)
    for k in range(N_VOTERS):
        poll.table[k, r] = poll.minima[k]


@jit
def find_within(bound, limit, poll):  # INOUT poll.within, poll.flag, poll.busy
    """List the candidates whose bound is within the limit; returns their number."""
    flag, word, busy, within = poll.flag, poll.word, poll.busy, poll.within
    n_busy = n = 0
    for k in range(flag.shape[0]):
        flag[k] = bound[k] <= limit
    for w in range(word.shape[0]):
        busy[n_busy] = w
        n_busy += word[w] != 0
    for b in range(n_busy):
        for k in range(busy[b] * FLAGS, busy[b] * FLAGS + FLAGS):
            within[n] = k
            n += int(flag[k])
    return n


@jit
def are_united(cluster, voter, n):
    """Whether all voters are of one cluster."""
    n_others = 0
    for k in range(1, n):
        n_others += cluster[voter[k]] != cluster[voter[0]]
    return n_others == 0


@jit
def weigh(poll, n_voters):  # INOUT poll
    """Replace the bounds by √(ρ/L); afterwards the table has the bounds in order."""
    sort_columns(poll.table)
    reach, floor = load(poll.table[poll.k - 1], 0), load(poll.floor, 0)
    for k in range(n_voters):
        store(poll.bound[k], 0, square_root(reach / higher(load(poll.bound[k], 0), floor)))


@jit
def add_votes(poll, r, cluster, node_weight):  # INOUT poll.votes
    """Add up the votes on row r; returns the sum of √(ρ/L)."""
    voter, votes, total = poll.voter[r], poll.votes, 0.0
    for k in range(poll.n_voters[r]):
        votes[cluster[voter[k]]] = 0.0
    for k in range(poll.n_voters[r]):
        ratio = np.float64(poll.bound[k, r])
        total += ratio
        votes[cluster[voter[k]]] += node_weight[voter[k]] * max(ratio - 1.0, 0.0)
    return total


@jit
def leader(poll, r, cluster, margin):
    """The cluster with the most votes on row r; or UNDECIDED if it is not ahead by more than the margin."""
    voter, best, most, second = poll.voter[r], UNDECIDED, -1.0, -1.0
    for k in range(poll.n_voters[r]):
        here = cluster[voter[k]]
        votes = poll.votes[here]
        if here != best and votes > second:
            if votes > most:
                best, most, second = here, votes, most
            else:
                second = votes
    return best if most - second > margin else UNDECIDED


@jit
def is_at_another(poll, r, bound, cluster, chosen):
    """Whether row r may be at a voter of a cluster that was not chosen."""
    voter = poll.voter[r]
    for k in range(poll.n_voters[r]):
        if bound[voter[k]] <= poll.floor[r] and cluster[voter[k]] != chosen:
            return True
    return False


@jit
def decide(poll, r, voters, bound):  # INOUT poll.votes
    """The cluster that row r goes to, or UNDECIDED."""
    least, floor = np.float64(poll.table[0, r]), np.float64(poll.floor[r])
    total = add_votes(poll, r, voters.cluster, voters.weight)
    error = 2.0 / FLOOR * floor / max(least, floor)
    chosen = leader(poll, r, voters.cluster, total * (error + FLOAT32))
    if least <= floor and is_at_another(poll, r, bound, voters.cluster, chosen):
        return UNDECIDED
    return chosen


@jit
def set_limits(coarse, bounds, poll, n):  # INOUT poll
    """The largest bound that a neighbour can have, for n rows."""
    for r in range(n):
        put_minima(bounds.bound[r], coarse.n_lanes, poll, r)
    sort_columns(poll.table)
    for r in range(n):
        error = slack(coarse, bounds.norm[r])
        poll.floor[r] = round_up(FLOOR * error)
        poll.limit[r] = round_up(poll.table[poll.k - 1, r] + error)
        if not bounds.norm[r] < ROW_LIMIT:
            poll.limit[r] = EVERYTHING


@jit
def find_voters(bounds, voters, poll, label):  # INOUT poll, label
    """Find the voters on every row, and label rows whose voters are of one cluster.

    Returns the largest number of voters on a row. Rows with too many, or too far away, stay UNDECIDED.
    """
    most = 0
    clear(poll)
    for r in range(label.shape[0]):
        label[r], poll.n_voters[r] = UNDECIDED, 0
        if poll.limit[r] < EVERYTHING:
            n = find_within(bounds.bound[r], poll.limit[r], poll)
            if are_united(voters.cluster, poll.within, n):
                label[r] = voters.cluster[poll.within[0]]
            elif n <= N_VOTERS:
                register(bounds.bound[r], poll, r, n)
                most = max(most, n)
    return most


@jit
def measure_within(read_out, x, bound, limit, neighbours):  # INOUT neighbours
    """`find_nearest` among the candidates whose bound is within the limit."""
    node, squared, lanes = neighbours.node, neighbours.squared, neighbours.lanes
    for k in range(squared.shape[0]):
        squared[k] = np.inf
    for start in range(0, read_out.node.shape[0], WIDTH):
        if has_near(bound, start, limit):
            measure_vector(read_out, x, start, lanes)
            for lane in range(WIDTH):
                if lanes[lane] < squared[-1]:
                    insert_neighbour(node, squared, start + lane, lanes[lane])


@jit
def hold_poll(coarse, bounds, voters, poll, label):  # INOUT poll, label
    """Label the rows that the bounds decide; the others become UNDECIDED."""
    set_limits(coarse, bounds, poll, label.shape[0])
    most = find_voters(bounds, voters, poll, label)
    if most > 0:
        weigh(poll, most)
        for r in range(label.shape[0]):
            if poll.n_voters[r] > 0:
                label[r] = decide(poll, r, voters, bounds.bound[r])


@kernel
def vote_coarsely(read_out, coarse, voters, k, X, label):  # INOUT label
    """`vote`, which measures only rows that the bounds leave open. Clusters are numbered from 0 on."""
    bounds, poll, neighbours = new_bounds(coarse), new_poll(voters.cluster.shape[0], k), new_neighbours(k)
    for start in range(0, X.shape[0], N_ROWS):
        n = bound_rows(coarse, X, start, bounds)
        hold_poll(coarse, bounds, voters, poll, label[start : start + n])
        for r in range(n):
            if label[start + r] == UNDECIDED:
                measure_within(read_out, X[start + r], bounds.bound[r], poll.limit[r], neighbours)
                label[start + r] = choose(voters, neighbours)


def predict_by_coarse_vote(read_out: ReadOut, coarse: Coarse, voters: Voters, X: np.ndarray) -> np.ndarray:
    """`predict_by_vote`, with a coarse copy of the candidates."""
    names, number = np.unique(voters.cluster, return_inverse=True)
    label = np.empty(len(X), np.int64)
    vote_coarsely(read_out, coarse, voters._replace(cluster=number), n_neighbours(len(number)), X, label)
    return names[label]
