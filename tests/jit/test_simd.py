import numba
import numpy as np
import pytest

from everclust.jit import simd as vectors
from everclust.jit.simd import BYTES, WIDTH, higher, highest, load, lower, lowest, splat, square_root, store

BOTH = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def numbers(dtype):
    return np.random.default_rng(0).uniform(1, 2, 48).astype(dtype)


@BOTH
@pytest.mark.parametrize("start", [0, 1, 5, 16])  # aligned or not
def test_there_and_back(dtype, start, either_way):
    def copy(source, start, target):
        store(target, start + 3, load(source, start))

    source, target = numbers(dtype), np.zeros(48, dtype)
    either_way(copy)(source, start, target)
    n = BYTES // source.itemsize
    assert (target[start + 3 : start + 3 + n] == source[start : start + n]).all()
    assert target[: start + 3].sum() == target[start + 3 + n :].sum() == 0


@BOTH
def test_arithmetic_is_that_of_arrays(dtype, either_way):
    def compute(a, b, x, out):
        p, q = load(a, 0), load(b, 0)
        store(out, 0, (p + q * splat(x) - p / q) * square_root(p))

    a, b, out = numbers(dtype), numbers(dtype)[::-1].copy(), np.zeros(48, dtype)
    x = dtype(0.7)
    either_way(compute)(a, b, x, out)
    n = BYTES // a.itemsize
    assert out[:n].tolist() == ((a + b * x - a / b) * np.sqrt(a))[:n].tolist()
    assert out[:n].all()
    assert not out[n:].any()


@BOTH
def test_the_lower_and_the_higher_ones(dtype, either_way):
    def choose(a, b, low, high):
        store(low, 0, lower(load(a, 0), load(b, 0)))
        store(high, 0, higher(load(a, 0), load(b, 0)))

    a, b, low, high = numbers(dtype), numbers(dtype)[::-1].copy(), np.zeros(48, dtype), np.zeros(48, dtype)
    either_way(choose)(a, b, low, high)
    n = BYTES // a.itemsize
    assert low[:n].tolist() == np.minimum(a, b)[:n].tolist() != a[:n].tolist()
    assert high[:n].tolist() == np.maximum(a, b)[:n].tolist()


@BOTH
@pytest.mark.parametrize("where", [0, 3, 7])
def test_extremes(dtype, where, either_way):
    def extremes(a):
        return lowest(load(a, 0)), highest(load(a, 0))

    a = numbers(dtype)
    a[where], a[-1] = -np.inf, -np.inf
    assert either_way(extremes)(a) == (-np.inf, a[: BYTES // a.itemsize].max())
    a[where], a[-1] = np.inf, np.inf
    assert either_way(extremes)(a) == (a[: BYTES // a.itemsize].min(), np.inf)


def test_sums_may_be_kept_in_vectors(either_way):
    def total(a):
        abreast = splat(0.0)
        for i in range(0, a.shape[0], WIDTH):
            abreast = abreast + load(a, i)
        return highest(abreast)

    assert either_way(total)(np.arange(48.0)) == sum(range(7, 48, 8))


def test_vectors_go_with_vectors_only(compiling):
    with pytest.raises(numba.TypingError):
        numba.njit(lambda a: lowest(load(a, 0) + 1.0))(np.zeros(8))
    assert numba.njit(lambda a: a + 1)(1) == 2  # and numbers with numbers, as ever


@BOTH
@pytest.mark.parametrize("n", [1, 8, 100])
def test_room_that_begins_where_a_vector_begins(dtype, n, either_way):
    room = either_way(vectors.new_aligned)(n, dtype)
    assert (room.shape, room.dtype) == ((n,), dtype)
    assert room.ctypes.data % BYTES == 0
