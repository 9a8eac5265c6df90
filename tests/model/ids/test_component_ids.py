"""Permanent ids and events equal those of the slow rules, sample by sample, however a stream is cut."""

import copy
import pickle
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

import everclust
import everclust.core.cluster_ids
import everclust.core.topology
import everclust.model.ids.event_log
from everclust import IDAT
from everclust.core.eviction import evict
from everclust.core.growth import grow
from everclust.core.invariants import check
from everclust.core.learn import learn
from everclust.core.readout import cluster_ids, components
from everclust.core.serialise import export, restore
from everclust.core.state import new_state, scalars_of
from everclust.core.variants import CAPPED, PRINTED_EVIDENCE, PUBLISHED
from everclust.model.ids.event_log import EventLog
from oracles.identity import Identities, Node
from support.jit_mode import PLAIN
from support.slow import others_slow
from support.streams import TEXTURES, blobs, outliers, restored, some_model, tasks

LONGEST = 60 if PLAIN else 150
IRIS = load_iris().data
DIGITS = load_digits().data
READINGS = [PUBLISHED, PUBLISHED, CAPPED, PRINTED_EVIDENCE]


# ---- Lock-step with the rules ----


def nodes_of(state):
    """The nodes of a state by birth."""
    n_nodes = scalars_of(state).n_nodes
    node, component = state.node[:n_nodes], components(state)
    return {
        int(node["birth"][k]): Node(
            int(node["wins"][k]),
            bool(node["active"][k]),
            int(component[k]),
            tuple(state.prototype[k].tolist()),
        )
        for k in range(n_nodes)
    }


def ids_by_birth(state):
    births = state.node["birth"][: scalars_of(state).n_nodes].tolist()
    return {birth: c for birth, c in zip(births, cluster_ids(state).tolist(), strict=True) if c >= 0}


def read_records(state, log):
    """Move the events that the core has buffered to the log, as a learner does."""
    scalars = scalars_of(state)
    log.add(state.event[: scalars.n_events].copy(), state.event_centre[: scalars.n_event_centres].copy())
    scalars.n_events = scalars.n_event_centres = 0


def lockstep(X, state, reading, max_nodes=2**62):
    """Learn X and update the ids in both; surplus nodes are evicted one at a time."""
    rules, log = Identities(ids_by_birth(state)), EventLog()
    rules.next_id = int(scalars_of(state).next_cluster)
    rules.nodes = nodes_of(state)
    for i in range(len(X)):
        state = learn(state, X[i : i + 1], reading)
        compare(state, rules, log)
        while scalars_of(state).n_nodes > max_nodes:
            state = evict_one(state)
            compare(state, rules, log)
    return state, rules, log


def evict_one(state):
    n_nodes = int(scalars_of(state).n_nodes)
    evict(state, n_nodes - 1)
    if scalars_of(state).n_nodes == n_nodes:
        state = grow(state)
        evict(state, n_nodes - 1)
    return state


def compare(state, rules, log):
    check(state)
    rules.update(int(scalars_of(state).n_seen), nodes_of(state))
    read_records(state, log)
    assert ids_by_birth(state) == rules.id_of
    assert scalars_of(state).next_cluster == rules.next_id


def assert_events(events, expected_events):
    """A sample and an eviction after it may both cause events: they are ordered by kind all the same."""
    order = {kind: i for i, kind in enumerate(everclust.model.ids.event_log.KINDS.values())}
    expected_events = sorted(expected_events, key=lambda event: (event.sample, order[event.kind]))
    assert [event[:2] for event in events] == [event[:2] for event in expected_events]
    key = lambda event: (event.sample, order[event.kind], event.before, event.after)  # noqa: E731
    for event, expected in zip(sorted(events, key=key), sorted(expected_events, key=key), strict=True):
        assert event[:5] == expected[:5]
        np.testing.assert_allclose(event.centre, expected.centre, rtol=1e-9, atol=1e-9)


@given(
    texture=st.sampled_from(TEXTURES),
    seed=st.integers(0, 2**32),
    n=st.integers(1, LONGEST),
    d=st.integers(1, 4),
    reading=st.sampled_from(READINGS),
)
def test_streams(texture, seed, n, d, reading):
    X = texture(np.random.default_rng(seed), n, d)
    _, rules, log = lockstep(X, new_state(d, reading), reading)
    assert_events(log.events(), rules.events)


@given(
    texture=st.sampled_from(TEXTURES),
    seed=st.integers(0, 2**32),
    n=st.integers(1, LONGEST),
    max_nodes=st.integers(3, 20),
)
def test_streams_with_few_nodes(texture, seed, n, max_nodes):
    X = texture(np.random.default_rng(seed), n, 2)
    state, rules, log = lockstep(X, new_state(2), PUBLISHED, max_nodes)
    assert_events(log.events(), rules.events)
    bounded = IDAT(max_nodes=max_nodes).partial_fit(X)
    assert bounded.events() == log.events()
    same_parts(export(bounded._learner.state), export(state))


def same_parts(ours, theirs):
    assert ours[0] == theirs[0]
    for name, array in ours[1].items():
        np.testing.assert_array_equal(array, theirs[1][name], err_msg=name)


@given(seed=st.integers(0, 2**32), d=st.integers(1, 3), max_nodes=st.sampled_from([2**62, 4, 8]))
def test_from_any_model(seed, d, max_nodes):
    """Start in the middle, where cuts and retirements are due and many clusters are equally large."""
    rng = np.random.default_rng(seed)
    slow = some_model(rng, d, PUBLISHED)
    X = slow.prototype[rng.integers(len(slow.usage))] + rng.normal(size=(12, d))
    state = restored(slow)
    _, rules, log = lockstep(X, state, PUBLISHED, max_nodes)
    assert_events(log.events(), rules.events)


@pytest.mark.parametrize("n_models", others_slow([50, 300], now=[50]))
def test_everything_happens_in_what_is_drawn(n_models):
    """Splits and mergers, also of equals, several in one sample, and nodes that come back."""
    seen = Counter()
    for seed in range(60 if PLAIN else n_models):
        rng = np.random.default_rng(seed)
        slow = some_model(rng, 2, PUBLISHED)
        X = slow.prototype[rng.integers(len(slow.usage))] + rng.normal(size=(12, 2))
        _, rules, _ = lockstep(X, restored(slow), PUBLISHED, 6 if seed % 2 else 2**62)
        seen.update(event.kind for event in rules.events)
        seen["tie"] += any(len(set(event.sizes)) < len(event.sizes) for event in rules.events)
        seen["at once"] += len(rules.events) > len({event.sample for event in rules.events})
    expected = ["gone", "split", "merged", "born", "at once"] + ["tie"] * (not PLAIN)
    assert all(seen[name] for name in expected), seen


# ---- However the stream is cut, stopped or copied ----


def history(model):
    """All that is known about ids, to the bit."""
    return model.events(), model.node_labels_.tolist(), model._learner.scalar("next_cluster")


def cut_in(X, rng):
    """The stream in batches of random sizes."""
    ends = np.sort(rng.integers(1, len(X), rng.integers(1, 8)))
    return [batch for batch in np.split(X, ends) if len(batch)]


@given(
    texture=st.sampled_from(TEXTURES),
    seed=st.integers(0, 2**32),
    n=st.integers(2, LONGEST),
    max_nodes=st.sampled_from([None, 3, 5, 12]),
)
def test_batches_do_not_matter(texture, seed, n, max_nodes):
    rng = np.random.default_rng(seed)
    X = texture(rng, n, 2)
    whole, cut = IDAT(max_nodes=max_nodes).partial_fit(X), IDAT(max_nodes=max_nodes)
    for batch in cut_in(X, rng):
        cut.partial_fit(batch)
    assert history(cut) == history(whole)


def through_pickle(model, _):
    return pickle.loads(pickle.dumps(model))


def through_a_file(model, folder):
    model.save(folder / "model.everclust")
    return everclust.load(folder / "model.everclust")


def copied(model, _):
    return model.copy()


def deep_copied(model, _):
    return copy.deepcopy(model)


@pytest.mark.parametrize("n_streams", others_slow([12, 80], now=[12]))
@pytest.mark.parametrize("again", [through_pickle, through_a_file, copied, deep_copied])
def test_stopping_does_not_matter(again, n_streams, tmp_path):
    """Not even to the order in which equals are named, or to the last bit of a centre."""
    for seed in range(n_streams):
        rng = np.random.default_rng(seed)
        X = np.round(2 * (tasks if seed % 2 else blobs)(rng, 200, 2)) / 2
        max_nodes = 12 if seed % 3 == 0 else None
        whole, stopped = IDAT(max_nodes=max_nodes).partial_fit(X), IDAT(max_nodes=max_nodes)
        for batch in cut_in(X, rng):
            stopped = again(stopped.partial_fit(batch), tmp_path)
            assert history(stopped) == history(again(stopped, tmp_path))
        assert history(stopped) == history(whole)
        assert stopped.max_nodes == max_nodes
        whole.save(tmp_path / "whole")
        stopped.save(tmp_path / "stopped")
        assert (tmp_path / "whole").read_bytes() == (tmp_path / "stopped").read_bytes()


@given(seed=st.integers(0, 2**32), d=st.integers(1, 3))
def test_stopping_in_any_model_does_not_matter(seed, d):
    rng = np.random.default_rng(seed)
    slow = some_model(rng, d, PUBLISHED)
    X = slow.prototype[rng.integers(len(slow.usage))] + rng.normal(size=(12, d))
    whole, stopped = restored(slow), restored(slow)
    logs = EventLog(), EventLog()
    for i in range(len(X)):
        whole, stopped = learn(whole, X[i : i + 1]), learn(stopped, X[i : i + 1])
        for state, log in zip((whole, stopped), logs, strict=True):
            read_records(state, log)
        same_parts(export(whole), export(stopped))
        stopped = restore(*export(stopped))
    assert logs[0].events() == logs[1].events()


# ---- What an id is worth ----


@pytest.mark.parametrize("texture", others_slow([blobs, tasks, outliers], now=[outliers]))
@pytest.mark.parametrize("max_nodes", [None, 15])
def test_ids_are_never_used_again(texture, max_nodes):
    """One event creates an id, one ends it, and after that it is never seen again."""
    X = texture(np.random.default_rng(3), 150 if PLAIN else 600, 2)
    model, living, ended, n_events = IDAT(max_nodes=max_nodes), set(), set(), 0
    for x in X:
        model.learn_one(x)
        events = model.events(since=model.n_samples_seen_ - 1)
        n_events += len(events)
        for event in events:
            new = set(event.after) - set(event.before)
            over = set(event.before) - set(event.after)
            assert not new & (living | ended)
            living |= new
            living -= over
            ended |= over
        labels = model.node_labels_[model.active_]
        assert set(labels.tolist()) == living
        assert not ended & set(labels.tolist())
    assert ended
    assert n_events == len(model.events())


def test_events_since_a_sample():
    model = IDAT().partial_fit(DIGITS[:600])
    events = model.events()
    assert [event.sample for event in events] == sorted(event.sample for event in events)
    middle = events[len(events) // 2].sample
    assert model.events(since=middle) == [event for event in events if event.sample > middle]
    assert model.events(since=600) == []
    assert IDAT().partial_fit(IRIS[:3]).events() == []


def test_sizes_and_centres_are_those_of_the_moment():
    model = IDAT()
    for x in IRIS[:60]:
        model.learn_one(x)
        for event in model.events(since=model.n_samples_seen_ - 1):
            if event.kind == "born":
                (c,) = event.after
                members = model.node_labels_ == c
                assert event.sizes == (model.snapshot().wins[members].sum(),)
                expected = np.average(
                    model.prototypes_[members], axis=0, weights=model.snapshot().wins[members]
                )
                np.testing.assert_allclose(event.centre, expected, rtol=1e-12)


def test_what_is_remembered_is_bounded_whatever_the_batches(monkeypatch):
    monkeypatch.setattr(everclust.model.ids.event_log, "MOST_RECORDS", 20)
    X = outliers(np.random.default_rng(5), 200 if PLAIN else 2000, 2)
    whole, cut, asked = IDAT().partial_fit(X), IDAT(), IDAT()
    for start in range(0, len(X), 7):
        cut.partial_fit(X[start : start + 7])
        asked.partial_fit(X[start : start + 7]).events()
    assert whole.events() == cut.events() == asked.events()
    n_records = len(whole._learner.export()[1]["event"])
    assert 20 <= n_records < 40
    assert len(cut._learner.ids.log._chunks) == 1
    monkeypatch.undo()
    everything = IDAT().partial_fit(X).events()
    assert len(everything) > len(whole.events())
    assert everything[-len(whole.events()) :] == whole.events()


def test_memory_stays_bounded_without_a_call_of_events(monkeypatch):
    monkeypatch.setattr(everclust.model.ids.event_log, "MOST_RECORDS", 20)
    model = IDAT()
    for x in outliers(np.random.default_rng(5), 200 if PLAIN else 2000, 2):
        model.learn_one(x)
        log = model._learner.ids.log
        n_records = sum(len(records) for records, _ in log._chunks)
        assert n_records < 80
        assert n_records == log._n_records  # a running sum: nothing is counted anew at every event


# ---- While no node is active, and again ----


def test_while_no_node_is_active_there_is_one_provisional_cluster():
    model = IDAT().partial_fit(IRIS[:5])
    assert model.n_active_nodes_ == 0
    assert model.n_clusters_ == 1
    assert set(model.node_labels_.tolist()) == {-1}
    assert set(model.predict(IRIS).tolist()) == {-1}
    fitted = IDAT().fit(IRIS[:5])
    assert fitted.n_active_nodes_ == 0
    assert fitted.labels_.tolist() == [0] * 5
    assert fitted.n_clusters_ == 1
    assert set(fitted.node_labels_.tolist()) == {0}
    # The id of the provisional cluster is taken: those that come after it have others.
    fitted.partial_fit(IRIS[5:])
    assert fitted.n_active_nodes_ > 0
    assert 0 not in fitted.node_labels_
    assert fitted.events()[0].after == (1,)


@pytest.mark.slow  # compiles two rules by themselves
def test_a_node_that_comes_back_starts_a_new_cluster(model, compiled):
    """Its cluster was gone, and what is gone stays gone."""
    state = model([[0], [1], [9]], usage=[5, 5, 5], active=[1, 0, 0], cluster=[3, -1, -1], next_cluster=7)
    rules, log = Identities(ids_by_birth(state)), EventLog()
    assert rules.id_of == {0: 3}
    rules.next_id, rules.nodes = 7, nodes_of(state)
    state.node["active"][0] = False
    scalars_of(state).n_active -= 1
    scalars_of(state).n_changed = everclust.core.layout.ALL_CHANGED
    compiled(everclust.core.cluster_ids.update_ids)(state)
    compiled(everclust.core.topology.activate)(state, 0)
    compiled(everclust.core.cluster_ids.update_ids)(state)
    read_records(state, log)
    assert [event.kind for event in log.events()] == ["gone", "born"]
    assert ids_by_birth(state) == {0: 7}


# ---- fit numbers from 0 ----


def test_fit_and_partial_fit_differ_in_ids_only():
    fitted, streamed = IDAT().fit(DIGITS), IDAT().partial_fit(DIGITS)
    ours, theirs = fitted.node_labels_, streamed.node_labels_
    assert np.array_equal(ours == -1, theirs == -1)
    pairs = set(zip(ours.tolist(), theirs.tolist(), strict=True)) - {(-1, -1)}
    rename = {their: our for our, their in pairs}
    assert len(pairs) == len(rename) == fitted.n_clusters_ == streamed.n_clusters_
    assert sorted(our for our, _ in pairs) == list(range(fitted.n_clusters_))
    # Those that have ended follow, in the order of their ids.
    ended = sorted(set(range(streamed._learner.scalar("next_cluster"))) - set(rename))
    rename |= {c: fitted.n_clusters_ + i for i, c in enumerate(ended)}
    expected = [
        event._replace(
            before=tuple(rename[c] for c in event.before), after=tuple(rename[c] for c in event.after)
        )
        for event in streamed.events()
    ]
    key = lambda event: (event.sample, event.kind, event.sizes, event.centre)  # noqa: E731
    for event, other in zip(sorted(fitted.events(), key=key), sorted(expected, key=key), strict=True):
        assert (event.sample, event.kind, event.centre) == (other.sample, other.kind, other.centre)
        assert sorted(event.before) == sorted(other.before)
        assert sorted(event.after) == sorted(other.after)
    assert fitted._learner.scalar("next_cluster") == streamed._learner.scalar("next_cluster")


def test_partial_fit_goes_on_with_the_numbers_of_fit():
    model = IDAT().fit(DIGITS)
    known = set(range(model._learner.scalar("next_cluster")))
    model.partial_fit(DIGITS[::-1])
    for event in model.events(since=len(DIGITS)):
        new = set(event.after) - set(event.before)
        assert not new & known
        known |= new
    assert set(model.node_labels_.tolist()) - {-1} <= known


def test_keeper_of_an_event_comes_first():
    for event in IDAT().fit(DIGITS).events():
        if event.kind == "split":
            assert event.after[0] == event.before[0]
            assert event.sizes[0] == max(event.sizes)
        if event.kind == "merged":
            assert event.before[0] == event.after[0]
            assert event.sizes[0] == max(event.sizes)


# ---- Listeners ----


def test_listeners_are_notified_in_order():
    heard, also = [], []
    model = IDAT().on_event(heard.append).on_event(lambda event: also.append((len(heard), event)))
    for start in range(0, 400, 50):
        model.partial_fit(DIGITS[start : start + 50])
        assert heard == model.events()
    assert heard
    # Every listener gets every event, the one that was added first first.
    assert also == [(i + 1, event) for i, event in enumerate(heard)]


def test_listeners_hear_of_a_fit_at_its_end():
    heard = []
    model = IDAT().on_event(heard.append).fit(DIGITS[:400])
    assert heard == model.events()
    heard.clear()
    model.learn_one(DIGITS[400])
    assert heard == model.events(since=400)


def test_listeners_stay_with_their_model(tmp_path):
    heard = []
    model = IDAT().on_event(heard.append).partial_fit(DIGITS[:300])
    n_heard = len(heard)
    for twin in (through_pickle(model, None), through_a_file(model, tmp_path), model.copy(), clone(model)):
        twin.partial_fit(DIGITS)
    assert len(heard) == n_heard


def test_a_listener_may_ask_the_model():
    """Nothing is locked while listeners are notified."""
    labels = []
    model = IDAT()
    model.on_event(lambda event: labels.append(model.predict(DIGITS[:1])[0]))
    model.partial_fit(DIGITS[:200])
    assert len(labels) == len(model.events())


def test_a_listener_may_start_another_model():
    """Also during the first batch, which starts its own."""
    other, model = IDAT(), IDAT()
    model.on_event(lambda event: other.partial_fit(DIGITS[:5]))
    learning = threading.Thread(target=model.partial_fit, args=(DIGITS[:200],), daemon=True)
    learning.start()
    learning.join(timeout=60)
    assert not learning.is_alive()
    assert other.n_samples_seen_ == 5 * len(model.events())


# ---- Records of one event ----


def test_a_cluster_may_be_split_twice_by_one_sample():
    """Once by maintenance and once because a node is evicted: two events, one after the other."""
    records, log = np.zeros(4, everclust.core.state.EVENT), EventLog()
    for row, (part, size, centre) in enumerate([(5, 9, 0), (101, 2, 0), (5, 6, 1), (102, 3, 1)]):
        records[row] = (70, everclust.core.cluster_ids.SPLIT, 5, part, size, centre)
    log.add(records, np.array([[1.0], [2.0]]))
    assert [event[2:] for event in log.events()] == [
        ((5,), (5, 101), (9, 2), (1.0,)),
        ((5,), (5, 102), (6, 3), (2.0,)),
    ]
