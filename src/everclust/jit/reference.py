"""A tuple of arrays handed on by reference.

Compiled functions hand over a tuple number by number: two hundred of them for the state, at every call. That
takes time when they run, and more when they are compiled. A kernel that begins with `refer` hands on a single
number, the address of the tuple in its own memory; fields are read by name as before. Without the trick, or
where nothing is compiled, the tuple itself is handed on.

A reference keeps nothing alive. Take one only to arrays that are held further up, or views of these.
"""

from numba.extending import register_jitable

from . import switches


def refer(whole):
    """A reference to a named tuple."""
    return whole


if switches.is_on("reference"):
    with switches.attempt("reference"):
        from . import reference_types as reference_types
if not switches.is_on("reference"):
    register_jitable(refer)
