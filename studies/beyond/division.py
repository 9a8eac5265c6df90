"""Nodes that divide where the samples show that they must: a learner for the study, made of the core's parts.

Every node keeps two means of the samples that it won, one on either side (two-means, learnt online), and
counts, for each of these samples, what a node divided into these two would have seen. Two findings divide it:

* *a cluster of its own*: the other side would have been second for nearly all of its samples, so that nothing
  but the lack of nodes makes it hand over to other clusters;
* *a valley*: between the two means lie far fewer samples than around either.

Everything else is the core's: `learn_rows` with three more lines.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from everclust.core.cluster_ids import update_ids
from everclust.core.growth import has_room
from everclust.core.handovers import find_row, hand_over, insert_rows
from everclust.core.layout import NONE, NONE_CHANGED, NOT_CENTRED, SEED_NODES
from everclust.core.maintenance import maintain
from everclust.core.metric import cap, distance, two_distances
from everclust.core.nearest import nearest_two, new_scratch, update_coarse
from everclust.core.pair_table import rehash
from everclust.core.resonance import (
    count_coactivation,
    count_use,
    create,
    move_towards,
    similarity,
)
from everclust.core.spread import give_scale, observe
from everclust.core.state import State, allocate, copy_rows, new_state, scalar
from everclust.core.variants import CAPPED, Variant
from everclust.core.vigilance import recalibrate
from everclust.core.window import remember, window_rows
from everclust.jit.blocks import copy_row
from everclust.jit.compile import jit, jit_inlined, kernel
from everclust.jit.reference import refer

INNER, OUTER, MIDDLE, BELOW, ABOVE = range(5)  # counts of a node's samples
WHOLE, VALLEY = 1, 2  # why a node divides
SPARE_HANDOVERS = 512  # rows that a division may need


class Rule(NamedTuple):
    """What is tried. Nothing of it is meant to be tuned: the README says where the numbers come from."""

    needless: float = 0.1  # share of the divisions (false discovery rate)
    outer: float = 0.2  # share of samples that hand over to others: 1/4 for a divided node on a uniform line
    fewest: int = 16  # samples until the first look
    growth: float = 1.25  # samples until the next one
    fewest_on_a_side: float = 0.2  # share; with less, the two means start again
    by_wholes: bool = True
    by_valleys: bool = True


RULE = Rule()


class Sides(NamedTuple):
    """The two sides of every node, by birth number."""

    mean: np.ndarray  # (births, 2, features)
    size: np.ndarray  # (births, 2): samples of either
    counts: np.ndarray  # (births, 5): INNER to ABOVE
    due: np.ndarray  # number of samples at the next look
    moved: np.ndarray  # working memory: (birth, hand-overs)
    divided: np.ndarray  # how many nodes were, by reason


def new_sides(n_births: int, n_features: int) -> Sides:
    """No node has sides yet."""
    return Sides(
        np.zeros((n_births, 2, n_features)),
        np.zeros((n_births, 2), np.int64),
        np.zeros((n_births, 5), np.int64),
        np.zeros(n_births),
        np.zeros((SPARE_HANDOVERS, 2), np.int64),
        np.zeros(3, np.int64),
    )


@jit
def chance_of_so_few(k, n, p):
    """P(B ≤ k) for a binomial B of n trials."""
    log_term = n * math.log1p(-p)
    total = math.exp(log_term)
    for i in range(k):
        log_term += math.log((n - i) / (i + 1.0) * p / (1.0 - p))
        total += math.exp(log_term)
    return total


@jit
def start_sides(state, k, x, sides, rule):  # INOUT sides
    """Begin with the sample and its mirror image in node k, both half as far away."""
    birth, y = state.node[k].birth, state.prototype[k]
    for j in range(x.shape[0]):
        sides.mean[birth, 0, j] = y[j] + 0.5 * (x[j] - y[j])
        sides.mean[birth, 1, j] = y[j] - 0.5 * (x[j] - y[j])
    sides.size[birth, 0] = sides.size[birth, 1] = 1
    for i in range(5):
        sides.counts[birth, i] = 0
    sides.due[birth] = rule.fewest


@jit
def observe_sides(state, x, k, to_second, sides, rule):  # INOUT sides
    """Node k has won x; the next node is `to_second` away."""
    birth = state.node[k].birth
    size, count = sides.size[birth], sides.counts[birth]
    if size[0] == 0:
        start_sides(state, k, x, sides, rule)
        return
    to_a, to_b = two_distances(x, sides.mean[birth, 0], sides.mean[birth, 1], state.weight)
    count[INNER if max(to_a, to_b) < to_second else OUTER] += 1
    apart = distance(sides.mean[birth, 0], sides.mean[birth, 1], state.weight)
    if apart > 0.0:
        place = (to_a * to_a - to_b * to_b) / (2.0 * apart * apart)  # −1/2 at one mean, 1/2 at the other
        if abs(place) < 1.0 / 6.0:
            count[MIDDLE] += 1
        elif abs(place) < 5.0 / 6.0:
            count[BELOW if place < 0.0 else ABOVE] += 1
    side = 0 if to_a <= to_b else 1
    size[side] += 1
    mean = sides.mean[birth, side]
    for j in range(x.shape[0]):
        mean[j] += (x[j] - mean[j]) / size[side]


@jit
def finding(sides, birth, chance, rule):
    """Why the node of that birth has to be divided, or 0."""
    size, count = sides.size[birth], sides.counts[birth]
    if min(size[0], size[1]) < 2:
        return 0
    flank = min(count[BELOW], count[ABOVE])
    # A density with one mode is not thinner in the middle third than in both of the flanks, twice as wide.
    if rule.by_valleys and chance_of_so_few(count[MIDDLE], count[MIDDLE] + flank, 1.0 / 3.0) < chance:
        return VALLEY
    n = count[INNER] + count[OUTER]
    if rule.by_wholes and chance_of_so_few(count[OUTER], n, rule.outer) < chance:
        return WHOLE
    return 0


@jit
def look(state, k, x, sides, rule):  # INOUT state, sides
    """Divide node k if its samples demand it, when it is time to ask."""
    birth = state.node[k].birth
    size, count = sides.size[birth], sides.counts[birth]
    if count[INNER] + count[OUTER] < sides.due[birth]:
        return
    n_divided = 1 + sides.divided[WHOLE] + sides.divided[VALLEY]
    chance = rule.needless * n_divided / state.scalars[0].n_nodes  # Benjamini and Hochberg
    reason = finding(sides, birth, chance, rule)
    if reason:
        divide(state, k, reason, sides)
        return
    sides.due[birth] *= rule.growth
    if min(size[0], size[1]) < rule.fewest_on_a_side * (size[0] + size[1]):
        start_sides(state, k, x, sides, rule)


@jit
def divide(state, k, reason, sides):  # INOUT state, sides
    """Node k becomes its first side; the second side is a new node."""
    scalars, birth = state.scalars[0], state.node[k].birth
    size, count = sides.size[birth], sides.counts[birth]
    usage, wins = state.node[k].usage, state.node[k].wins
    new = scalars.n_nodes
    scalars.n_nodes += 1
    old_node, node = state.node[k], state.node[new]
    share = size[1] / (size[0] + size[1])
    node.usage, node.wins = max(2, int(usage * share)), max(1, int(wins * share))
    old_node.usage, old_node.wins = max(2, usage - node.usage), max(1, wins - node.wins)
    node.scale, node.community, node.last_won = old_node.scale, old_node.community, old_node.last_won
    node.active, node.idle, node.slot, node.activity = False, 0, NONE, 0
    node.birth = scalars.n_born
    scalars.n_born += 1
    scalars.used_nodes += 1  # two samples or more were on either side: both are used more than once
    scalars.used_usage += node.usage + old_node.usage - usage
    copy_row(state.prototype[k], sides.mean[birth, 0])
    copy_row(state.prototype[new], sides.mean[birth, 1])
    update_coarse(state, k)
    update_coarse(state, new)
    inside = count[INNER] / (count[INNER] + count[OUTER])
    n_inner = share_handovers(state, k, new, inside * wins, sides)
    n_inner = n_inner if reason == WHOLE else min(n_inner, count[MIDDLE])
    if n_inner > 0:
        find_row(state, birth, node.birth).count += n_inner
    sides.divided[reason] += 1
    sides.size[birth, 0] = sides.size[birth, 1] = 0


@jit
def share_handovers(state, k, new, n_inner, sides):  # INOUT handover, scalars.n_handovers, sides.moved
    """Hand-overs of node k as they would be had it been divided from the beginning.

    Of the samples that it won, `n_inner` would have stayed between its sides; those left go with the side
    that is nearer to the other node. Returns how many the pairs with others have lost.
    """
    births = state.node[k].birth, state.node[new].birth
    total = 0
    for row in range(state.handover.shape[0]):
        handed = state.handover[row]
        if handed.count > 0 and births[0] in (handed.a, handed.b):
            total += handed.count
    left = max(0.0, 1.0 - n_inner / max(total, 1))
    n_moved = n_lost = 0
    for row in range(state.handover.shape[0]):
        handed = state.handover[row]
        if handed.count == 0 or births[0] not in (handed.a, handed.b):
            continue
        other = handed.a + handed.b - births[0]
        kept = int(handed.count * left + 0.5)
        j = index_of_birth(state, other)
        n_lost += handed.count - kept
        if j != NONE and kept > 0 and n_moved < SPARE_HANDOVERS:
            to_k, to_new = two_distances(
                state.prototype[j], state.prototype[k], state.prototype[new], state.weight
            )
            if to_new < to_k:
                sides.moved[n_moved, 0], sides.moved[n_moved, 1] = other, kept
                n_moved += 1
                kept = 0
        handed.count = max(kept, 1)  # a row without a count would end the search for others
    for i in range(n_moved):
        other = sides.moved[i, 0]
        find_row(state, min(other, births[1]), max(other, births[1])).count += sides.moved[i, 1]
    return n_lost


@jit
def index_of_birth(state, birth):
    """Node of that birth, or NONE: births rise."""
    low, high = 0, state.scalars[0].n_nodes
    while low < high:
        middle = (low + high) // 2
        if state.node[middle].birth < birth:
            low = middle + 1
        else:
            high = middle
    return low if low < state.scalars[0].n_nodes and state.node[low].birth == birth else NONE


@jit_inlined
def resonate(state, x, variant, scratch, sides, rule):
    """`everclust.core.resonance.resonate`, with sides. Returns the winner, or NONE if x became a node."""
    vigilance = state.scalars[0].vigilance
    first, second, to_first, to_second = nearest_two(state, x, scratch)
    if similarity(to_first, state.node[first].scale) < vigilance:
        create(state, x)
        hand_over(state, state.scalars[0].n_nodes - 1, first)
        return NONE
    observe_sides(state, x, first, to_second, sides, rule)
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
    return first


@kernel
def learn_rows(state, X, start, variant, sides, rule):  # INOUT state, sides
    """`everclust.core.learn.learn_rows`, with sides."""
    state = refer(state)
    scalars, scratch = state.scalars[0], new_scratch(state)
    for i in range(start, X.shape[0]):
        roomy = scalars.n_nodes + 2 < state.node.shape[0]
        roomy = roomy and 2 * (scalars.n_handovers + SPARE_HANDOVERS) < state.handover.shape[0]
        if not roomy or not has_room(state):
            return i
        x = X[i]
        remember(state, x)
        if scalars.n_nodes < SEED_NODES:
            create(state, x)
        else:
            first = resonate(state, x, variant, scratch, sides, rule)
            if first != NONE:
                look(state, first, x, sides, rule)
        if scalars.n_seen % scalars.interval == 0:
            maintain(state, variant.capped)
        if scalars.n_changed != NONE_CHANGED:
            update_ids(state)
        scalars.n_seen += 1
        scalars.since_recalibration += 1
        if scalars.since_recalibration >= scalars.interval and scalars.n_nodes >= SEED_NODES:
            recalibrate(state, variant)
            if variant.capped:
                cap(state)
            scalars.since_recalibration = 0
            scalars.window_size = min(scalars.window_size, 2 * scalars.interval)
    return X.shape[0]


def learn(X: np.ndarray, rule: Rule = RULE, variant: Variant = CAPPED) -> tuple[State, Sides]:
    """A model of all rows of a C-contiguous float64 array."""
    state, sides = wider(new_state(X.shape[1], variant)), new_sides(2 * len(X), X.shape[1])
    done = 0
    while True:
        done = learn_rows(state, X, done, variant, sides, rule)
        state.scalars["n_events"] = state.scalars["n_event_centres"] = 0
        if done == len(X):
            return state, sides
        state = wider(state)


def wider(state: State) -> State:
    """Twice the room for everything."""
    bigger = allocate(
        state.prototype.shape[1],
        nodes=2 * len(state.node),
        slots=2 * len(state.slot),
        pairs=2 * len(state.pair),
        window=2 * len(state.window),
        events=2 * len(state.event),
        event_centres=2 * len(state.event_centre),
        handovers=2 * len(state.handover),
    )
    for name in set(State._fields) - {"window", "pair_bucket", "handover", "coarse"}:
        copy_rows(getattr(bigger, name), getattr(state, name))
    rows = window_rows(state)
    bigger.window[: len(rows)] = rows
    bigger.scalars["window_head"] = len(rows) % len(bigger.window)
    bigger.scalars["n_coarse_misses"] = NOT_CENTRED
    rehash(bigger)
    bigger.scalars["n_handovers"] = 0
    insert_rows(bigger, state.handover)
    return bigger


def n_nodes(state: State) -> int:
    """K."""
    return scalar(state, "n_nodes")
