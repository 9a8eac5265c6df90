"""One sample meets the nodes: it becomes a node, or moves its first and second winner."""

from ..jit.blocks import copy_row
from ..jit.compile import jit, jit_inlined
from .handovers import hand_over
from .nearest import cast_shadow, nearest_two
from .spread import give_scale, observe
from .topology import NO_CLUSTER, NOBODY, activate, add_evidence


@jit
def similarity(distance, scale):
    """Inverse-distance similarity: 1 / (1 + d/σ)."""
    return 1.0 / (1.0 + distance / scale)


@jit
def create(state, x):  # INOUT a new node
    """A node at x. Welford sees the sample first."""
    clock = state.clock[0]
    observe(state, x)
    k = clock.n_nodes
    clock.n_nodes += 1
    copy_row(state.prototype[k], x)
    node = state.node[k]
    node.usage = 1
    node.scale = 0.0
    node.active = False
    node.idle = 0
    node.seat = NOBODY
    node.gain = 0
    node.community = NO_CLUSTER
    node.birth = clock.n_born
    clock.n_born += 1
    touch(state, k)
    give_scale(state, k)
    if k == 1:  # one sample has no spread, so the first node shares the second one's scale
        give_scale(state, 0)
    cast_shadow(state, k)


@jit
def touch(state, k):  # INOUT node.gain, node.last_won, node.touched, clock.n_touched
    """Node k gained one use."""
    clock = state.clock[0]
    state.node[k].last_won = clock.n_seen + 1
    if state.node[k].gain == 0:
        state.node[clock.n_touched].touched = k
        clock.n_touched += 1
    state.node[k].gain += 1


@jit
def use(state, k):  # INOUT node.usage, clock.used_nodes, clock.used_usage
    """M_k += 1, and keep the running sums of T_active: nodes used once do not count there."""
    clock = state.clock[0]
    touch(state, k)
    node = state.node[k]
    if node.usage == 1:
        clock.used_nodes += 1
        clock.used_usage += 1
    node.usage += 1
    clock.used_usage += 1


@jit
def absorb(state, k, x, weight):  # INOUT prototype, shadow
    """y_k += (x − y_k) / weight."""
    y = state.prototype[k]
    for j in range(x.shape[0]):
        y[j] += (x[j] - y[j]) / weight
    cast_shadow(state, k)


@jit_inlined
def support(state, first, second, printed_evidence):
    """Both winners resonated: if both are busier than average, that is evidence they belong together.

    The printed Algorithm 2 counts evidence in any case: see "Departures" in docs/algorithm.md, section 7.
    """
    clock = state.clock[0]
    busy = clock.used_usage / clock.used_nodes  # T_active
    both_busy = state.node[first].usage > busy and state.node[second].usage > busy
    if both_busy:
        activate(state, first)
        activate(state, second)
    if both_busy or printed_evidence:
        add_evidence(state, first, second)


@jit_inlined
def resonate(state, x, reading, scratch):
    """Cases I to III."""
    vigilance = state.clock[0].vigilance
    first, second, to_first, to_second = nearest_two(state, x, scratch)
    if similarity(to_first, state.node[first].scale) < vigilance:
        create(state, x)
        if reading.birth_links:
            hand_over(state, state.clock[0].n_nodes - 1, first)
        return
    hand_over(state, first, second)
    second_resonates = similarity(to_second, state.node[second].scale) > vigilance
    use(state, first)
    absorb(state, first, x, state.node[first].usage)
    observe(state, x)
    give_scale(state, first)
    if second_resonates:
        use(state, second)
        absorb(state, second, x, state.node[first].usage + state.node[second].usage)
        support(state, first, second, reading.printed_evidence)
