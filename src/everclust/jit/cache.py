"""A disk cache of machine code that cannot go stale.

numba's cache notices a change only in the file of the compiled entry function. The kernels here call small
functions from many files, so their cache is stamped with a hash of all of `jit` and `core`, and of all files
in their own folder of the package.
"""

from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from . import prefetch, switches

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
        stamp = " ".join([_STAMP, *switches.reasons()])
        if folder not in (PACKAGE / "jit", PACKAGE / "core") and path.is_file():
            stamp += _stamp_of_folder(folder)
        return sha256(stamp.encode()).hexdigest()

    def get_disambiguator(self) -> str:
        # In the names of the files as well: numba writes the index before the code, so that an
        # interruption in between would leave a new index that points at old code.
        return f"{super().get_disambiguator()}-{self.get_source_stamp()[:16]}"  # type: ignore[misc]


def _folder_of(path: Path) -> Path:
    """The folder of the package that a file is in, at any depth; else the one beside it."""
    if path.is_relative_to(PACKAGE):
        return PACKAGE / path.relative_to(PACKAGE).parts[0]
    return path.parent


with switches.attempt("cache"):
    from llvmlite import binding
    from numba.core import caching

    class _Impl(caching.CompileResultCacheImpl):
        _locator_classes = [  # noqa: RUF012
            type(locator.__name__, (_Stamped, locator), {})
            for locator in caching.CompileResultCacheImpl._locator_classes
        ]

        def rebuild(self, target_context: Any, payload: Any) -> Any:
            """Load a kernel. Its IR is read when another kernel is to contain it, and takes a quarter of the
            time: until then, a name stands for it."""
            (name, kind, (code, ir)), function, *rest = payload
            stub = f'define void @"{function.llvm_cpython_wrapper_name}"() {{ ret void }}'
            short = binding.parse_assembly(stub).as_bitcode()
            loaded = super().rebuild(target_context, ((name, kind, (code, short)), function, *rest))
            loaded.library._get_module_for_linking = lambda: _linked(loaded.library, ir)
            return loaded

    def _linked(library: Any, ir: bytes) -> Any:  # INOUT library
        """The IR of a loaded kernel."""
        del library._get_module_for_linking
        library._shared_module = binding.parse_bitcode(ir)
        return library._get_module_for_linking()

    class _Cache(caching.FunctionCache):
        _impl_class = _Impl

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = None
            try:
                found = super().load_overload(sig, target_context)
            except Exception:  # an unreadable cache file is as good as none: compile, and begin a new one
                with suppress(OSError):
                    self.flush()
            if found is None:
                prefetch.start()
            return found

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except OSError:  # disk full or folder gone: the compiled function works all the same
                self.disable()


def use_cache(dispatcher: Any) -> None:  # INOUT dispatcher
    """Keep the machine code of a compiled function on disk, unless no folder can be written."""
    if switches.is_on("cache"):
        with switches.attempt("cache"), suppress(RuntimeError, OSError):
            dispatcher._cache = _Cache(dispatcher.py_func)
