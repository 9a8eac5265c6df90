"""When ids of hand-over clusters are updated."""

from everclust.model.schedule import check_interval, earliest_update, is_answer, planned_update


def updates(n_seen, limit):
    found = []
    while (n_seen := planned_update(n_seen)) <= limit:
        found.append(n_seen)
    return found


def test_updates_of_a_stream():
    assert updates(0, 50) == [8, 10, 12, 15, 18, 22, 27, 33, 41]
    assert updates(999, 7000) == [1000, 2000, 3000, 4000, 5000, 6250]
    assert updates(90_000, 150_000) == [90_931, 110_931, 130_931]


def test_updates_are_planned_from_any_sample():
    assert [planned_update(n) for n in (1001, 1999, 2000, 5100, 6249)] == [2000, 2000, 3000, 6250, 6250]


def test_answers_that_later_ones_are_held_to():
    assert [n for n in range(10_000) if is_answer(n)] == [1000, 2000, 3000, 4000, 5000, 6250, 7812, 9765]


def test_looks_at_changes_are_not_too_close():
    assert [earliest_update(n) - n for n in (8, 1600, 10_000, 10**6)] == [1000, 1000, 1250, 2000]


def test_looks_at_many_nodes_are_rarer():
    assert [check_interval(n) for n in (3, 499, 500, 999, 1000, 10**6)] == [128, 128, 256, 256, 512, 512]
