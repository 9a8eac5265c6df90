"""Whether the samples of a cluster lie elsewhere than before, and which events say so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import everclust
from everclust import Event, EverClust
from everclust.core.communities.homogeneity import Past
from everclust.core.communities.linked_nodes import Base
from everclust.model.ids.schedule import is_answer
from everclust.model.ids.shifts import (
    NO_PAST,
    Shift,
    Shifts,
    compare,
    fewest_wins,
    is_unlikely,
    noted,
    updated,
)
from oracles import shifts as oracle

NO_LINKS = np.empty((0, 3), np.int64)


def base_of(births, wins, links=NO_LINKS):
    births, wins = np.array(births), np.array(wins)
    nodes = np.arange(len(births))
    return Base(nodes, births, wins, nodes, np.zeros((len(births), 1)), np.array(links).reshape(-1, 3))


# ---- Worked out by hand ----


def test_newcomers_need_more_samples_where_these_vary_more():
    assert fewest_wins({}) == 16
    assert fewest_wins({0: Shift(False, 400), 1: Shift(True, 900)}) == 16  # never fewer
    assert fewest_wins({0: Shift(False, 400), 1: Shift(True, 1501), 2: Shift(False, 9000)}) == 32
    assert fewest_wins({0: Shift(False, 400), 1: Shift(True, 1499), 2: Shift(False, 9000)}) == 16


def test_the_past_has_the_latest_two_answers():
    first = noted(NO_PAST, np.array([0, 2]), np.array([5, 7]))
    assert [column.tolist() for column in first] == [[0, 2], [-1, -1], [5, 7]]
    second = noted(first, np.array([0, 2, 3]), np.array([6, 9, 4]))
    assert [column.tolist() for column in second] == [[0, 2, 3], [5, 7, -1], [6, 9, 4]]
    assert noted(second, np.array([0, 2, 3]), np.array([6, 9, 4])) is second


def test_where_samples_have_moved_from_one_half_to_the_other():
    past = Past(np.arange(4), np.array([100, 100, 50, 50]), np.array([200, 200, 80, 80]))
    found = compare(past, base_of(range(4), [300, 200, 110, 110]), np.array([4, 4, 7, 7]))
    assert found == {4: (pytest.approx(75.0), 1), 7: (0.0, 1)}
    assert is_unlikely(*found[4], dispersion=1000)
    assert not is_unlikely(*found[4], dispersion=5000)
    assert not is_unlikely(*found[7], dispersion=0)


def test_there_is_nothing_to_compare_without_two_answers_or_cells():
    assert compare(NO_PAST, base_of([0, 1], [9, 9]), np.array([4, 4])) == {}
    past = Past(np.arange(2), np.array([-1, -1]), np.array([4, 4]))
    assert compare(past, base_of([0, 1], [9, 9]), np.array([4, 4])) == {}
    past = Past(np.arange(2), np.array([50, 50]), np.array([100, 100]))
    assert compare(past, base_of([0, 1], [100, 100]), np.array([4, 4])) == {}  # nothing came since
    assert compare(past, base_of([0, 1], [150, 150]), np.array([-1, -1])) == {}


def test_the_first_comparison_shows_how_much_samples_vary():
    found = {4: (300.0, 10), 7: (300.0, 10), 8: (300.0, 10)}
    shifts = {7: Shift(False, 900), 8: Shift(True, 15_000)}
    assert updated(shifts, found, is_answer=False) == {7: Shift(True, 900), 8: Shift(True, 15_000)}
    assert updated(shifts, found, is_answer=True) == {
        4: Shift(False, 30_000),
        7: Shift(True, 30_000),
        8: Shift(True, 30_000),
    }


# ---- Held against SciPy and an oracle ----


@pytest.mark.parametrize("freedom", [1, 2, 5, 20, 100, 1000])
def test_the_chance_is_one_in_a_million_or_a_little_less(freedom):
    assert not is_unlikely(chi2.isf(1.1e-6, freedom), freedom, 0)
    assert is_unlikely(chi2.isf(1e-7, freedom) if freedom > 1 else chi2.isf(1e-8, 1), freedom, 0)


def draw_nodes(rng, n, before):
    """Nodes of two clusters, and of none, which have won more than before."""
    births = np.arange(n)
    reported = rng.integers(-1, 2, n)
    wins = {k: before.get(k, 0) + int(rng.integers(0, 40)) for k in births.tolist()}
    links = {(a, b): int(rng.integers(1, 9)) for a in range(n) for b in range(a) if rng.random() < 0.2}
    return births, reported, wins, {(b, a): count for (a, b), count in links.items()}


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_shifts_are_those_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    expected, shifts, wins, n = oracle.Shifts(), Shifts(), {}, 3
    for _ in range(6):
        n += int(rng.integers(0, 4))
        births, reported, wins, handovers = draw_nodes(rng, n, wins)
        won = np.array(list(wins.values()))
        links = [(a, b, count) for (a, b), count in handovers.items()]
        is_last = bool(rng.integers(2))
        ids = {c for c in reported.tolist() if c >= 0}
        shifts.update(base_of(births, won, links), None, reported, ids, 2000 if is_last else 2001)
        clusters = {k: None if c < 0 else c for k, c in zip(births.tolist(), reported.tolist(), strict=True)}
        expected.update(oracle.Nodes(wins, clusters, handovers), is_last, set())
        assert shifts.shifted() == expected.shifted
        assert {c: shift.dispersion for c, shift in shifts.by_id.items()} == expected.dispersion


def test_shifts_along_a_stream_are_those_of_the_oracle(monkeypatch):
    """Every update of a stream in which two clusters grow together."""
    expected, reported_now = oracle.Shifts(), set()
    update, forget = Shifts.update, Shifts.forget

    def forgotten(self, c):
        reported_now.add(c)
        forget(self, c)

    def checked(self, base, is_divided, reported, known, n_seen):
        update(self, base, is_divided, reported, known, n_seen)
        births = base.births.tolist()
        reported = [None if c < 0 else c for c in reported.tolist()]
        pairs = {(births[a], births[b]): count for a, b, count in base.links.tolist()}
        handovers = {(min(pair), max(pair)): count for pair, count in pairs.items()}
        wins = dict(zip(births, base.wins.tolist(), strict=True))
        nodes = oracle.Nodes(wins, dict(zip(births, reported, strict=True)), handovers)
        expected.update(nodes, is_answer(n_seen), set(reported_now))
        reported_now.clear()
        assert self.shifted() == expected.shifted
        assert {c: shift.dispersion for c, shift in self.by_id.items()} == expected.dispersion

    monkeypatch.setattr(Shifts, "update", checked)
    monkeypatch.setattr(Shifts, "forget", forgotten)
    model = EverClust().partial_fit(merging())
    assert len(expected.answers) > 5
    assert "merged" in [event.kind for event in model.events()]


# ---- What comes of it ----


def merging(n=18_000, since=6000, seed=0):
    """Four clusters; from a sample on, the first two share all that lies between them."""
    rng = np.random.default_rng(seed)
    centre = np.array([[0, 0, 0], [7, 0, 0], [0, 16, 0], [0, 0, 16.0]])
    label = rng.integers(4, size=n)
    rows = centre[label] + rng.normal(size=(n, 3))
    long = (np.arange(n) >= since) & (label < 2)
    rows[long, 0] = 7 * rng.random(long.sum()) + rng.normal(size=long.sum())
    return rows


def test_a_merger_is_news_where_samples_have_shifted():
    model = EverClust().partial_fit(merging())
    (event,) = model.events(since=6000)
    assert event.kind == "merged"
    assert event.sample - 6000 < 6000  # half of the stream would be more
    assert model._learner.ids.shifts.shifted() == set()


SETTLED = 3000  # samples of `many`


def many(n=12_000, seed=0):
    """Thirty clusters at rest, of which the read-out learns more and more."""
    rng = np.random.default_rng(seed)
    centre = 5 * np.array([[i, j] for i in range(6) for j in range(5)], float)
    return centre[rng.integers(30, size=n)] + rng.normal(size=(n, 2)) * 0.7


def test_clusters_at_rest_are_revised_and_nothing_else_is_told():
    """Once each has nodes of its own: until then some may be told as born."""
    model = EverClust().partial_fit(many())
    late = model.events(since=SETTLED)
    assert late
    assert {event.kind for event in late} == {"revised"}


def test_revisions_in_words():
    parted = Event(70, "revised", (5,), (5, 101), (30, 12), (0.5, 0.1))
    assert parted.text == "5 revised into 5 and 101 (30 and 12 samples)"
    joined = Event(70, "revised", (5, 7), (5,), (30, 12), (0.5, 0.1))
    assert joined.text == "5 and 7 revised into 5 (30 and 12 samples)"


def test_revisions_are_kept_with_the_clusters_before_and_after():
    events = EverClust().partial_fit(many()).events(since=SETTLED)
    assert events
    for event in events:
        assert len(event.sizes) == max(len(event.before), len(event.after)) > 1
        assert min(len(event.before), len(event.after)) == 1
        assert (event.before + event.after).count(event.before[0]) == 2


def test_shifts_go_with_their_ids_and_a_told_one_is_forgotten():
    shifts = Shifts()
    shifts.by_id = {4: Shift(True, 1000), 7: Shift(False, 900)}
    for c in (4, 7, 9):
        shifts.forget(c)
    assert shifts.by_id == {7: Shift(False, 900)}


def test_stopping_in_the_middle_of_a_shift_does_not_matter(tmp_path):
    rows = merging()
    whole = EverClust().partial_fit(rows)
    for cut in (7000, 8500):
        model = EverClust().partial_fit(rows[:cut])
        model.save(tmp_path / "model")
        again = everclust.load(tmp_path / "model").partial_fit(rows[cut:])
        assert again.events() == whole.events()
        assert again._learner.ids.shifts.by_id == whole._learner.ids.shifts.by_id
