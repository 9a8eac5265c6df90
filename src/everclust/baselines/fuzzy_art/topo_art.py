"""TopoART: Fuzzy ART that joins first and second winners and deletes prototypes that rarely win.

This is the variant of TBM-P, in which a winner may also have to correlate with the item.
"""

import numpy as np

from ...jit.compile import jit, kernel
from ...jit.reference import refer
from ..graph.graph import add_node, drop_nodes, has_room, set_age
from .correlation import agrees
from .fuzzy_art import NONE, absorb, choice, commit, is_before, is_better, match, overlaps, size_of
from .topo_module import Item, Module, Rules, grow, n_prototypes, new_module, new_scratch, prototypes

STEP = 0.01  # increase of the vigilance after a winner that does not correlate
ALPHA = 1e-3  # choice parameter


@jit
def score_prototypes(module, item, scratch):  # INOUT scratch.choice, scratch.match
    """A_k = |I ∧ P_k| / (α + |P_k|) and s_k = |I ∧ P_k| / |I| of every prototype."""
    n, size = module.graph.size[0].n_nodes, size_of(item.code)
    overlaps(item.code, module.weight, scratch.match[:n])
    for k in range(n):
        scratch.choice[k] = choice(scratch.match[k], module.norm[k], ALPHA)
        scratch.match[k] = match(scratch.match[k], size)


@jit
def agrees_with(module, k, item, rules):
    """True if the item correlates with the members of prototype k."""
    return agrees(item.row, module.total[k], module.usage[k], item.start, rules.threshold)


@jit
def first_to_match(scratch, n, vigilance):
    """The prototype with the largest choice among those that pass the vigilance, or NONE."""
    best = NONE
    for k in range(n):
        if scratch.match[k] >= vigilance and is_better(scratch.choice, k, best):
            best = k
    return best


@jit
def find_winner(module, item, rules, scratch):
    """The first prototype that matches and correlates with the item, or NONE.

    If the best match does not correlate, the vigilance rises by STEP and the search restarts, until the match
    has to be perfect and correlation is not required. While the same prototype still matches, the test would
    fail again, so these steps are skipped.
    """
    n, vigilance = module.graph.size[0].n_nodes, rules.vigilance
    winner = first_to_match(scratch, n, vigilance)
    while winner != NONE and vigilance < 1.0 and not agrees_with(module, winner, item, rules):
        while vigilance < 1.0 and vigilance <= scratch.match[winner]:
            vigilance = min(1.0, vigilance + STEP)
        winner = first_to_match(scratch, n, vigilance)
    return winner


@jit
def find_second(module, item, winner, rules, scratch):
    """The best prototype after the winner that passes the base vigilance and correlates, or NONE.

    Prototypes ranked before the winner failed the search and are not considered.
    """
    best, passed_over = NONE, False
    for k in range(module.graph.size[0].n_nodes):
        if k == winner or scratch.match[k] < rules.vigilance:
            continue
        if is_before(scratch.choice, k, winner):
            passed_over = True
        elif is_better(scratch.choice, k, best) and agrees_with(module, k, item, rules):
            best = k
    # The reference takes the maximum of an array that is all zeros by now, and so finds the oldest.
    if rules.reference_quirks and best == NONE and passed_over and winner != 0:
        return 0 if agrees_with(module, 0, item, rules) else NONE
    return best


@jit
def win(module, k, item):  # INOUT usage, total
    """Count the item as a member of prototype k."""
    module.usage[k] += 1
    for j in range(item.row.shape[0]):
        module.total[k, j] += item.row[j]


@jit
def create(module, item):  # INOUT module
    """Add a prototype P = I without members; returns its number."""
    k = add_node(module.graph)
    module.norm[k] = commit(module.weight, k, item.code)
    module.usage[k] = 0
    for j in range(module.total.shape[1]):
        module.total[k, j] = 0.0
    module.name[k] = module.scalars[0].n_created
    module.scalars[0].n_created += 1
    return k


@jit
def present(module, item, rules, scratch):  # INOUT module, scratch
    """Learn one item; returns the name of its prototype."""
    score_prototypes(module, item, scratch)
    winner = find_winner(module, item, rules, scratch)
    if winner == NONE:
        winner = create(module, item)
    else:
        second = find_second(module, item, winner, rules, scratch)
        module.norm[winner] = absorb(module.weight, winner, item.code, 1.0)
        if second != NONE:
            module.norm[second] = absorb(module.weight, second, item.code, rules.second_rate)
            set_age(module.graph, winner, second, 0)
    win(module, winner, item)
    module.scalars[0].n_presented += 1
    return module.name[winner]


@jit
def drop_rare(module, phi, scratch):  # INOUT module, scratch.keep
    """Delete the prototypes with at most φ wins, and their edges."""
    kept = 0
    for k in range(module.graph.size[0].n_nodes):
        scratch.keep[k] = module.usage[k] > phi
        if scratch.keep[k]:
            if kept < k:
                move(module, k, kept)
            kept += 1
    drop_nodes(module.graph, scratch.keep)


@jit
def move(module, k, to):  # INOUT weight, norm, usage, name, total
    """Copy prototype k to index `to`."""
    for j in range(module.weight.shape[0]):
        module.weight[j, to] = module.weight[j, k]
    for j in range(module.total.shape[1]):
        module.total[to, j] = module.total[k, j]
    module.norm[to], module.usage[to], module.name[to] = module.norm[k], module.usage[k], module.name[k]


@kernel
def learn_while_room(module, items, rows, start, rules, name):  # INOUT module, name
    """Learn further items while there is room; returns the number learnt so far."""
    module = refer(module)
    scratch, scalars = new_scratch(module), module.scalars[0]
    while scalars.n_presented < items.shape[0]:
        if not (has_room(module.graph) and module.graph.size[0].n_nodes < module.norm.shape[0]):
            break
        i = scalars.n_presented
        name[i] = present(module, Item(items[i], rows[i], start), rules, scratch)
        if rules.tau > 0 and scalars.n_presented % rules.tau == 0:
            drop_rare(module, rules.phi, scratch)
    return scalars.n_presented


@kernel
def add_default_prototype(module):  # INOUT module
    """Add a prototype of ones, so that items can be assigned if all prototypes were deleted."""
    k = add_node(module.graph)
    for j in range(module.weight.shape[0]):
        module.weight[j, k] = 1.0
    module.norm[k] = module.weight.shape[0]
    module.usage[k] = 0


@kernel
def assign(weight, items, nearest):  # INOUT nearest
    """Prototype of each item with the largest 1 − |P ∧ I − P| / |I|."""
    norm, overlap = np.empty(weight.shape[1]), np.empty(weight.shape[1])
    overlaps(np.ones(weight.shape[0]), weight, norm)  # |P| = |P ∧ 1|
    for i in range(items.shape[0]):
        overlaps(items[i], weight, overlap)
        nearest[i] = 0
        for k in range(1, weight.shape[1]):
            if norm[k] - overlap[k] < norm[nearest[i]] - overlap[nearest[i]]:
                nearest[i] = k


def nearest_prototypes(weights: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Row of the weights with the largest 1 − |P ∧ I − P| / |I|, for each item."""
    nearest = np.empty(len(items), np.int64)
    assign(np.array(weights.T, order="C"), items, nearest)
    return nearest


def train(items: np.ndarray, rows: np.ndarray, start: np.ndarray, rules: Rules) -> tuple[Module, np.ndarray]:
    """Present every item once; returns the module and the prototype of each item.

    Items whose prototype was deleted get the nearest of the remaining ones.
    """
    module = new_module(len(items), items.shape[1], rows.shape[1])
    name = np.empty(len(items), np.int64)
    while learn_while_room(module, items, rows, start, rules, name) < len(items):
        module = grow(module)
    if n_prototypes(module) == 0:
        add_default_prototype(module)
        return module, np.zeros(len(items), np.int64)
    index = np.full(module.scalars["n_created"][0], NONE)
    index[module.name[: n_prototypes(module)]] = np.arange(n_prototypes(module))
    prototype = index[name]
    orphans = np.flatnonzero(prototype == NONE)
    prototype[orphans] = nearest_prototypes(prototypes(module), items[orphans])
    return module, prototype
