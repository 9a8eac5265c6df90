"""Permanent ids of hand-over clusters: matched by overlap of samples, reported when they last."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, make_blobs

import everclust
from everclust import IDAT, EverClust
from everclust.core.cluster_ids import BORN, GONE, MERGED, SPLIT
from everclust.core.handovers import births_of, handovers
from everclust.model.ids.communities import Community, changes, match_ids, match_members
from everclust.model.ids.community_ids import CommunityIds
from everclust.model.ids.event_log import EventLog, as_records
from everclust.model.ids.waiting import Waiting
from oracles import valleys as valley_oracle

IRIS = load_iris().data
DIGITS = load_digits().data


def inherited(old, group, usage, next_id=10):
    return match_ids(np.array(old), np.array(group), np.array(usage), next_id)


def communities(**sizes):
    return {int(name[1:]): Community(size, np.array([float(size)]), 0) for name, size in sizes.items()}


def diff(matching, before, after):
    return [(kind, c, part, size) for kind, c, part, size, _ in changes(matching, before, after)]


# ---- Which group inherits which id, worked out by hand ----


def test_the_first_ids():
    found = inherited([-1, -1, -1], [0, 1, 0], [2, 3, 4], next_id=0)
    assert found.group_ids.tolist() == [0, 1]
    assert found.next_id == 2
    after = communities(c0=6, c1=3)
    assert diff(found, {}, after) == [(BORN, 0, 0, 6), (BORN, 1, 1, 3)]


def test_nothing_changes():
    found = inherited([4, 7, 4], [1, 0, 1], [2, 3, 4])
    assert found.group_ids.tolist() == [7, 4]
    assert found.next_id == 10
    before = communities(c4=6, c7=3)
    assert diff(found, before, before) == []


def test_new_nodes_go_along():
    found = inherited([4, -1, 7, -1], [0, 0, 1, 1], [2, 90, 3, 1])
    assert found.group_ids.tolist() == [4, 7]


def test_split():
    # Cluster 4 of nodes with 5, 2 and 1: the group with 5 keeps the id, the one with 3 is new.
    found = inherited([4, 4, 4], [1, 0, 0], [5, 2, 1])
    assert found.group_ids.tolist() == [10, 4]
    assert diff(found, communities(c4=8), communities(c4=5, c10=3)) == [
        (SPLIT, 4, 4, 5),
        (SPLIT, 4, 10, 3),
    ]


def test_a_split_of_equals_leaves_the_id_with_the_lower_group():
    assert inherited([4, 4], [0, 1], [3, 3]).group_ids.tolist() == [4, 10]


def test_what_was_shared_decides_and_not_what_is_new():
    # Group 0 has 3 of cluster 4 and 90 of no cluster; group 1 has 5 of cluster 4.
    assert inherited([4, -1, 4], [0, 0, 1], [3, 90, 5]).group_ids.tolist() == [10, 4]


def test_a_newcomer_with_a_node_of_its_neighbour_is_no_split():
    # Of the 20 samples of group 1, nodes that were in cluster 4 won 9: it is born; with 10 it is a split.
    for of_neighbour, reported in ((9, [(BORN, 10, 10, 20)]), (10, [(SPLIT, 4, 4, 50), (SPLIT, 4, 10, 10)])):
        found = inherited([4, 4, -1], [0, 1, 1], [50, of_neighbour, 20 - of_neighbour])
        assert diff(found, communities(c4=60), communities(c4=50, c10=20)) == reported


def test_a_cluster_whose_nodes_are_nearly_all_new_keeps_its_id():
    found = inherited([4, -1], [0, 0], [1, 99])
    assert found.group_ids.tolist() == [4]
    assert diff(found, communities(c4=90), communities(c4=100)) == []


def test_merged():
    found = inherited([4, 7, 7], [0, 0, 0], [5, 2, 1])
    assert found.group_ids.tolist() == [4]
    assert diff(found, communities(c4=5, c7=3), communities(c4=8)) == [
        (MERGED, 4, 4, 5),
        (MERGED, 4, 7, 3),
    ]
    found = inherited([4, 7, 7], [0, 0, 0], [2, 2, 1])
    assert found.group_ids.tolist() == [7]


def test_a_merger_of_equals_leaves_the_lower_id():
    assert inherited([7, 4], [0, 0], [3, 3]).group_ids.tolist() == [4]


def test_gone():
    # No node of the base was in cluster 9: its nodes are evicted.
    found = inherited([4, 4], [0, 0], [5, 2])
    before = communities(c4=7, c9=3)
    assert diff(found, before, communities(c4=7)) == [(GONE, 9, 9, 3)]


def test_a_part_that_merges_with_another():
    # 4 comes apart in {0} and {1}. The second holds all of 7 too, but more of 4: it is new and takes 7 in.
    found = inherited([4, 4, 7], [0, 1, 1], [9, 5, 3])
    assert found.group_ids.tolist() == [4, 10]
    after = communities(c4=9, c10=8)
    assert diff(found, communities(c4=14, c7=3), after) == [
        (SPLIT, 4, 4, 9),
        (SPLIT, 4, 10, 5),
        (MERGED, 10, 10, 5),
        (MERGED, 10, 7, 3),
    ]


def test_all_at_once_in_order():
    # 1 is gone, 2 is split, 3 and 4 merge, and a group of new nodes is born.
    found = inherited([2, 2, 3, 4, -1], [0, 1, 2, 2, 3], [5, 3, 4, 2, 6])
    before = communities(c1=2, c2=8, c3=4, c4=2)
    after = communities(c2=5, c10=3, c3=6, c11=6)
    assert found.group_ids.tolist() == [2, 10, 3, 11]
    assert [change[0] for change in diff(found, before, after)] == [
        GONE,
        SPLIT,
        SPLIT,
        MERGED,
        MERGED,
        BORN,
    ]
    log = EventLog()
    log.add(*as_records(list(changes(found, before, after)), 3000))
    events = log.events()
    assert list(map(str, events)) == [
        "sample 3,000: 1 is gone (2 samples)",
        "sample 3,000: 2 split into 2 and 10 (5 and 3 samples)",
        "sample 3,000: 3 and 4 merged into 3 (4 and 2 samples)",
        "sample 3,000: 11 is born (6 samples)",
    ]
    assert [event.sizes for event in events] == [(2,), (5, 3), (4, 2), (6,)]
    assert [event.centre for event in events] == [(2.0,), (5.0,), (6.0,), (6.0,)]


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 4), st.integers(1, 9)), min_size=1, max_size=20))
def test_no_id_is_given_twice(nodes):
    old, group, usage = map(np.array, zip(*nodes, strict=True))
    group = np.unique(group, return_inverse=True)[1]
    found = match_ids(old, group, usage, 5)
    ids = found.group_ids.tolist()
    assert len(set(ids)) == len(ids) == group.max() + 1
    fresh = [c for c in ids if c >= 5]
    assert sorted(fresh) == list(range(5, found.next_id))
    assert {c for c in ids if c < 5} <= set(old.tolist()) - {-1}
    for r, c in enumerate(ids):
        shared = {i: usage[(group == r) & (old == i)].sum() for i in set(old.tolist()) - {-1}}
        if c < 5:  # it keeps the id of the cluster with which it shares the most
            assert shared[c] == max(shared.values())
            assert shared[c] > 0


def test_communities_as_arrays():
    ids, again = CommunityIds(), CommunityIds()
    ids.communities = communities(c4=6, c7=3)
    again.restore(ids.export(1))
    assert list(again.communities) == [4, 7]
    for c, community in ids.communities.items():
        assert again.communities[c]._replace(centre=None) == community._replace(centre=None)
        assert again.communities[c].centre.tolist() == community.centre.tolist()
    assert CommunityIds().export(3)["community_centre"].shape == (0, 3)


# ---- Updates ----


def stream(n=4200):
    """Blobs that appear one after the other."""
    rng = np.random.default_rng(4)
    centre = 8 * rng.normal(size=(6, 2))
    latest = np.arange(n) * 6 // n
    return centre[rng.integers(0, latest + 1)] + 0.5 * rng.normal(size=(n, 2))


X = stream()


def planted(n=12_000, begins=4000, fades=16_000, seed=0):
    """Five Gaussians in 8 dimensions; a sixth has a tenth of the samples for a while."""
    rng = np.random.default_rng(seed)
    centre = 12 * np.eye(8)[:6]
    label = rng.integers(5, size=n)
    t = np.arange(n)
    label[(t >= begins) & (t < fades) & (rng.random(n) < 0.1)] = 5
    return centre[label] + rng.normal(size=(n, 8)), centre


def test_a_newcomer_is_told_within_300_samples_in_the_median():
    delays = []
    for seed in range(5):
        rows, centre = planted(seed=seed)
        events = EverClust().partial_fit(rows).events()
        assert [event.kind for event in events] == 6 * ["born"]
        assert all(event.sample <= 1000 for event in events[:5])
        assert np.linalg.norm(np.array(events[5].centre) - centre[5]) < 1
        delays.append(events[5].sample - 4000)
    assert np.median(delays) <= 300
    assert min(delays) > 0


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n_features", [1, 2, 3, 8])
def test_a_cluster_that_begins_shortly_before_an_update_is_born(n_features, seed):
    """Its first nodes are put into another cluster at sample 6,250, before it is clear that they are new."""
    rng = np.random.default_rng(seed)
    centres = 10.0 * np.column_stack([rng.permutation(6) for _ in range(n_features)])
    label = np.where(rng.random(12_000) < 0.1, 5, rng.integers(5, size=12_000))
    label[:6000] = rng.integers(5, size=6000)
    model = EverClust().partial_fit(centres[label] + rng.normal(size=(12_000, n_features)))
    event = next(event for event in model.events() if event.sample > 6000)
    assert event.kind == "born"
    assert event.sample <= 6000 + 1000
    assert np.linalg.norm(event.centre - centres, axis=1).argmin() == 5


def test_a_newcomer_is_shown_when_it_is_told():
    rows, centre = planted()
    model = EverClust().partial_fit(rows[:4500])
    assert model.n_clusters_ == 6
    assert len(set(model.predict(centre).tolist())) == 6
    assert model.predict(centre[5:]).tolist() == list(model.events()[-1].after)


def test_a_cluster_falls_quiet_and_comes_back():
    rows, centre = planted(n=30_000, begins=4000, fades=16_000, seed=1)
    back, _ = planted(n=5000, begins=0, fades=5000, seed=2)
    model = EverClust().partial_fit(rows)
    newcomer, quiet = model.events()[-2:]
    assert (newcomer.kind, quiet.kind) == ("born", "quiet")
    assert quiet.before == quiet.after == newcomer.after
    assert 0 < quiet.sample - 16_000 < 4000
    assert str(quiet).endswith(f"is quiet ({quiet.sizes[0]:,} samples)")
    (event,) = model.partial_fit(back).events(since=30_000)
    assert (event.kind, event.after) == ("back", newcomer.after)
    assert event.sample <= 30_000 + 2048
    assert len(set(model.predict(centre).tolist())) == 6


def test_one_cloud_is_one_birth():
    """The read-out cuts a short stream in pieces; they do not last and are not reported."""
    rows = np.random.default_rng(0).normal(size=(6000, 2))
    assert [event.kind for event in EverClust().partial_fit(rows).events()] == ["born"]


def test_short_streams_have_events_and_lasting_ids():
    rows = make_blobs(333, 4, centers=3, random_state=1)[0]
    model = EverClust().partial_fit(rows[:100])
    before = model.predict(rows)
    model.partial_fit(rows[100:])
    assert [event.kind for event in model.events()] == 3 * ["born"]
    assert sorted(c for event in model.events() for c in event.after) == model.cluster_ids_.tolist()
    assert np.mean(model.predict(rows) == before) > 0.99


def test_a_change_that_does_not_last_is_not_told_and_makes_its_cluster_patient():
    ids, wins = CommunityIds(), np.array([90, 60])
    ids.communities = communities(c4=150)
    reported = np.array([4, 4])

    def found(group):
        return match_ids(reported, np.array(group), wins, 10)

    ids._follow(found([0, 1]), 8000, at_once=False)
    assert ids.waiting == {(SPLIT, 10): Waiting(4, 8000, 4000)}
    ids._follow(found([0, 1]), 8500, at_once=False)
    assert ids.waiting == {(SPLIT, 10): Waiting(4, 8000, 4000)}
    ids._follow(found([0, 0]), 9000, at_once=False)
    assert ids.waiting == {}
    assert ids.communities[4].wait == 8000
    ids._follow(found([0, 1]), 9100, at_once=False)
    assert ids.waiting == {(SPLIT, 10): Waiting(4, 9100, 8000)}


@pytest.mark.parametrize("size", [1, 7, 999, 1000, 1001, 4000])
def test_batches_do_not_matter(size):
    rows = X[:2100] if size < 10 else X
    whole, cut = EverClust(metric="euclidean").partial_fit(rows), EverClust(metric="euclidean")
    for start in range(0, len(rows), size):
        cut.partial_fit(rows[start : start + size])
    assert cut.events() == whole.events()
    assert np.array_equal(cut.node_labels_, whole.node_labels_)
    assert np.array_equal(cut.predict(X), whole.predict(X))


def test_reading_in_between_updates_nothing():
    quiet, asked = EverClust(metric="euclidean"), EverClust(metric="euclidean")
    for start in range(0, len(X), 150):
        quiet.partial_fit(X[start : start + 150])
        asked.partial_fit(X[start : start + 150])
        asked.predict(X[:20]), asked.events(), asked.n_clusters_
    assert quiet.events() == asked.events()
    assert np.array_equal(quiet.node_labels_, asked.node_labels_)


def test_in_between_the_present_clusters_are_matched_with_the_latest_ids():
    """The ids are those that `match_ids` gives, from those of the nodes at the latest update."""
    model = EverClust(metric="euclidean").partial_fit(X[:3300])
    members = model._learner.ids.members
    now, base = model.snapshot(), np.flatnonzero(model.usage_ > 1)
    group = np.unique(now.group[base], return_inverse=True)[1]
    next_id = model._learner.scalar("next_community")
    births, wins = births_of(model._learner.state)[base], now.wins[base]
    found = match_members(members, births, wins, group, next_id)
    assert np.array_equal(now.node_labels[base], found.group_ids[group])
    assert (now.node_labels[model.usage_ == 1] == -1).all()
    assert len(set(members.reported.tolist()) & set(now.node_labels.tolist())) > 1


def test_learning_is_the_same_in_both_modes_where_clusters_are_few():
    few = X[:300]
    plain, handover = IDAT().partial_fit(few), EverClust(metric="euclidean").partial_fit(few)
    ours, theirs = plain._learner.export(), handover._learner.export()
    skipped = {name for name in theirs[1] if name.startswith(("community", "event"))}
    kept = set(ours[0]) - {"next_community"}
    assert {name: theirs[0][name] for name in kept} == {name: ours[0][name] for name in kept}
    for name in set(ours[1]) - skipped:
        assert np.array_equal(ours[1][name], theirs[1][name]), name


def test_the_nearest_nodes_vote_on_predictions():
    model = EverClust().partial_fit(X)
    base = np.flatnonzero(model.usage_ > 1)
    place = {int(k): n for n, k in enumerate(base)}
    w = {
        (place[i], place[j]): count
        for i, j, count in handovers(model._learner.state).tolist()
        if i in place and j in place
    }
    root, clusters = np.sqrt(model.feature_weights_), model.node_labels_[base].tolist()
    nodes, weights = (model.prototypes_[base] * root).tolist(), valley_oracle.vote_weights(w, clusters)
    expected = [valley_oracle.vote(nodes, clusters, weights, x) for x in (X[:1000] * root).tolist()]
    assert model.predict(X[:1000]).tolist() == expected
    assert model.predict(model.prototypes_[base]).tolist() == clusters
    away = ((X[:1000, None] - model.prototypes_[base]) ** 2 * model.feature_weights_).sum(axis=2)
    nearest = away.argmin(axis=1)
    assert (np.array(clusters)[nearest] != expected).any()  # each alone says something else


def test_fit_updates_ids_at_its_end_and_numbers_from_0():
    model = EverClust(metric="euclidean").fit(X[:2300])
    assert np.array_equal(np.unique(model.labels_), np.arange(model.labels_.max() + 1))
    assert set(model.node_labels_.tolist()) - {-1} == set(range(model.n_clusters_))
    events = model.events()
    assert set(range(model.n_clusters_)) <= {c for event in events for c in event.after}
    assert np.array_equal(model.predict(X[:2300]), model.labels_)
    # It goes on from there.
    known = {c for event in events for c in event.before + event.after}
    model.partial_fit(X[2300:])
    for event in model.events(since=2300):
        new = set(event.after) - set(event.before)
        assert not new & known
        known |= new


def test_ids_are_never_used_again():
    """From update to update, an id that has ended is never seen again."""
    model, living, ended = EverClust(metric="euclidean", max_nodes=40), set(), set()
    for start in range(0, 4000, 1000):
        model.partial_fit(X[start : start + 1000])
        for event in model.events(since=start):
            new, over = set(event.after) - set(event.before), set(event.before) - set(event.after)
            assert not new & (living | ended)
            living = (living | new) - over
            ended |= over
        assert not set(model.node_labels_.tolist()) & ended


def through_pickle(model, _):
    return pickle.loads(pickle.dumps(model))


def through_a_file(model, folder):
    model.save(folder / "model")
    return everclust.load(folder / "model")


def copied(model, _):
    return model.copy()


@pytest.mark.parametrize("again", [through_pickle, through_a_file, copied])
@pytest.mark.parametrize("cut", [500, 1000, 2500])
@pytest.mark.parametrize("max_nodes", [None, 30])
def test_stopping_does_not_matter(again, cut, max_nodes, tmp_path):
    params = {"metric": "capped", "max_nodes": max_nodes}
    whole = EverClust(**params).partial_fit(X)
    stopped = again(EverClust(**params).partial_fit(X[:cut]), tmp_path)
    assert stopped.get_params() == params | {"n_jobs": None}
    stopped.partial_fit(X[cut:])
    assert stopped.events() == whole.events()
    assert np.array_equal(stopped.node_labels_, whole.node_labels_)
    assert np.array_equal(stopped.snapshot().since, whole.snapshot().since)
    whole.save(tmp_path / "whole")
    stopped.save(tmp_path / "stopped")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "stopped").read_bytes()


def test_hand_overs_of_nodes_that_go_are_forgotten():
    model = EverClust(metric="euclidean", max_nodes=10).partial_fit(X)
    _, arrays = model._learner.export()
    assert model.n_nodes_ <= 10
    assert arrays["handover"][:, :2].max() < model.n_nodes_


def test_listeners_are_notified_of_hand_over_clusters():
    heard = []
    model = EverClust(metric="euclidean").on_event(heard.append)
    for start in range(0, len(X), 300):
        model.partial_fit(X[start : start + 300])
    assert heard == model.events() != []


def test_a_mode_that_does_not_exist_is_refused():
    model = EverClust().fit(IRIS)
    with pytest.raises(ValueError, match=r"metric is 'nonsense', but it must be 'capped' or 'euclidean'"):
        EverClust(metric="nonsense").fit(IRIS)
    for params in ({"metric": "nonsense"}, {"max_nodes": 2}, {"max_nodes": 3.5}):
        twin = model.copy().set_params(**params)
        with pytest.raises(ValueError, match="it must be"):
            twin.partial_fit(IRIS)
        assert twin.n_samples_seen_ == 150
        with pytest.raises(ValueError, match="it must be"):
            EverClust(**params).partial_fit(IRIS)


def test_the_metric_cannot_change_on_the_way():
    model = EverClust().fit(IRIS)
    with pytest.raises(ValueError, match=r"cannot change; .*call fit"):
        model.set_params(metric="euclidean").partial_fit(IRIS)
    assert model.set_params(metric="capped").partial_fit(IRIS).n_samples_seen_ == 300
    assert model.set_params(metric="euclidean").fit(IRIS).n_samples_seen_ == 150
