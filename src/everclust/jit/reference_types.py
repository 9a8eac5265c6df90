"""The types of references for numba, made in part of names that it does not promise: see reference.py."""

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.core.types.containers import BaseNamedTuple, UniTuple
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr,
    lower_getattr_generic,
    models,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)

from .reference import LISTS, Held, refer, size_written, write_down


class Reference(types.Type):  # type: ignore[misc]
    """The type of a reference."""

    def __init__(self, whole: Any) -> None:
        self.dtype = whole
        # numba writes this into the name of every function that is handed a reference: be short.
        super().__init__(f"Reference({whole.instance_class.__name__})")

    @property
    def key(self) -> Any:
        """What makes two references the same type."""
        return self.dtype


register_model(Reference)(models.PointerModel)


class Rows(types.Type):  # type: ignore[misc]
    """The type of an array of records, or of integers that were declared to be lists, in a tuple that is
    handed on by reference.

    All it has is single rows, from 0 on, and its shape. Numba's own arrays allow for so much more that it
    takes time to compile and, since every index may count from the end, to run.
    """

    def __init__(self, array: Any) -> None:
        self.dtype = array
        super().__init__(f"Rows({array.dtype})")


register_model(Rows)(models.PointerModel)


def _by_reference(whole: Any, name: str) -> Any:
    """What a field of a tuple is handed on as."""
    field = whole.types[whole.fields.index(name)]
    if isinstance(field, BaseNamedTuple):
        return Reference(field)
    is_list = name in LISTS.get(whole.instance_class, ())
    is_row_after_row = isinstance(field, types.Array) and field.ndim == 1 and field.is_c_contig
    return Rows(field) if is_row_after_row and (is_list or isinstance(field.dtype, types.Record)) else field


@type_callable(refer)
def _type_of_reference(context: Any) -> Any:
    def resolve(whole: Any) -> Any:
        if isinstance(whole, BaseNamedTuple):
            return Reference(whole)
        return whole if isinstance(whole, Reference) else None

    return resolve


@lower_builtin(refer, BaseNamedTuple)
def _refer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = context.data_model_manager[signature.args[0]].as_data(builder, arguments[0])
    place = cgutils.alloca_once(builder, data.type)
    builder.store(data, place)
    return place


@lower_builtin(refer, Reference)
def _refer_again(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return arguments[0]


@typeof_impl.register(Held)
def _type_of_held(held: Held, context: Any) -> Any:
    return Reference(typeof_impl(held.whole, context))


@unbox(Reference)
def _address_of_held(reference: Any, held: Any, context: Any) -> Any:
    """The address of a description, which has the layout of the tuple."""
    api, builder = context.pyapi, context.builder
    number = api.object_getattr_string(held, "address")
    address = api.long_as_voidptr(number)
    api.decref(number)
    return NativeValue(builder.bitcast(address, context.context.get_value_type(reference)))


@type_callable(size_written)
def _type_of_size(context: Any) -> Any:
    return lambda whole: types.intp if isinstance(whole, BaseNamedTuple) else None


@lower_builtin(size_written, BaseNamedTuple)
def _size_written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = context.data_model_manager[signature.args[0]].get_data_type()
    return context.get_constant(types.intp, context.get_abi_sizeof(data))


@type_callable(write_down)
def _type_of_writing(context: Any) -> Any:
    return lambda whole, memory: types.none if isinstance(whole, BaseNamedTuple) else None


@lower_builtin(write_down, BaseNamedTuple, types.Array)
def _write_down(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Who reads it owns neither the memory of the arrays nor their Python objects."""
    whole, memory = signature.args
    data = context.data_model_manager[whole].as_data(builder, arguments[0])
    for place, field in enumerate(whole.types):
        for owner in ("meminfo", "parent"):
            position = context.data_model_manager[field].get_field_position(owner)
            nothing = data.type.elements[place].elements[position](None)
            data = builder.insert_value(data, nothing, [place, position])
    start = context.make_array(memory)(context, builder, arguments[1]).data
    builder.store(data, builder.bitcast(start, data.type.as_pointer()))
    return context.get_dummy_value()


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:
        whole = reference.dtype
        if name not in whole.fields:
            return None
        return _by_reference(whole, name)


@lower_getattr_generic(Reference)
def _field(context: Any, builder: Any, reference: Any, place: Any, name: str) -> Any:
    index = reference.dtype.fields.index(name)
    field = reference.dtype.types[index]
    place = cgutils.gep_inbounds(builder, place, 0, index)
    if _by_reference(reference.dtype, name) != field:
        return place
    value = context.data_model_manager[field].from_data(builder, builder.load(place))
    return impl_ret_borrowed(context, builder, field, value)


@type_callable(operator.getitem)
def _type_of_row(context: Any) -> Any:
    def resolve(rows: Any, index: Any) -> Any:
        is_row = isinstance(rows, Rows) and isinstance(index, types.Integer)
        return rows.dtype.dtype if is_row else None

    return resolve


@lower_builtin(operator.getitem, Rows, types.Integer)
def _row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    row = _address(context, builder, signature, arguments)
    return row if isinstance(signature.return_type, types.Record) else builder.load(row)


@type_callable(operator.setitem)
def _type_of_assignment(context: Any) -> Any:
    def resolve(rows: Any, index: Any, value: Any) -> Any:
        is_number = isinstance(rows, Rows) and isinstance(rows.dtype.dtype, types.Integer)
        return types.none if is_number and isinstance(index, types.Integer) else None

    return resolve


@lower_builtin(operator.setitem, Rows, types.Integer, types.Any)
def _assign(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    rows, _, value = signature.args
    number = context.cast(builder, arguments[2], value, rows.dtype.dtype)
    builder.store(number, _address(context, builder, signature, arguments))
    return context.get_dummy_value()


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    rows, index = signature.args[:2]
    data = _part(context, builder, rows, arguments[0], "data")
    return builder.gep(data, [context.cast(builder, arguments[1], index, types.intp)])


@infer_getattr
class _Shape(AttributeTemplate):  # type: ignore[misc]
    key = Rows

    def resolve_shape(self, rows: Any) -> Any:
        return UniTuple(types.intp, 1)


@lower_getattr(Rows, "shape")
def _shape(context: Any, builder: Any, rows: Any, place: Any) -> Any:
    return _part(context, builder, rows, place, "shape")


def _part(context: Any, builder: Any, rows: Any, place: Any, name: str) -> Any:
    """One of the numbers that make up an array."""
    position = context.data_model_manager[rows.dtype].get_field_position(name)
    return builder.load(cgutils.gep_inbounds(builder, place, 0, position))
