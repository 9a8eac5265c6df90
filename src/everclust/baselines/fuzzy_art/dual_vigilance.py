"""The rules of DDVFA: choice and match, linkage, the two vigilance tests, and learning."""

from ...jit.compile import jit, kernel
from .ddvfa_model import new_scratch
from .fuzzy_art import NONE, absorb, choice, commit, is_better, overlaps
from .linkage import CENTROID, centroid_overlaps, linked


@jit
def score_categories(model, item, rules, scratch):  # INOUT scratch.choice, scratch.match
    """T_j = (|I ∧ W_j| / (α + |W_j|))^γ and M_j = |W_j|^γ_ref·T_j of every category."""
    n = model.size[0].n_categories
    overlaps(item, model.weight, scratch.choice[:n])
    for k in range(n):
        scratch.choice[k] = choice(scratch.choice[k], model.norm[k], rules.alpha) ** rules.gamma
        scratch.match[k] = scratch.power[k] * scratch.choice[k]


@jit
def gather(model, c, source, scratch):  # INOUT scratch.value, scratch.usage
    """Copy the values of cluster c's categories to scratch; returns their number."""
    n, k = 0, model.first[c]
    while k != NONE:
        scratch.value[n], scratch.usage[n] = source[k], model.usage[k]
        n += 1
        k = model.after[k]
    return n


@jit
def link(model, item, rules, scratch):  # INOUT scratch
    """T_c and M_c of every cluster."""
    if rules.linkage == CENTROID:
        link_by_centroid(model, item, rules, scratch)
        return
    for c in range(model.size[0].n_clusters):
        n = gather(model, c, scratch.choice, scratch)
        scratch.cluster_choice[c] = linked(rules.linkage, scratch.value[:n], scratch.usage[:n])
        n = gather(model, c, scratch.match, scratch)
        scratch.cluster_match[c] = linked(rules.linkage, scratch.value[:n], scratch.usage[:n])


@jit
def link_by_centroid(model, item, rules, scratch):  # INOUT scratch
    """T_c = (|I ∧ W̄| / (α + |W̄|))^γ and M_c = |W̄|^γ_ref·T_c."""
    n = model.size[0].n_clusters
    overlap, norm = scratch.cluster_choice, scratch.cluster_match
    centroid_overlaps(item, model, scratch.common[:n], overlap, norm)
    for c in range(n):
        scratch.cluster_choice[c] = choice(overlap[c], norm[c], rules.alpha) ** rules.gamma
        scratch.cluster_match[c] = norm[c] ** rules.gamma_ref * scratch.cluster_choice[c]


@jit
def accepting_cluster(model, rules, scratch):
    """The cluster with the largest T_c among those that pass the lower vigilance, or NONE.

    This equals ART's search in order of decreasing T_c. Ties go to the oldest.
    """
    best = NONE
    for c in range(model.size[0].n_clusters):
        if scratch.cluster_match[c] >= rules.lower and is_better(scratch.cluster_choice, c, best):
            best = c
            if rules.by_age:
                break
    return best


@jit
def resonating_category(model, c, rules, scratch):
    """The category of cluster c with the largest T_j among those that pass the upper vigilance, or NONE."""
    best, k = NONE, model.first[c]
    while k != NONE:
        if scratch.match[k] >= rules.upper and is_better(scratch.choice, k, best):
            best = k
        k = model.after[k]
    return best


@jit
def largest(values, n):
    """Index of the first maximum of the first n values, or NONE if n is 0."""
    best = NONE
    for i in range(n):
        if is_better(values, i, best):
            best = i
    return best


@jit
def append(model, item, c):  # INOUT model
    """Add a category for an item to cluster c, which may be new."""
    size = model.size[0]
    k = size.n_categories
    model.norm[k] = commit(model.weight, k, item)
    model.owner[k], model.usage[k], model.after[k] = c, 1, NONE
    if c == size.n_clusters:
        model.first[c] = k
        size.n_clusters += 1
    else:
        model.after[model.last[c]] = k
    model.last[c] = k
    size.n_categories += 1
    return k


@jit
def learn_one(model, item, rules, scratch):  # INOUT model, scratch
    """Learn one sample; returns its cluster."""
    score_categories(model, item, rules, scratch)
    link(model, item, rules, scratch)
    size = model.size[0]
    size.n_seen += 1
    c = accepting_cluster(model, rules, scratch)
    k = NONE if c == NONE else resonating_category(model, c, rules, scratch)
    if k != NONE:
        model.norm[k] = absorb(model.weight, k, item, rules.beta)
        model.usage[k] += 1
    elif size.n_categories < rules.max_nodes:
        k = append(model, item, size.n_clusters if c == NONE else c)
    else:  # max_nodes is reached: the sample is ignored
        return largest(scratch.cluster_choice, size.n_clusters)
    scratch.power[k] = model.norm[k] ** rules.gamma_ref
    return model.owner[k]


@kernel
def learn(model, items, rules, label):  # INOUT model, label
    """Learn items while there is room; returns the number learnt."""
    scratch, n = new_scratch(model, rules), 0
    while n < items.shape[0] and model.size[0].n_categories < model.norm.shape[0]:
        label[n] = learn_one(model, items[n], rules, scratch)
        n += 1
    return n


@kernel
def assign(model, items, rules, strict, label):  # INOUT label
    """Cluster of the category with the largest T_j; if strict, the accepting cluster or NONE."""
    scratch = new_scratch(model, rules)
    for i in range(items.shape[0]):
        score_categories(model, items[i], rules, scratch)
        if strict:
            link(model, items[i], rules, scratch)
            label[i] = accepting_cluster(model, rules, scratch)
        else:
            label[i] = model.owner[largest(scratch.choice, model.size[0].n_categories)]
