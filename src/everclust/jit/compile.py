"""The ways in which this package compiles: parts of kernels, and kernels."""

import gc
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.core.errors import NumbaIRAssumptionWarning

from . import overloads, prefetch, switches
from .cache import use_cache
from .linking import part_options

NOTICE_SECONDS = 2.0
NOTICE = "everclust compiles its kernels for this machine: once, for up to a minute …\n"

_STRICT: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_KERNEL: dict[str, Any] = {"no_cfunc_wrapper": True}
_PART: dict[str, Any] = {"no_cpython_wrapper": True, **_KERNEL, **part_options()}
Function = Callable[..., Any]

#: min is the same in any order; only NaN, which validation refuses, would differ.
ORDERLESS = {"nnan", "nsz"}
#: A square and its sum may be rounded once instead of twice.
FUSED = {"contract"}
#: The coarse search allows for its rounding errors, so it may round in any way that is fast.
COARSE = {"contract", "reassoc", "nnan", "nsz"}


def _without_reference_counts() -> dict[str, Any]:
    """Options for `njit`."""
    with switches.attempt("nrt"):
        if switches.is_on("nrt"):
            from numba.core.options import DefaultOptions

            DefaultOptions._nrt  # noqa: B018
    return {"_nrt": False} if switches.is_on("nrt") else {}


_NO_COUNTS = _without_reference_counts()
_COUNTS = dict.fromkeys(_NO_COUNTS, True)  # passed, too: numba otherwise inherits the caller's


def record(*fields: tuple[str, Any]) -> np.dtype:
    """Type of a row with named fields, which compiled code and plain Python both read as `row.field`."""
    plain = np.dtype(list(fields))
    # numba unboxes plain structured arrays a hundred times faster than NumPy's record arrays.
    return np.dtype((np.record, plain)) if config.DISABLE_JIT else plain


def jit(function: Function, flags: Any = False) -> Any:
    """Compile a part of a kernel: strict floating point unless flags say otherwise, no GIL.

    Such a part may not make arrays, and so needs no reference counts: with them, every access to a field of
    the state costs two atomic operations. It cannot be called from Python: wrappers that only tests would
    use double the time to compile.
    """
    return _part(function, fastmath=flags, **_NO_COUNTS)


def jit_inlined(function: Function) -> Any:
    """Compile a part that every sample passes into its caller."""
    return _part(function, forceinline=True, **_NO_COUNTS)


def jit_allocating(function: Function) -> Any:
    """Compile a part of a kernel that makes arrays."""
    return _part(function, **_COUNTS)


def _part(function: Function, *, fastmath: Any = False, forceinline: bool = False, **options: Any) -> Any:
    """Pass every option explicitly: numba otherwise inherits the caller's."""
    part = njit(fastmath=fastmath, forceinline=forceinline, **options, **_STRICT, **_PART)(function)
    if hasattr(part, "compile"):  # not when NUMBA_DISABLE_JIT is set
        compile_for = part.compile
        # numba would compile another version for a 0 that is written out.
        part.compile = lambda signature: compile_for(tuple(map(types.unliteral, signature)))
    return part


def kernel(function: Function) -> Any:
    """Compile an entry function and keep its machine code on disk where that is possible."""
    compiled = njit(**_STRICT, **_KERNEL)(function)
    if hasattr(compiled, "compile"):  # not when NUMBA_DISABLE_JIT is set
        around = _quietly(), _without_garbage_collection(), overloads.once(), _with_notice()
        for context in (*around, prefetch.meanwhile(compiled)):
            compiled.compile = context(compiled.compile)
        use_cache(compiled)
    return compiled


class Direct:
    """Calls the only compiled overload of a kernel directly and skips numba's type dispatch, which takes
    longer than learning a few samples. **Arguments must have the types of the first call.**"""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.run: Function = self._run_first

    def _run_first(self, *arguments: Any) -> Any:
        result = self._kernel(*arguments)
        self.run = self._kernel
        with switches.attempt("direct"):
            versions = list(getattr(self._kernel, "overloads", {}).values())
            if switches.is_on("direct") and len(versions) == 1:  # none where nothing is compiled
                self.run = versions[0].entry_point
        return result


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """numba makes objects by the million, to keep: collecting garbage takes a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence a harmless warning about names that inlining introduces; it comes only without SIMD types."""
    with warnings.catch_warnings():
        if not switches.is_on("simd"):
            warnings.simplefilter("ignore", NumbaIRAssumptionWarning)
        yield


@contextmanager
def _with_notice() -> Iterator[None]:
    """Say on the terminal that compiling is under way when it takes long."""
    timer = Timer(NOTICE_SECONDS, _notify)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


_was_notified = False


def _notify() -> None:
    global _was_notified
    if not _was_notified and sys.stderr is not None and sys.stderr.isatty():
        _was_notified = True
        sys.stderr.write(NOTICE)
        sys.stderr.flush()
