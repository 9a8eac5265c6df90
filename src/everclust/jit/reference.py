"""A tuple of arrays handed on by reference.

Compiled functions hand over a tuple number by number: two hundred of them for the state, at every call. That
takes time when they run, and more when they are compiled. A kernel that begins with `refer` hands on a single
number, the address of the tuple in its own memory; fields are read by name as before. Without the trick, or
where nothing is compiled, the tuple itself is handed on.

A reference keeps nothing alive. Take one only to arrays that are held further up, or views of these.
"""

from typing import Any

#: Named tuples -> the fields that are lists of integers.
LISTS: dict[type, tuple[str, ...]] = {}


def refer(whole):
    """A reference to a named tuple."""
    return whole


def declare_lists(whole: type, *fields: str) -> None:
    """Say which integer arrays of a named tuple are used entry by entry only: these compile in less time."""
    LISTS[whole] = fields


def write_down(whole, memory):
    """Write into an array of bytes what kernels know of the arrays of a named tuple: for kernels only."""
    raise NotImplementedError


def size_written(whole):
    """Bytes that `write_down` needs: for kernels only."""
    raise NotImplementedError


class Held:
    """A named tuple of arrays, and a description of it in the layout of kernels: see holding.py."""

    __slots__ = "_description", "address", "whole"

    def __init__(self, whole: Any, description: Any) -> None:
        self.whole = whole  # keeps the arrays alive
        self._description = description
        self.address = description.ctypes.data
