"""Vectors as LLVM's own, for numba: see simd.py."""

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, models, register_model, type_callable

from .simd import BYTES, WIDTH, higher, highest, load, lower, lowest, splat, square_root, store

ir.VectorType(ir.DoubleType(), WIDTH).as_pointer()  # fails here, not later, where LLVM has no typed pointers


class Vector(types.Type):  # type: ignore[misc]
    """The type of a vector."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.width = 8 * BYTES // dtype.bitwidth
        super().__init__(f"Vector({dtype})")


@register_model(Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector: Vector) -> None:
        number = manager.lookup(vector.dtype).get_value_type()
        super().__init__(manager, vector, ir.VectorType(number, vector.width))


def _typed(function: Any, result: Any) -> None:
    """Register the type that a function returns."""
    type_callable(function)(lambda context: result)


_typed(load, lambda array, start: Vector(array.dtype))
_typed(store, lambda array, start, vector: types.none)
_typed(splat, lambda number: Vector(number))
_typed(square_root, lambda vector: vector)


def _address(context: Any, builder: Any, array: Any, arguments: Any) -> Any:
    """Where in memory a vector begins."""
    data = context.make_array(array)(context, builder, arguments[0]).data
    vector = context.get_value_type(Vector(array.dtype))
    return builder.bitcast(builder.gep(data, [arguments[1]]), vector.as_pointer())


@lower_builtin(load, types.Array, types.Integer)
def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = signature.args[0]
    place = _address(context, builder, array, arguments)
    return builder.load(place, align=array.dtype.bitwidth // 8)


@lower_builtin(store, types.Array, types.Integer, Vector)
def _store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = signature.args[0]
    place = _address(context, builder, array, arguments)
    builder.store(arguments[2], place, align=array.dtype.bitwidth // 8)
    return context.get_dummy_value()


@lower_builtin(splat, types.Float)
def _splat(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    vector = context.get_value_type(signature.return_type)
    nothing, first = ir.Constant(vector, ir.Undefined), cgutils.int32_t(0)
    everywhere = ir.Constant(ir.VectorType(cgutils.int32_t, vector.count), [0] * vector.count)
    return builder.shuffle_vector(builder.insert_element(nothing, *arguments, first), nothing, everywhere)


@lower_builtin(square_root, Vector)
def _square_root(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _call(builder, "sqrt", arguments, arguments[0].type)


def _call(builder: Any, name: str, arguments: Any, result: Any, **flags: Any) -> Any:
    """Call an intrinsic of LLVM with vectors."""
    vector = arguments[0].type
    suffix = f"v{vector.count}f{8 * BYTES // vector.count}"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(result, [vector]), f"llvm.{name}.{suffix}"
    )
    return builder.call(function, arguments, **flags)


def _choose(of_two: Any, sign: str, of_all: Any, name: str) -> None:
    """The extreme number of two, place by place, and of all."""
    _typed(of_two, lambda a, b: a)
    _typed(of_all, lambda vector: vector.dtype)

    @lower_builtin(of_two, Vector, Vector)
    def choose(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(sign, *arguments), *arguments)

    @lower_builtin(of_all, Vector)
    def reduce(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = arguments[0].type.element
        return _call(builder, f"vector.reduce.{name}", arguments, number, fastmath=("nnan", "nsz"))


_choose(lower, "<", lowest, "fmin")
_choose(higher, ">", highest, "fmax")


def _compute(operation: Any, instruction: str) -> None:
    """Let numba compute with vectors as with numbers."""
    _typed(operation, lambda a, b: a if isinstance(a, Vector) and a == b else None)

    @lower_builtin(operation, Vector, Vector)
    def compute(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


_compute(operator.add, "fadd")
_compute(operator.sub, "fsub")
_compute(operator.mul, "fmul")
_compute(operator.truediv, "fdiv")
