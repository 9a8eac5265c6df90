"""The one way this package compiles: flags, and a disk cache that cannot go stale.

numba's cache notices a change only in the file of the compiled entry function. The kernels here
call small functions from many files, so their cache is stamped with a hash of all of `jit` and `core`,
and of all files in their own folder of the package.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit
from numba.core import caching
from numba.core.types.misc import unliteral

from .linking import how_to_compile_parts

_STRICT: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_KERNEL: dict[str, Any] = {"no_cfunc_wrapper": True}
_PART: dict[str, Any] = {"no_cpython_wrapper": True, **_KERNEL, **how_to_compile_parts()}
Function = Callable[..., Any]

#: min is the same in whatever order it is taken; only NaN, which validation refuses, would differ.
ORDERLESS = {"nnan", "nsz"}
#: A square and its sum may be rounded once instead of twice.
FUSED = {"contract"}
#: The coarse search allows for its rounding errors, so it may round as the machine likes best.
COARSE = {"contract", "reassoc", "nnan", "nsz"}


def record(*fields: tuple[str, Any]) -> np.dtype:
    """Type of a row with named fields, which compiled code and plain Python both read as `row.field`."""
    plain = np.dtype(list(fields))
    # numba unboxes plain structured arrays a hundred times faster than NumPy's record arrays.
    return np.dtype((np.record, plain)) if config.DISABLE_JIT else plain


def jit(function: Function, flags: Any = False) -> Any:
    """Compile a part of a kernel: strict floating point unless flags say otherwise, no GIL.

    Such a part may not make arrays, and so needs no reference counts: with them, every look at a field
    of the state costs two atomic operations. Nor can it be called from Python: wrappers that only tests
    would use double the time to compile.
    """
    return _part(function, fastmath=flags, _nrt=False)


def jit_inlined(function: Function) -> Any:
    """Compile a part that every sample passes into its caller."""
    return _part(function, _nrt=False, forceinline=True)


def jit_allocating(function: Function) -> Any:
    """Compile a part of a kernel that makes arrays."""
    return _part(function)


def _part(function: Function, *, fastmath: Any = False, forceinline: bool = False, **options: Any) -> Any:
    """Say what is not wanted, too: numba would take it over from the caller that is compiled meanwhile."""
    compiled = njit(fastmath=fastmath, forceinline=forceinline, **options, **_STRICT, **_PART)(function)
    return _for_any_integer(compiled)


def _for_any_integer(compiled: Any) -> Any:
    """Keep numba from compiling a function anew for every constant that it is called with."""
    if hasattr(compiled, "get_call_template"):  # not when NUMBA_DISABLE_JIT is set
        find = compiled.get_call_template
        compiled.get_call_template = lambda args, kws: find([unliteral(arg) for arg in args], kws)
    return compiled


def kernel(function: Function) -> Any:
    """Compile an entry function and keep its machine code on disk where that is possible."""
    compiled = njit(**_STRICT, **_KERNEL)(function)
    if hasattr(compiled, "_cache"):  # not when NUMBA_DISABLE_JIT is set
        compiled.compile = _without_garbage_collection()(compiled.compile)
        with suppress(RuntimeError, OSError):  # no folder can be written: compile in every process
            compiled._cache = _Cache(compiled.py_func)
    return compiled


class Direct:
    """A kernel whose arguments always have the same types: after the first call, nobody looks at them.

    To find machine code by the types of a state takes longer than to learn a few samples.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.run: Function = self._run_first

    def _run_first(self, *arguments: Any) -> Any:
        result = self._kernel(*arguments)
        versions = list(getattr(self._kernel, "overloads", {}).values())
        if len(versions) == 1:  # none where nothing is compiled
            self.run = versions[0].entry_point
        return result


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """numba makes objects by the million, to keep: looking for garbage takes a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


PACKAGE = Path(__file__).parents[1]


def source_stamp(*folders: Path) -> str:
    """Hash of every source file below these folders, by name and content."""
    digest = sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder).as_posix()
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


_STAMP = source_stamp(PACKAGE / "jit", PACKAGE / "core")
_stamp_of_folder = cache(source_stamp)


class _Stamped:
    _py_file: str  # of the entry function

    def get_source_stamp(self) -> str:
        path = Path(self._py_file)
        folder = _folder_of(path)
        if folder in (PACKAGE / "jit", PACKAGE / "core") or not path.is_file():
            return _STAMP
        return sha256((_STAMP + _stamp_of_folder(folder)).encode()).hexdigest()

    def get_disambiguator(self) -> str:
        # In the names of the files as well: numba writes the index before the code, so that whatever
        # comes in between would leave a new index that points at old code.
        return f"{super().get_disambiguator()}-{self.get_source_stamp()[:16]}"  # type: ignore[misc]


def _folder_of(path: Path) -> Path:
    """The folder of the package that a file is in, at whatever depth; else the one beside it."""
    if path.is_relative_to(PACKAGE):
        return PACKAGE / path.relative_to(PACKAGE).parts[0]
    return path.parent


class _Impl(caching.CompileResultCacheImpl):
    _locator_classes = [  # noqa: RUF012
        type(locator.__name__, (_Stamped, locator), {})
        for locator in caching.CompileResultCacheImpl._locator_classes
    ]


class _Cache(caching.FunctionCache):
    _impl_class = _Impl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # an unreadable cache file is as good as none: compile, and begin a new one
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # disk full or folder gone: the compiled function works all the same
            self.disable()
