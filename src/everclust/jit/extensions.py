"""Registers vectors and references with numba: the fast way if it works, otherwise the plain way."""

from numba.extending import register_jitable

from . import switches
from .reference import refer

if switches.is_on("simd"):
    with switches.attempt("simd"):
        from . import simd_types as simd_types
if not switches.is_on("simd"):
    from . import simd_tuples as simd_tuples

if switches.is_on("reference"):
    with switches.attempt("reference"):
        from . import reference_types as reference_types
if not switches.is_on("reference"):
    register_jitable(refer)
