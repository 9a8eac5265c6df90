"""Vectors as named tuples of numbers, with nothing but what numba promises: see simd.py."""

import math
import operator
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from .simd import BYTES, higher, highest, load, lower, lowest, splat, square_root, store

#: By the number of bits of one number.
VECTORS = {
    bits: namedtuple(f"Vector{bits}", [f"n{k}" for k in range(8 * BYTES // bits)]) for bits in (32, 64)
}


def _is_vector(kind: Any) -> bool:
    return isinstance(kind, types.NamedUniTuple) and kind.instance_class in VECTORS.values()


def _make(bits: int, parameters: str, item: str, **names: Any) -> Callable[..., Any]:
    """A function that computes every number of a vector by an expression in `k`, written out in full."""
    items = ", ".join(
        item.replace("[k]", f"[{k}]").replace("+ k", f"+ {k}") for k in range(8 * BYTES // bits)
    )
    scope = {"Vector": VECTORS[bits], **names}
    exec(f"def vector({parameters}): return Vector({items})", scope)
    return scope["vector"]


def _bits(kind: Any) -> int:
    return 8 * BYTES // len(kind)


@overload(load, inline="always")
def _load(array, start):
    return _make(array.dtype.bitwidth, "array, start", "array[start + k]")


@overload(store, inline="always")
def _store(array, start, vector):
    def put(array, start, vector):
        for k in range(len(vector)):
            array[start + k] = vector[k]

    return put


@overload(splat, inline="always")
def _splat(number):
    return _make(number.bitwidth, "number", "number")


@overload(square_root, inline="always")
def _square_root(vector):
    return _make(_bits(vector), "vector", "sqrt(vector[k])", sqrt=math.sqrt)


def _choose(of_two: Any, of_all: Any, sign: str) -> None:
    """The extreme number of two, one by one, and of all."""

    @overload(of_two, inline="always")
    def two(a, b):
        return _make(_bits(a), "a, b", f"a[k] if a[k] {sign} b[k] else b[k]")

    choose = min if sign == "<" else max

    @overload(of_all, inline="always")
    def all_of(vector):
        def extreme(vector):
            best = vector[0]
            for k in range(1, len(vector)):
                best = choose(best, vector[k])
            return best

        return extreme


_choose(lower, lowest, "<")
_choose(higher, highest, ">")


def _compute(operation: Any, sign: str) -> None:
    @overload(operation, inline="always")
    def compute(a, b):
        if _is_vector(a) and a == b:
            return _make(_bits(a), "a, b", f"a[k] {sign} b[k]")
        return None


for _operation, _sign in (
    (operator.add, "+"),
    (operator.sub, "-"),
    (operator.mul, "*"),
    (operator.truediv, "/"),
):
    _compute(_operation, _sign)
