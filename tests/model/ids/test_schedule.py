"""When ids of hand-over clusters are updated."""

from everclust.model.ids.schedule import is_answer, next_update, planned_update


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


def test_looks_at_changes_that_wait():
    assert next_update(10_000, None) == 12_206
    assert next_update(30_000, 34_000) == 34_000
    # Not closer than those at a change that was found now, which lasts for half of the stream ...
    assert next_update(24_000, 24_001) == 27_000
    assert [next_update(90_932, 90_933), next_update(2_090_932, 2_090_933)] == [95_932, 2_095_932]
    # ... nor shortly before a planned update: 9,765 is less than half of that time after 9,351.
    assert [next_update(8_200, 8_201), next_update(8_312, 8_313)] == [9_225, 9_765]
    assert next_update(1000, 1001) == 2000
