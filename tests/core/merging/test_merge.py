"""Merging is held to a slow twin and to its laws: order, emptiness, totals, and going on afterwards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.invariants import check
from everclust.core.layout import NONE
from everclust.core.learn import learn
from everclust.core.merging.correspondence import match_nodes
from everclust.core.merging.merge import Part, is_fork, merge_states, reach_of
from everclust.core.merging.merged_stream import capped_weights, scale_of, stream_of
from everclust.core.metric import cap
from everclust.core.serialise import DIRECTION_ARRAYS, examine, export
from everclust.core.spread import present_scale
from everclust.core.state import copy, new_state, scalar, scalars_of
from everclust.core.variants import CAPPED, PUBLISHED
from oracles import merge as oracle
from support.streams import TEXTURES

SCALARS = ("n_seen", "n_born", "interval", "vigilance", "cluster_ratio", "since_recalibration")
SEEDS = st.integers(0, 2**32)


def as_twin(state):
    """The same model for the oracle."""
    scalars, arrays = export(state)
    plain = {name: array.tolist() for name, array in arrays.items()}
    fields = ("prototype", "usage", "wins", "active", "idle", "activity", "last_won", "birth", "scale")
    return oracle.Model(
        **{name: scalars[name] for name in SCALARS},
        **{name: plain[name] for name in ("mean", "square_sum", "weight", "window")},
        nodes=[oracle.Node(*values) for values in zip(*(plain[name] for name in fields), strict=True)],
        handover={(i, j): n for i, j, n in plain["handover"]},
        evidence={(i, j): n for i, j, n in plain["evidence"]},
        edges={(i, j) for i, j in plain["edge"]},
        **{name: plain[name] for name in DIRECTION_ARRAYS if name in plain},
    )


def drawn(seed, n_parts, with_base, variant, most=70):
    """(models, base) of one stream, cut in parts of random lengths."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    lengths = rng.integers(0, most, n_parts + with_base)
    X = TEXTURES[rng.integers(len(TEXTURES))](rng, int(lengths.sum()) + 1, d)
    parts = np.split(np.ascontiguousarray(X, float), np.cumsum(lengths))[:-1]
    base = learn(new_state(d, variant), parts.pop().copy(), variant) if with_base else None
    start = new_state(d, variant) if base is None else base
    return [learn(copy(start), part.copy(), variant) for part in parts], base


def same(one, other, but=()):
    """The same content; ids apart, which `everclust.model` gives."""
    left_out = {"cluster", "since", "community", "next_cluster", "next_community", "provisional", *but}
    for these, those in zip(export(one), export(other), strict=True):
        assert these.keys() == those.keys()
        for name in these.keys() - left_out:
            np.testing.assert_array_equal(these[name], those[name], err_msg=name)


# The slow twin


@pytest.mark.parametrize("variant", [PUBLISHED, CAPPED])
@given(seed=SEEDS, n_parts=st.integers(1, 5), with_base=st.booleans())
def test_merging_equals_the_slow_twin(variant, seed, n_parts, with_base):
    models, base = drawn(seed, n_parts, with_base, variant)
    slow_base = None if base is None else as_twin(base)
    expected = oracle.merge([as_twin(model) for model in models], slow_base, variant.capped)
    merged = merge_states(models, base, variant.capped).state
    check(merged)
    assert as_twin(merged) == expected


@given(seed=SEEDS, n_parts=st.integers(2, 4))
def test_parts_of_a_bounded_model_drop_nodes_of_the_base(seed, n_parts):
    variant = CAPPED._replace(max_nodes=8)
    models, base = drawn(seed, n_parts, True, variant, most=120)
    expected = oracle.merge([as_twin(model) for model in models], as_twin(base), True)
    merged = merge_states(models, base, True).state
    check(merged)
    assert as_twin(merged) == expected


# Laws


@pytest.mark.parametrize("variant", [PUBLISHED, CAPPED])
@given(seed=SEEDS, n_parts=st.integers(1, 6), with_base=st.booleans())
def test_the_order_of_models_does_not_matter(variant, seed, n_parts, with_base):
    models, base = drawn(seed, n_parts, with_base, variant)
    order = np.random.default_rng(seed).permutation(n_parts)
    one = merge_states(models, base, variant.capped)
    other = merge_states([models[i] for i in order], base, variant.capped)
    same(one.state, other.state)
    for i, place in zip(order, other.places, strict=True):
        np.testing.assert_array_equal(place, one.places[i])


@given(seed=SEEDS, with_base=st.booleans())
def test_one_model_stays_as_it_is(seed, with_base):
    (model,), base = drawn(seed, 1, with_base, CAPPED)
    empty = new_state(model.prototype.shape[1])
    for models in ([model], [model, empty], [empty, model, empty]):
        state, places, _ = merge_states(models, base, True)
        for these, those in zip(export(state), export(model), strict=True):
            for name in these:
                np.testing.assert_array_equal(these[name], those[name], err_msg=name)
        assert places[models.index(model)].tolist() == list(range(scalar(model, "n_nodes")))
        assert all(len(place) == 0 for place, part in zip(places, models, strict=True) if part is empty)
        assert not np.shares_memory(state.prototype, model.prototype)


@given(seed=SEEDS, with_base=st.booleans())
def test_what_has_learnt_nothing_changes_nothing(seed, with_base):
    models, base = drawn(seed, 3, with_base, PUBLISHED)
    nothing = new_state(models[0].prototype.shape[1]) if base is None else copy(base)
    one = merge_states(models, base)
    other = merge_states([nothing, *models], base)
    same(one.state, other.state)
    births = other.state.node["birth"]
    place = other.places[0]
    assert (
        births[place[place != NONE]].tolist() == nothing.node["birth"][: len(place)][place != NONE].tolist()
    )


def test_nothing_but_empty_models():
    assert scalar(merge_states([new_state(2), new_state(2)]).state, "n_seen") == 0


@pytest.mark.parametrize("variant", [PUBLISHED, CAPPED])
@given(seed=SEEDS, n_parts=st.integers(2, 5), with_base=st.booleans())
def test_totals_are_exact(variant, seed, n_parts, with_base):
    models, base = drawn(seed, n_parts, with_base, variant)
    before = new_state(models[0].prototype.shape[1]) if base is None else base
    state, places, _ = merge_states(models, base, variant.capped)
    n_before = scalar(before, "n_seen")
    assert scalar(state, "n_seen") - n_before == sum(scalar(model, "n_seen") - n_before for model in models)
    for name in ("usage", "wins"):
        total = np.zeros(scalar(state, "n_nodes"), np.int64)
        n_holders = np.zeros_like(total)
        for model, place in zip(models, places, strict=True):
            kept = place != NONE
            total[place[kept]] += model.node[name][: len(place)][kept]
            n_holders[place[kept]] += 1
        nodes = before.node[: scalar(before, "n_nodes")]
        births = dict(zip(nodes["birth"].tolist(), nodes[name].tolist(), strict=True))
        for k, birth in enumerate(state.node["birth"][: len(total)].tolist()):
            total[k] -= (n_holders[k] - 1) * births.get(birth, 0)
        np.testing.assert_array_equal(state.node[name][: len(total)], total)


@given(seed=SEEDS, n_parts=st.integers(2, 6), with_base=st.booleans())
def test_variances_are_those_of_all_samples(seed, n_parts, with_base):
    rng = np.random.default_rng(seed)
    parts = [10 * rng.normal(size=(rng.integers(1, 60), 3)) + 100 for _ in range(n_parts + 1)]
    base = learn(new_state(3), parts[0].copy()) if with_base else None
    models = [learn(copy(base) if base else new_state(3), part.copy()) for part in parts[1:]]
    every = np.concatenate(parts if with_base else parts[1:])
    state = merge_states(models, base).state
    np.testing.assert_allclose(state.mean, every.mean(axis=0), rtol=1e-12)
    spread = ((every - every.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(state.square_sum, spread, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("variant", [PUBLISHED, CAPPED])
@given(seed=SEEDS, with_base=st.booleans())
def test_a_merged_model_goes_on(variant, seed, with_base):
    models, base = drawn(seed, 3, with_base, variant)
    state = merge_states(models, base, variant.capped).state
    if scalar(state, "n_seen") == 0:
        return
    rng = np.random.default_rng(seed)
    again = examine(*export(state))
    for _ in range(40):
        x = rng.normal(size=(1, state.prototype.shape[1])) * 5
        state, again = learn(state, x, variant), learn(again, x.copy(), variant)
        check(state)
    same(state, again)


# Rules one by one


def test_near_nodes_become_one(model):
    fields = {"vigilance": 0.5, "square_sum": [9], "n_seen": 10, "usage": [4, 4], "window": [[0], [1]]}
    a = model([[0], [10]], **fields)  # present scale 1, so that similarity 0.5 is at distance 1
    b = model([[0.5], [11.5]], **fields)
    state, places, _ = merge_states([a, b])
    assert [place.tolist() for place in places] in ([[0, 1], [0, 2]], [[0, 2], [0, 1]])
    assert sorted(state.prototype[:3, 0].tolist()) == [0.25, 10, 11.5]
    assert sorted(state.node["usage"][:3].tolist()) == [4, 4, 8]


def test_the_nearest_pair_comes_first():
    a, b, weight = np.array([[0.0], [3.0]]), np.array([[2.0], [9.0]]), np.ones(1)
    assert match_nodes(a, b, weight, np.inf).tolist() == [1, 0]
    assert match_nodes(a, b, weight, 2.0).tolist() == [NONE, 0]
    assert match_nodes(a, b, weight, 0.0).tolist() == [NONE, NONE]
    assert match_nodes(a, a, weight, 0.0).tolist() == [0, 1]
    assert match_nodes(a, b, np.array([0.25]), 0.5).tolist() == [NONE, 0]


def test_ties_go_to_the_lower_node_of_a_then_of_b():
    a, b = np.array([[0.0], [2.0]]), np.array([[1.0], [3.0], [-1.0]])
    assert match_nodes(a, b, np.ones(1), np.inf).tolist() == [0, 1]
    assert match_nodes(a[::-1].copy(), b, np.ones(1), np.inf).tolist() == [0, 2]


def greedy(a, b, weight, reach):
    """Partners by a sorted list of all pairs."""
    pairs = sorted((oracle.distance(x, y, weight), i, j) for i, x in enumerate(a) for j, y in enumerate(b))
    partner = [NONE] * len(a)
    for away, i, j in pairs:
        if away <= reach and partner[i] == NONE and j not in partner:
            partner[i] = j
    return partner


@given(seed=SEEDS, on_grid=st.booleans())
def test_matching_equals_a_sorted_list_of_all_pairs(seed, on_grid):
    rng = np.random.default_rng(seed)
    n_a, n_b, d = (int(n) for n in rng.integers(1, (40, 150, 4)))
    a, b, weight = rng.normal(size=(n_a, d)), rng.normal(size=(n_b, d)), rng.uniform(0.1, 1.0, d)
    if on_grid:
        a, b = np.round(a), np.round(b)
    reach = float(rng.choice([0.0, 0.3, 1.0, np.inf]))
    assert match_nodes(a, b, weight, reach).tolist() == greedy(a, b, weight, reach)


@pytest.mark.parametrize("unit", [1e-160, 1e-30, 1.0, 1e120])
def test_matching_of_nodes_that_are_far_apart_or_at_one_place(unit):
    rng = np.random.default_rng(1)
    b, weight = unit * rng.normal(size=(70, 3)), np.array([1.0, 0.5, 1e-3])
    for shift in (0.0, 1e3, 1e7, 1e10):  # the last is beyond what the coarse copy can tell apart
        a = b[rng.permutation(70)[:50]] + unit * shift
        a[::5] = a[0]
        for reach in (unit * 0.1, unit * (shift + 1.0), np.inf):
            assert match_nodes(a, b, weight, reach).tolist() == greedy(a, b, weight, reach)
    a = np.repeat(b[:1], 30, axis=0)
    assert match_nodes(a, a, weight, 0.0).tolist() == list(range(30))
    assert match_nodes(a, b[:0], weight, np.inf).tolist() == [NONE] * 30
    assert match_nodes(a[:0], b, weight, np.inf).tolist() == []


def test_an_edge_of_the_base_that_one_part_has_cut_is_cut(model):
    fields = {"usage": [5, 5, 5], "active": [1, 1, 1], "n_seen": 30, "window": [[0], [1]]}
    base = model([[0], [1], [9]], evidence=[(0, 1, 4), (1, 2, 4)], edge=[(0, 1), (1, 2)], **fields)
    more = fields | {"n_seen": 40}
    a = model([[0], [1], [9]], evidence=[(0, 1, 6), (1, 2, 4)], edge=[(0, 1), (1, 2)], **more)
    b = model([[0], [1], [9]], evidence=[(0, 1, 5)], edge=[(0, 1)], **more)
    arrays = export(merge_states([a, b], base).state)[1]
    assert arrays["evidence"].tolist() == [[0, 1, 7]]
    assert arrays["edge"].tolist() == [[0, 1]]


def test_the_later_of_both_wins_counts_in_the_merged_stream(model):
    a = model([[0]], last_won=[15], n_seen=20)
    b = model([[0]], last_won=[9], n_seen=10)  # one sample ago is three in the stream of both
    assert merge_states([a, b]).state.node["last_won"][0] == 27


def test_nodes_that_are_used_once_are_dropped_beyond_an_interval(model):
    a = model([[0], [10], [20], [30]], usage=[9, 1, 1, 1], vigilance=1.0, n_seen=20)
    b = model([[0], [40], [50]], usage=[9, 1, 1], vigilance=1.0, n_seen=18)
    assert scalar(merge_states([a, b]).state, "interval") == 2
    assert merge_states([a, b]).state.prototype[:3, 0].tolist() == [0, 50, 30]


def test_the_window_has_rows_of_the_base_once(model):
    base = model([[0]], window=[[1], [2]], n_seen=2)
    a = model([[0]], window=[[1], [2], [3], [4]], n_seen=4)
    b = model([[0]], window=[[1], [2], [5]], n_seen=3)
    state = merge_states([a, b], base).state
    assert export(state)[1]["window"].ravel().tolist() == [2, 3, 5, 4]
    assert scalar(state, "interval") == 2


def test_metric_and_scale_are_those_of_learning(compiled):
    rng = np.random.default_rng(3)
    for d in (1, 2, 5, 8):
        X = rng.normal(size=(40, d)) * 10.0 ** rng.integers(-2, 3, d)
        X[:, rng.random(d) < 0.3] = 7.0
        state = learn(new_state(d, CAPPED), X, CAPPED)
        compiled(cap)(state)
        stream = stream_of(*export(state))
        np.testing.assert_array_equal(capped_weights(stream), state.weight)
        scalars_of(state).n_seen -= 1  # it counts the sample that is being learnt
        assert scale_of(stream, state.weight) == compiled(present_scale)(state)
    assert capped_weights(stream_of(*export(new_state(2)))).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("n_seen", "excess", "expected", "most"),
    [
        (256, 1.0, 10.0, 4),  # a tenth, but not more than the second largest
        (255, 1.0, 10.0, 2),
        (256, 1.1, 10.0, 2),
        (256, 0.0, 0.0, 2),
    ],
)
def test_the_cap_of_a_merged_model_is_relaxed_too(n_seen, excess, expected, most, model):
    scalars, arrays = export(model([[0, 0, 0, 0, 0]], square_sum=[2, 1, 64, 1, 4], n_seen=n_seen))
    arrays |= {"direction": np.ones((5, 8)), "projection": np.array([[excess] * 8, [expected] * 8])}
    arrays["foretold"] = np.array([True, True, True, True, False])
    expected = np.minimum(1.0, [1, 1, most / 64, 1, 2 / 4])
    np.testing.assert_array_equal(capped_weights(stream_of(scalars, arrays)), expected)


@pytest.mark.parametrize("with_base", [False, True])
def test_correlation_is_that_of_all_samples(with_base):
    """Nearly: a direction is as long as standard deviations say, which differ from part to part."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(1200, 4)) @ rng.normal(size=(4, 4))
    base = learn(new_state(4, CAPPED), X[:400].copy(), CAPPED)
    parts = X[400:800], X[800:]
    models = [learn(copy(base) if with_base else new_state(4, CAPPED), part.copy(), CAPPED) for part in parts]
    merged = merge_states(models, base if with_base else None, True).state
    one = copy(base) if with_base else new_state(4, CAPPED)
    one = learn(one, (X[400:]).copy(), CAPPED)
    found, expected = (state.projection[0] / state.projection[1] for state in (merged, one))
    if with_base:  # the same directions
        np.testing.assert_allclose(found, expected, atol=0.1)
    assert np.mean(found**2) > 0.01


def test_with_a_model_without_directions_there_are_none():
    X = np.random.default_rng(1).normal(size=(80, 3))
    old = learn(new_state(3), X[:40].copy(), CAPPED)
    new = learn(new_state(3, CAPPED), X[40:].copy(), CAPPED)
    assert "direction" not in export(merge_states([old, new], None, True).state)[1]
    assert "direction" in export(merge_states([new, copy(new)], None, True).state)[1]


def test_what_others_foretell_is_that_of_the_first_part_until_nodes_are_compared_again():
    X = np.random.default_rng(1).normal(size=(80, 3))
    a, b = (learn(new_state(3, CAPPED), rows.copy(), CAPPED) for rows in (X[:50], X[50:]))
    a.foretold[:], scalars_of(a).foretold_at = [True, False, False], 40
    b.foretold[:], scalars_of(b).foretold_at = [False, True, True], 20
    merged = merge_states([b, a], None, True).state
    assert merged.foretold.tolist() == [True, False, False]
    assert scalar(merged, "foretold_at") == 0


def test_reach_is_where_similarity_equals_vigilance(model):
    part = Part(*export(model([[0]], vigilance=0.25, square_sum=[36], n_seen=10)))
    assert reach_of(part) == 6.0
    assert reach_of(Part(*export(model([[0]])))) == np.inf


def test_a_fork_knows_its_base(model):
    rng = np.random.default_rng(0)
    base = learn(new_state(2), rng.normal(size=(50, 2)))
    fork = learn(copy(base), rng.normal(size=(50, 2)))
    assert is_fork(base, base)
    assert is_fork(fork, base)
    assert is_fork(examine(*export(fork)), base)
    assert not is_fork(base, fork)
    assert not is_fork(learn(new_state(2), rng.normal(size=(200, 2))), fork)
    other = copy(fork)
    other.node["usage"][0] = 1
    assert not is_fork(other, fork)
