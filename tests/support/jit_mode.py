"""Is everything interpreted? Slow, but only then coverage can be seen."""

import numba

PLAIN = bool(numba.config.DISABLE_JIT)
