import gc

import numba
import numpy as np
import pytest

from everclust.jit import compile as jit
from everclust.jit import linking, part_compiler

pytestmark = [
    pytest.mark.usefixtures("compiling"),
    pytest.mark.skipif(
        not linking.part_options(), reason="numba compiles parts by itself in versions not tried"
    ),
]


@pytest.fixture
def parts():
    """One calls the next: (x + 1)², by itself and for all numbers of an array."""
    plus_one = jit.jit(lambda x: x + 1)
    squared = jit.jit(lambda x: plus_one(x) * plus_one(x))

    @jit.jit_allocating
    def all_squared(values):
        out = np.empty(len(values))
        for i in range(len(values)):
            out[i] = squared(values[i])
        return out

    return plus_one, squared, all_squared


def machine_code(part):
    (compiled,) = part.overloads.values()
    library = compiled.library
    name = compiled.fndesc.llvm_func_name
    return library.get_pointer_to_function(name)


def test_a_kernel_takes_in_all_that_its_parts_call(parts):
    plus_one, _, all_squared = parts
    kernel = jit.kernel(lambda values: all_squared(values)[0] + plus_one(values[1]))
    assert kernel(np.array([2.0, 3.0])) == 9 + 4
    assert [machine_code(part) for part in parts] == [0, 0, 0]  # but their own was never made


def test_two_kernels_may_share_parts(parts):
    _, squared, all_squared = parts
    assert jit.kernel(lambda x: squared(x))(4.0) == 25
    assert jit.kernel(lambda values: all_squared(values).sum())(np.array([0.0, 1.0])) == 1 + 4


def test_parts_can_be_called_from_other_compiled_functions(parts):
    squared = parts[1]
    assert numba.njit(lambda x: squared(x))(2.0) == 9


def test_parts_may_call_kernels(parts):
    squared = parts[1]
    kernel = jit.kernel(lambda x: squared(x))
    part = jit.jit(lambda x: kernel(x) + 1)
    assert jit.kernel(lambda x: part(x))(2.0) == 10


def test_shared_flags_stay_as_they_are():
    """numba changes the ones at hand where it compiles arithmetic of whole arrays."""
    part = jit.jit_allocating(lambda values: (values + 1)[0])
    assert jit.kernel(lambda values: part(values))(np.array([3.0])) == 4
    for name, flags in part_compiler._PartFlags._shared.items():
        assert repr(part_compiler._PartFlags(flags)) == name


@pytest.mark.parametrize("is_enabled", [True, False])
@pytest.mark.parametrize("value", [1, "no number"])
def test_garbage_collection_is_as_before(is_enabled, value):
    kernel = jit.kernel(lambda x: x - 1)
    (gc.enable if is_enabled else gc.disable)()
    try:
        kernel(value)
    except numba.TypingError:
        assert value == "no number"
    finally:
        found = gc.isenabled()
        gc.enable()
    assert found == is_enabled
