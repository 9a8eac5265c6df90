"""How kernels are compiled: everything that rests on what numba does not promise. See README.md."""

from . import extensions as extensions
