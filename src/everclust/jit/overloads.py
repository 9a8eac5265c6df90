"""Choose an overload once for the types of its arguments, not at every place where an operation is written.

For every `a + b`, numba tries one rule after the other until one fits the types of a and b. The parts of our
kernels ask some hundred questions ten thousand times. Other functions are compiled as ever.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

from . import switches


class _Compiling(threading.local):
    kernel = False  # whether this thread compiles a kernel


_compiling = _Compiling()


@contextmanager
def once() -> Iterator[None]:
    """While this thread compiles a kernel, remember what numba has resolved."""
    before, _compiling.kernel = _compiling.kernel, True
    try:
        yield
    finally:
        _compiling.kernel = before


def _install() -> None:
    """Put a memory before numba's own choice of an overload."""
    from numba.core.targetconfig import ConfigStack
    from numba.core.types import BaseFunction

    resolve: Any = BaseFunction.get_call_type
    if list(signature(resolve).parameters) != ["self", "context", "args", "kws"]:
        raise TypeError(f"get_call_type has the parameters {signature(resolve)}")
    current_flags = ConfigStack.top_or_none
    known: dict[int, tuple[Any, dict[Any, Any]]] = {}  # by the identity of an operation, which is kept alive

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not _compiling.kernel:
            return resolve(self, context, args, kws)
        answers = known.setdefault(id(self), (self, {}))[1]
        question = context, args, current_flags()
        if question not in answers:
            found = resolve(self, context, args, kws)
            answers[question] = found, self._impl_keys[found.args]
        found, code = answers[question]
        self._impl_keys[found.args] = code  # which code that is depends on the flags, too
        return found

    BaseFunction.get_call_type = get_call_type  # type: ignore[method-assign]


with switches.attempt("overloads"):
    if switches.is_on("overloads"):
        _install()
