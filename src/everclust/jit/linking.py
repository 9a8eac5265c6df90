"""Optimise a part of a kernel, and make machine code of it, once: when the kernel is complete.

numba by itself does so with every function, although only the copy in the kernel ever runs, and again at
every level of calls above it. Here parts keep unoptimised IR until a kernel links them, and skip compiler
passes for features that no part uses (closures, `with`, array expressions, literal unrolling).
"""

from typing import Any

from . import switches


def part_options() -> dict[str, Any]:
    """Options for `njit`."""
    # Without SIMD types the parts need the passes that are skipped here.
    if switches.is_on("linking") and switches.is_on("simd"):
        with switches.attempt("linking"):
            from .part_compiler import PartCompiler

            return {"pipeline_class": PartCompiler}
    return {}
