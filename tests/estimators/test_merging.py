"""Merged estimators: ids, events, files, refusals; and recounts."""

import pickle
import re

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import adjusted_mutual_info_score

from everclust import IDAT, EverClust, count_pairs, load, merge, recount
from everclust.core.cluster_ids import GONE, MERGED
from everclust.core.invariants import check
from everclust.model.merging import _without_ends
from support.models import learnt
from support.slow import others_slow

DIGITS, DIGIT = load_digits(return_X_y=True)
IRIS = load_iris().data
CLASSES = [IDAT, EverClust]
SEEDS = st.integers(0, 2**32)


def forked(cls, seed, n_parts, most=400, **parameters):
    """(models, base) of parts of the digits in random order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(DIGITS))
    cuts = np.cumsum(rng.integers(1, most, n_parts + 1))
    parts = [DIGITS[rows] for rows in np.split(order, cuts)[:-1]]
    base = cls(**parameters).partial_fit(parts[0])
    return [base.fork().partial_fit(part) for part in parts[1:]], base


@pytest.mark.parametrize("cls", others_slow(CLASSES, now=[EverClust]))
@settings(max_examples=8)
@given(seed=SEEDS, n_parts=st.integers(1, 5), with_base=st.booleans())
def test_the_order_of_models_does_not_matter(cls, seed, n_parts, with_base):
    models, base = forked(cls, seed, n_parts)
    base = base if with_base else None
    order = np.random.default_rng(seed).permutation(n_parts)
    one, mappings = merge(models, base, return_mapping=True)
    other, mapped = merge([models[i] for i in order], base, return_mapping=True)
    assert learnt(one) == learnt(other)
    assert [mappings[i] for i in order] == mapped
    check(one._learner.state)


@pytest.mark.parametrize("cls", CLASSES)
def test_one_model_and_empty_ones_change_nothing(cls):
    model = cls(max_nodes=50).fit(DIGITS)
    for models in ([model], [cls(max_nodes=40), model], [model, cls(max_nodes=3), cls(max_nodes=3)]):
        merged, mappings = merge(models, return_mapping=True)
        assert learnt(merged) == learnt(model)
        assert merged is not model
        same = {c: c for c in model.cluster_ids_.tolist()}
        assert mappings == [same if part is model else {} for part in models]
        assert merged.max_nodes == 50
    assert learnt(merge([model], base=cls())) == learnt(model)


def test_empty_models_alone_make_an_empty_one():
    merged, mappings = merge([EverClust(), EverClust()], return_mapping=True)
    assert mappings == [{}, {}]
    assert merged.partial_fit(IRIS).n_samples_seen_ == 150


@pytest.mark.parametrize("cls", CLASSES)
def test_the_base_changes_nothing_when_merged_with_its_forks(cls):
    models, base = forked(cls, 3, 2)
    assert learnt(merge([*models, base], base)) == learnt(merge(models, base))
    merged, mappings = merge([base.fork(), base.fork()], base, return_mapping=True)
    assert merged.n_samples_seen_ == base.n_samples_seen_
    assert mappings[0] == mappings[1] == {c: c for c in base.cluster_ids_.tolist()}


@pytest.mark.parametrize("cls", others_slow(CLASSES, now=[EverClust]))
@settings(max_examples=8)
@given(seed=SEEDS, n_parts=st.integers(2, 4))
def test_samples_are_counted_once(cls, seed, n_parts):
    models, base = forked(cls, seed, n_parts)
    merged = merge(models, base)
    later = sum(model.n_samples_seen_ - base.n_samples_seen_ for model in models)
    assert merged.n_samples_seen_ == base.n_samples_seen_ + later
    apart = merge(models)
    assert apart.n_samples_seen_ == sum(model.n_samples_seen_ for model in models)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("with_base", [False, True])
def test_a_merged_model_saves_resumes_and_learns(cls, with_base, tmp_path):
    models, base = forked(cls, 5, 3)
    merged = merge(models, base if with_base else None)
    merged.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(merged)), merged.copy()):
        assert learnt(again) == learnt(merged)
        ongoing = merged.copy().partial_fit(DIGITS)
        assert learnt(again.partial_fit(DIGITS)) == learnt(ongoing)
        check(again._learner.state)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("by_file", [False, True])
def test_forks_may_be_saved_on_the_way(cls, by_file, tmp_path):
    base = cls().partial_fit(DIGITS[:600])
    forks = [base.fork().partial_fit(DIGITS[600:1200]), base.fork().partial_fit(DIGITS[1200:])]
    expected = learnt(merge(forks, base))
    if by_file:
        base.save(tmp_path / "base")
        base = load(tmp_path / "base")
        forks = [base.fork().partial_fit(DIGITS[600:1200]), base.fork().partial_fit(DIGITS[1200:])]
    models = []
    for i, fork in enumerate(forks):
        fork.save(tmp_path / f"{i}")
        models.append(load(tmp_path / f"{i}"))
    assert learnt(merge(models, base)) == expected


@pytest.mark.parametrize("cls", others_slow(CLASSES, now=[EverClust]))
def test_many_forks_of_few_rows(cls, tmp_path):
    base = cls().partial_fit(DIGITS[:1500])
    forks = [base.fork().partial_fit(rows) for rows in np.array_split(DIGITS[1500:], 60)]
    merged = merge(forks, base)
    assert merged.n_samples_seen_ == len(DIGITS)
    check(merged._learner.state)
    merged.save(tmp_path / "model")
    assert learnt(load(tmp_path / "model")) == learnt(merged)
    window = merged._learner.export()[1]["window"]
    assert len(np.unique(window, axis=0)) == len(window)  # rows of the base are there once


# Ids


def test_what_the_base_knew_keeps_its_id():
    rng = np.random.default_rng(0)
    centres = 60 * np.eye(6)  # all equally far apart
    X = [centre + rng.normal(size=(600, 6)) for centre in centres]
    base = EverClust().fit(rng.permutation(np.concatenate([x[:200] for x in X[:4]])))
    known = base.predict(centres[:4])
    later = [rng.permutation(np.concatenate([x[200:400] for x in (*X[:4], X[k])])) for k in (4, 5)]
    models = [base.fork().partial_fit(rows) for rows in later]
    merged, mappings = merge(models, base, return_mapping=True)
    assert merged.predict(centres[:4]).tolist() == known.tolist()
    new = merged.predict(centres[4:])
    assert len({*known.tolist(), *new.tolist()}) == len(set(known.tolist())) + 2
    for model, mapping, k in zip(models, mappings, (4, 5), strict=True):
        assert mapping.keys() == set(model.cluster_ids_.tolist())
        assert [mapping[c] for c in known.tolist()] == known.tolist()
        assert mapping[int(model.predict(centres[k : k + 1])[0])] == merged.predict(centres[k : k + 1])[0]


@pytest.mark.parametrize("cls", others_slow(CLASSES, now=[EverClust]))
@settings(max_examples=8)
@given(seed=SEEDS, n_parts=st.integers(2, 4))
def test_an_id_of_the_base_means_the_same_or_its_end_is_told(cls, seed, n_parts):
    models, base = forked(cls, seed, n_parts)
    merged = merge(models, base)
    ids, known = set(merged.cluster_ids_.tolist()), base.fork()._learner.export()[0]
    next_id = known["next_cluster" if cls is IDAT else "next_community"]
    apart = [set(model.fork().cluster_ids_.tolist()) for model in models]
    assert {c for c in ids if c < next_id} <= set.union(*apart)
    told = merged.events(since=merged.n_samples_seen_ - 1)
    ended = {c for event in told if event.kind in ("gone", "merged") for c in event.before}
    assert set.intersection(*apart) & set(range(next_id)) <= ids | ended


@pytest.mark.parametrize("cls", others_slow(CLASSES, now=[EverClust]))
@settings(max_examples=8)
@given(seed=SEEDS, n_parts=st.integers(2, 4), with_base=st.booleans())
def test_every_id_leads_to_a_cluster_and_every_event_to_an_id(cls, seed, n_parts, with_base):
    models, base = forked(cls, seed, n_parts)
    merged, mappings = merge(models, base if with_base else None, return_mapping=True)
    ids = set(merged.cluster_ids_.tolist())
    for model, mapping in zip(models, mappings, strict=True):
        assert {c for c in model.cluster_ids_.tolist() if c >= 0} == mapping.keys()
        assert set(mapping.values()) <= ids | {-1}
    events = merged.events()
    assert [event.sample for event in events] == sorted(event.sample for event in events)
    assert all(0 < event.sample <= merged.n_samples_seen_ for event in events)
    told = {c for event in events for c in event.after}
    assert ids - {-1} <= told or not merged.n_active_nodes_
    for model in models:  # all that parts were told is told, but ends of clusters that others have
        told = model.events(since=base.n_samples_seen_ if with_base else 0)
        assert len(events) >= len([event for event in told if set(event.before) <= set(event.after)])


@pytest.mark.parametrize("cls", CLASSES)
def test_mergers_in_a_row_keep_every_centre_once(cls):
    model = cls().partial_fit(DIGITS[:400])
    for _ in range(6):
        told = model.fork().events()
        model = merge([model.fork().partial_fit(DIGITS[i::2]) for i in range(2)], model)
        assert model.events()[: len(told)] == told
        arrays = model._learner.export()[1]
        assert set(arrays["event"][:, 5].tolist()) == set(range(len(arrays["event_centre"])))


def test_clusters_that_become_one_are_told():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2)) + np.repeat([[0, 0], [30, 0]], 2000, axis=0)
    X = rng.permutation(X)
    models = [EverClust().partial_fit(X[:3000]), EverClust().partial_fit(X[3000:])]
    merged, (first, second) = merge(models, return_mapping=True)
    assert merged.n_clusters_ == 2
    assert first == {c: c for c in models[0].cluster_ids_.tolist()}
    assert set(second.values()) == set(first.values())
    mergers = [event for event in merged.events() if event.kind == "merged"]
    assert len(mergers) == 2
    assert all(event.sample == 4000 and event.before[0] == event.after[0] for event in mergers)
    assert {event.after[0] for event in mergers} == set(first)


def ended(model):
    """Ids by the event that ended them, unless a later one brought them back."""
    ends = {}
    for event in model.events():
        ends |= dict.fromkeys(set(event.before) - set(event.after), event)
        for c in event.after:
            ends.pop(c, None)
    return ends


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("max_nodes", [None, 50])
def test_no_cluster_has_ended_that_is_there(cls, max_nodes):
    """Each shard has clusters that the others have not, which they are told are gone, or part of another."""
    rng = np.random.default_rng(1)
    y = rng.integers(28, size=9_000)
    X = rng.uniform(-20, 20, (28, 3))[y] + rng.normal(size=(9_000, 3))
    base = cls(max_nodes=max_nodes).partial_fit(X[:1000])
    rows = X[1000:][np.argsort(y[1000:], kind="stable")]
    forks = [base.fork().partial_fit(shard) for shard in np.array_split(rows, 3)]
    merged, mappings = merge(forks, base, return_mapping=True)
    present = set(merged.cluster_ids_.tolist())
    assert any(set(ended(fork)) & present for fork in forks) or cls is IDAT
    assert not set(ended(merged)) & present
    assert set().union(*[mapping.values() for mapping in mappings]) <= present | {-1}


def test_of_a_merger_that_ended_no_cluster_nothing_is_left():
    """Records of 5 and 16, and of 5, 16 and 17, that became one."""
    gone, merger = [(9, GONE, 3, 3, 1, 0)], [(9, MERGED, 5, part, 8, 1) for part in (5, 16)]
    larger = [(12, MERGED, 5, part, 8, 2) for part in (5, 16, 17)]
    records = np.array(gone + merger + larger)
    assert _without_ends(records, [4, 5]).tolist() == records.tolist()
    assert _without_ends(records, [5, 16]).tolist() == records[[0, 3, 5]].tolist()
    assert _without_ends(records, [3]).tolist() == records[1:].tolist()
    assert _without_ends(records[:0], [3]).shape == (0, 6)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_bound_on_nodes_holds(cls):
    models, base = forked(cls, 7, 4, max_nodes=60)
    merged = merge(models, base)
    assert merged.n_nodes_ <= 60
    check(merged._learner.state)
    models[0].set_params(max_nodes=None)
    assert merge(models, base).max_nodes is None


# Refusals

# Made when a test needs them: reading this file learns nothing.
OTHERS = [
    (
        lambda: [IDAT().fit(IRIS), EverClust().fit(IRIS)],
        TypeError,
        "Models of EverClust and IDAT cannot be merged",
    ),
    (
        lambda: [IDAT().fit(IRIS), IDAT().fit(IRIS[:, :2])],
        ValueError,
        "Models of 2 and 4 features cannot be merged",
    ),
    (
        lambda: [EverClust().fit(IRIS), EverClust(metric="euclidean").fit(IRIS)],
        ValueError,
        "Models with the metrics 'capped' and 'euclidean' cannot be merged",
    ),
    (
        lambda: [
            IDAT().fit(pandas.DataFrame(IRIS[:, :2], columns=names)) for names in (["a", "b"], ["b", "a"])
        ],
        ValueError,
        "Models with the feature names ['a', 'b'] and ['b', 'a'] cannot be merged",
    ),
    (lambda: [IRIS], TypeError, "Models of ndarray cannot be merged"),
    (lambda: [], ValueError, "There are no models to merge"),
]


@pytest.mark.parametrize(("made", "error", "words"), OTHERS)
def test_models_of_different_kinds_are_refused_in_one_sentence(made, error, words):
    models = made()
    with pytest.raises(error, match=re.escape(words)) as caught:
        merge(models)
    assert str(caught.value).count(". ") == 0
    if len(models) == 2:
        with pytest.raises(error, match=re.escape(words)):
            merge(models[:1], base=models[1])


def test_models_that_are_no_forks_of_the_base_are_refused():
    base = EverClust().partial_fit(DIGITS[:500])
    fork = base.fork().partial_fit(DIGITS[500:700])
    other = EverClust().partial_fit(DIGITS[::-1])
    with pytest.raises(ValueError, match="Model 1 of the list was not forked from the base"):
        merge([fork, other], base)


def test_names_of_features_are_kept():
    frame = pandas.DataFrame(IRIS, columns=list("abcd"))
    base = EverClust().partial_fit(frame[:50])
    merged = merge([base.fork().partial_fit(frame[50:100]), base.fork().partial_fit(frame[100:])], base)
    assert list(merged.feature_names_in_) == list("abcd")
    assert len(merged.predict(frame)) == 150


# Quality


def test_forks_cluster_as_well_as_one_model():
    scores = []
    for seed in (0, 1, 2):
        order = np.random.default_rng(seed).permutation(len(DIGITS))
        X, y = DIGITS[order], DIGIT[order]
        base = EverClust().partial_fit(X[:450])
        merged = merge([base.fork().partial_fit(X[450 + i :: 4]) for i in range(4)], base)
        one = EverClust().partial_fit(X)
        scores.append([adjusted_mutual_info_score(y, model.predict(X)) for model in (one, merged)])
    one, merged = np.mean(scores, axis=0)
    assert merged > one - 0.03


# Recounts


@pytest.mark.parametrize("cls", CLASSES)
def test_rows_may_be_counted_in_parts(cls, tmp_path):
    models, base = forked(cls, 11, 3)
    merged = merge(models, base)
    before = learnt(merged)
    whole = recount(merged, DIGITS)
    assert learnt(merged) == before
    parts = np.array_split(DIGITS, 5)
    for again in (
        recount(merged, (part for part in parts)),
        recount(merged, [part.tolist() for part in parts]),
        recount(merged, DIGITS.tolist()),
        recount(
            merged, sum((count_pairs(merged, part) for part in parts[1:]), count_pairs(merged, parts[0]))
        ),
    ):
        assert learnt(again) == learnt(whole)
    check(whole._learner.state)
    whole.save(tmp_path / "model")
    assert learnt(load(tmp_path / "model")) == learnt(whole)
    assert whole.partial_fit(DIGITS).n_samples_seen_ == merged.n_samples_seen_ + len(DIGITS)


def test_recounts_refuse_what_they_cannot_count():
    model, other = EverClust().fit(IRIS), EverClust().fit(DIGITS)
    with pytest.raises(ValueError, match=r"The counts are of a model with \d+ nodes, but this one has \d+"):
        recount(model, count_pairs(other, DIGITS))
    with pytest.raises(ValueError, match="There are no rows to count"):
        recount(model, [])
    with pytest.raises(ValueError, match="features"):
        recount(model, DIGITS)
