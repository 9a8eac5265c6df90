"""The throttle: every row passes once, in order, at the given speed."""

import threading
import time

import pytest

from everclust.live_page.throttle import Throttle, ThrottledSource
from everclust.stream.batch import Batch

pyarrow = pytest.importorskip("pyarrow", reason="streams are read through pyarrow")


class Numbers:
    """A source of the numbers from 0, whose positions are numbers of rows."""

    named, endless, wants_checkpoint = True, False, False

    def __init__(self, n: int, size: int) -> None:
        self.n, self.size, self.acknowledged, self.closed = n, size, None, False

    def batches(self, position=None):
        for start in range(position or 0, self.n, self.size):
            stop = min(start + self.size, self.n)
            yield Batch(pyarrow.table({"x": range(start, stop)}), lambda n, start=start: start + n)

    def acknowledge(self, position):
        self.acknowledged = position

    def lag(self):
        return {"messages": 7}

    def fraction(self, position):
        return position / self.n

    def close(self):
        self.closed = True


def passed(source, position=None):
    """The rows that come through, each part with the position behind it."""
    for batch in source.batches(position):
        yield batch.table.column("x").to_pylist(), batch.position_after(batch.table.num_rows)


def test_at_full_speed_everything_passes_in_small_parts():
    parts = list(passed(ThrottledSource(Numbers(20_000, 20_000), Throttle())))
    assert [x for rows, _ in parts for x in rows] == list(range(20_000))
    assert all(position == rows[-1] + 1 for rows, position in parts)
    assert len(parts) > 2


def test_parts_become_shorter_when_learning_is_slow():
    sizes = []
    for rows, _ in passed(ThrottledSource(Numbers(1200, 1200), Throttle())):
        sizes.append(len(rows))
        time.sleep(2e-4 * len(rows))
    assert 10 < sizes[-2] < 200  # 125 rows take 25 ms, but a busy machine sleeps longer


def test_a_step_lets_that_many_rows_pass():
    throttle = Throttle()
    throttle.pause(True)
    parts = passed(ThrottledSource(Numbers(100, 10), throttle))
    assert next(parts) == ([], 0)
    throttle.step(3)
    assert next(parts) == ([0, 1, 2], 3)
    assert next(parts) == ([], 3)
    throttle.step(9)  # across the end of a batch
    assert next(parts)[0] == [3, 4, 5, 6, 7, 8, 9]
    assert next(parts)[0] == [10, 11]
    assert next(parts) == ([], 12)
    throttle.pause(False)
    assert [x for rows, _ in parts for x in rows] == list(range(12, 100))


def test_a_step_pauses():
    throttle = Throttle()
    throttle.step(1)
    assert throttle.paused


@pytest.mark.parametrize("speed", [40, 2000])
def test_speed_is_in_rows_a_second(speed):
    started = time.monotonic()
    n = sum(len(rows) for rows, _ in passed(ThrottledSource(Numbers(int(speed * 0.5), 7), Throttle(speed))))
    assert n == int(speed * 0.5)
    assert 0.3 < time.monotonic() - started < 3.0


def test_a_slow_throttle_gives_empty_batches_in_between():
    parts = passed(ThrottledSource(Numbers(5, 5), Throttle(0.01)))
    started = time.monotonic()
    assert next(parts) == ([], 0)
    assert time.monotonic() - started < 1.0


def test_the_speed_can_be_changed_meanwhile():
    throttle = Throttle(0.01)
    parts = passed(ThrottledSource(Numbers(5, 5), throttle))
    next(parts)
    throttle.set_speed(None)
    assert [x for rows, _ in parts for x in rows] == [0, 1, 2, 3, 4]


def test_it_begins_with_the_event():
    begin = threading.Event()
    throttle = Throttle(begin=begin)
    parts = passed(ThrottledSource(Numbers(5, 5), throttle))
    assert next(parts) == ([], 0)
    assert throttle.waiting
    begin.set()
    assert next(parts)[0] == [0, 1, 2, 3, 4]
    assert not throttle.waiting


def test_everything_else_comes_from_the_source():
    inner = Numbers(10, 5)
    source = ThrottledSource(inner, Throttle())
    source.acknowledge(4)
    source.close()
    assert (inner.acknowledged, inner.closed, source.fraction(5), source.named) == (4, True, 0.5, True)
    assert next(passed(source, 5))[0][0] == 5
    inner.wants_checkpoint = True
    list(source.batches())
    assert source.wants_checkpoint
