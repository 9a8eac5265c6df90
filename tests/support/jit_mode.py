"""Whether numba is switched off: slow, but only then coverage sees every line."""

import numba

PLAIN = bool(numba.config.DISABLE_JIT)
