"""The state of DDVFA, as flat arrays."""

from typing import Any, NamedTuple

import numpy as np

from ...jit.compile import jit_allocating, record
from .fuzzy_art import grown, new_weights

UNLIMITED = np.iinfo(np.int64).max

SIZE = record(
    ("n_seen", np.int64),  # samples learnt
    ("n_categories", np.int64),
    ("n_clusters", np.int64),
)


class Model(NamedTuple):
    """Categories 0 … n_categories − 1 in order of creation, each in one cluster. Arrays have spare room."""

    size: np.ndarray  # one row: counts
    weight: np.ndarray  # W, one column per category
    norm: np.ndarray  # of category: |W|
    owner: np.ndarray  # of category: its cluster, which never changes
    usage: np.ndarray  # of category: samples it has absorbed, including the first
    after: np.ndarray  # of category: the next younger category of the same cluster, or NONE
    first: np.ndarray  # of cluster: its oldest category
    last: np.ndarray  # of cluster: its youngest category


class Rules(NamedTuple):
    """The parameters, as the loop needs them."""

    lower: float  # ρ_lb·d^γ_ref, threshold of a cluster's match
    upper: float  # ρ_ub·d^γ_ref, threshold of a category's match
    alpha: float
    beta: float
    gamma: float
    gamma_ref: float
    linkage: int
    max_nodes: int
    by_age: bool  # the oldest cluster that passes wins, instead of the largest choice


class Scratch(NamedTuple):
    """Working memory, allocated once per call of the kernel."""

    choice: np.ndarray  # of category: T_j
    match: np.ndarray  # of category: M_j
    power: np.ndarray  # of category: |W|^γ_ref
    cluster_choice: np.ndarray  # T_c
    cluster_match: np.ndarray  # M_c
    value: np.ndarray  # one cluster's values, oldest category first
    usage: np.ndarray  # one cluster's usages
    common: np.ndarray  # of cluster: one coordinate of its centroid


def new_model(n_features: int) -> Model:
    """An empty model."""
    weight = new_weights(2 * n_features)
    columns = weight.shape[1]
    integers = (np.zeros(columns, np.int64) for _ in range(5))
    return Model(np.zeros(1, SIZE), weight, np.zeros(columns), *integers)


def grow(model: Model) -> Model:
    """Copy the model with twice the room."""
    weight = grown(model.weight)
    vectors = [np.zeros(weight.shape[1], old.dtype) for old in model[2:]]
    for old, new in zip(model[2:], vectors, strict=True):
        new[: len(old)] = old
    return Model(model.size, weight, *vectors)


def sizes_of(model: Model) -> Any:
    """The counts by name, for plain Python."""
    return model.size.view(np.recarray)[0]


@jit_allocating
def new_scratch(model, rules):
    """Working memory for as many categories as the model has room for."""
    n = model.norm.shape[0]
    power = np.empty(n)
    for k in range(model.size[0].n_categories):
        power[k] = model.norm[k] ** rules.gamma_ref
    return Scratch(
        np.empty(n), np.empty(n), power, np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    )
