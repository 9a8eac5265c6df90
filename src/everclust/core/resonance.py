"""Resonance: a sample becomes a node, or moves its first and second winner."""

from ..jit.blocks import copy_row
from ..jit.compile import jit, jit_inlined
from .handovers import hand_over, outdate_beyond
from .layout import NO_CLUSTER, NONE
from .nearest import nearest_two, update_coarse
from .spread import give_scale, observe
from .topology import activate, add_evidence


@jit
def similarity(distance, scale):
    """Inverse-distance similarity: 1 / (1 + d/σ)."""
    return 1.0 / (1.0 + distance / scale)


@jit
def create(state, x):  # INOUT a new node
    """A node at x. Welford sees the sample first."""
    scalars = state.scalars[0]
    observe(state, x)
    k = scalars.n_nodes
    scalars.n_nodes += 1
    copy_row(state.prototype[k], x)
    node = state.node[k]
    node.usage = 1
    node.wins = 1
    node.scale = 0.0
    node.active = False
    node.idle = 0
    node.slot = NONE
    node.activity = 0
    node.community = NO_CLUSTER
    node.birth = scalars.n_born
    scalars.n_born += 1
    mark_winner(state, k)
    give_scale(state, k)
    if k == 1:  # one sample has no spread, so the first node shares the second one's scale
        give_scale(state, 0)
    update_coarse(state, k)


@jit
def mark_winner(state, k):  # INOUT node.activity, node.last_won, touched, scalars.n_touched
    """Node k won a sample: one more unit of activity."""
    scalars = state.scalars[0]
    state.node[k].last_won = scalars.n_seen + 1
    if state.node[k].activity == 0:
        state.touched[scalars.n_touched] = k
        scalars.n_touched += 1
    state.node[k].activity += 1


@jit
def count_use(state, k):  # INOUT node.usage, scalars.used_nodes, scalars.used_usage
    """M_k += 1, and keep the running sums of T_active: nodes used once do not count there."""
    scalars = state.scalars[0]
    mark_winner(state, k)
    node = state.node[k]
    if node.usage == 1:
        scalars.used_nodes += 1
        scalars.used_usage += 1
    node.usage += 1
    scalars.used_usage += 1


@jit
def move_towards(state, k, x, weight):  # INOUT prototype, coarse
    """y_k += (x − y_k) / weight."""
    y = state.prototype[k]
    for j in range(x.shape[0]):
        y[j] += (x[j] - y[j]) / weight
    update_coarse(state, k)


@jit_inlined
def count_coactivation(state, first, second, printed_evidence):
    """Both winners resonated: if both are busier than average, that is evidence they belong together.

    The printed Algorithm 2 counts evidence in any case: see "Departures" in docs/algorithm.md, section 7.
    """
    scalars = state.scalars[0]
    busy = scalars.used_usage / scalars.used_nodes  # T_active
    both_busy = state.node[first].usage > busy and state.node[second].usage > busy
    if both_busy:
        activate(state, first)
        activate(state, second)
    if both_busy or printed_evidence:
        add_evidence(state, first, second)


@jit_inlined
def resonate(state, x, variant, scratch):
    """Cases I to III."""
    vigilance = state.scalars[0].vigilance
    first, second, to_first, to_second = nearest_two(state, x, scratch)
    if similarity(to_first, state.node[first].scale) < vigilance:
        create(state, x)
        if state.scalars[0].cluster_end > 0.0:
            outdate_beyond(state, first, max(to_first, state.scalars[0].cluster_end))
        hand_over(state, state.scalars[0].n_nodes - 1, first)  # the birth link
        return
    hand_over(state, first, second)
    second_resonates = similarity(to_second, state.node[second].scale) > vigilance
    count_use(state, first)
    state.node[first].wins += 1
    move_towards(state, first, x, state.node[first].usage)
    observe(state, x)
    give_scale(state, first)
    if second_resonates:
        count_use(state, second)
        move_towards(state, second, x, state.node[first].usage + state.node[second].usage)
        count_coactivation(state, first, second, variant.printed_evidence)
