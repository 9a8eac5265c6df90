from typing import NamedTuple

import numba
import numpy as np
import pytest

from everclust.jit.compile import jit, kernel
from everclust.jit.holding import hold
from everclust.jit.reference import declare_lists, refer

ROW = np.dtype([("count", np.int64), ("size", np.float64)])


class Inner(NamedTuple):
    table: np.ndarray
    weight: np.ndarray  # of the same type as the first: numba keeps such tuples in another way


class Whole(NamedTuple):
    row: np.ndarray
    inner: Inner
    n: int
    is_on: bool


@pytest.fixture
def whole():
    return Whole(np.zeros(3, ROW), Inner(np.arange(6.0).reshape(2, 3), np.ones((1, 1))), 7, True)


def test_fields_are_read_by_name(whole, either_way):
    def read(whole):
        return whole.n, whole.is_on, whole.inner.table[1, 2], whole.inner.weight[0, 0], whole.row.shape[0]

    part = either_way(read)
    assert either_way(lambda whole: part(refer(whole)))(whole) == (7, True, 5.0, 1.0, 3)


def test_what_is_written_is_seen_by_all(whole, either_way):
    @either_way
    def write(whole, i):
        whole.row[i]["count"] += whole.n
        whole.inner.table[0, i] = 9.0

    @either_way
    def write_twice(whole):
        reference = refer(whole)
        write(reference, 1)
        write(refer(reference), 1)  # a reference to a reference is the same reference
        return whole.row["count"][1]

    assert write_twice(whole) == 14
    assert whole.row["count"].tolist() == [0, 14, 0]
    assert whole.inner.table[0].tolist() == [0, 9, 2]


@pytest.mark.parametrize("integer", [int, np.uint8, np.int32])
def test_rows_are_found_by_any_integer(whole, either_way, integer):
    whole.row["size"] = [1.0, 2.0, 4.0]
    part = either_way(lambda whole, i: (whole.row[i]["size"], whole.row[2]["size"]))
    assert either_way(lambda whole, i: part(refer(whole), i))(whole, integer(1)) == (2.0, 4.0)


def test_rows_that_do_not_lie_side_by_side(whole, either_way):
    whole = whole._replace(row=np.zeros(6, ROW)[::2])
    whole.row["size"] = [1.0, 2.0, 4.0]
    part = either_way(lambda whole: whole.row[1]["size"])
    assert either_way(lambda whole: part(refer(whole)))(whole) == 2.0


def test_what_is_read_counts_as_used(whole, either_way):
    """An array that a reference has handed out outlives the function that read it."""

    @either_way
    def table_of(whole):
        return refer(whole).inner.table

    tables = [table_of(whole) for _ in range(100)]
    del whole
    assert all(table.sum() == 15 for table in tables)


def test_a_name_that_is_not_there(whole, compiling):
    with pytest.raises(numba.TypingError, match="Unknown attribute 'colour'"):
        numba.njit(lambda whole: refer(whole).colour)(whole)


def test_only_named_tuples_are_referred_to(compiling):
    with pytest.raises(numba.TypingError, match="refer"):
        numba.njit(lambda whole: refer(whole))(np.zeros(3))


class Listed(NamedTuple):
    number: np.ndarray
    other: np.ndarray


declare_lists(Listed, "number")


def test_lists_are_read_and_written_entry_by_entry(either_way):
    @either_way
    def count(lists, i):
        lists.number[i] += lists.number.shape[0]
        lists.number[i + 1] = True
        return lists.number[i] + lists.other[-1]

    lists = Listed(np.array([5, 6, 7]), np.array([1, 2, 30]))
    assert either_way(lambda lists: count(refer(lists), 1))(lists) == 39
    assert lists.number.tolist() == [5, 9, 1]


class Arrays(NamedTuple):
    row: np.ndarray
    table: np.ndarray
    vector: np.ndarray
    nothing: np.ndarray


@jit
def _double(arrays, k):
    arrays.table[k, -1] *= 2.0
    arrays.row[k]["count"] += 1
    return arrays.vector[k]


@kernel
def _double_all(arrays):
    arrays, total = refer(arrays), 0.0
    for k in range(arrays.table.shape[0]):
        total += _double(arrays, k)
    return total + arrays.vector.shape[0] + arrays.nothing.size


def test_held_arrays_are_the_arrays_themselves():
    arrays = Arrays(np.zeros(2, ROW), np.arange(6.0).reshape(2, 3), np.arange(9.0)[1::3], np.empty((0, 4)))
    held = hold(arrays)
    assert [_double_all(held), _double_all(held), _double_all(arrays)] == [1 + 4 + 3] * 3
    assert arrays.row["count"].tolist() == [3, 3]
    assert arrays.table.tolist() == [[0, 1, 16], [3, 4, 40]]


def test_held_arrays_stay_alive():
    def filled(value):
        return Arrays(np.zeros(2, ROW), np.full((2, 3), value), np.full(7, value), np.empty((0, 4)))

    held = [hold(filled(float(i))) for i in range(100)]
    assert [_double_all(whole) for whole in held] == [2 * i + 7 for i in range(100)]
