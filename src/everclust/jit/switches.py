"""Which of the tricks in this folder are in use. README.md says what each of them buys and forbids.

Every trick rests on something that numba does not promise. On any surprise (a version of numba that was not
tried, a private name that is missing) a trick is off, and plain `njit` takes over: slower, with the same
results.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from numba import version_info

TRICKS = ("cache", "direct", "linking", "nrt", "overloads", "prefetch", "reference", "simd")
TRIED = ((0, 60), (0, 68))  # the first and the last version of numba in which the tests passed

_reasons: dict[str, str] = {}
_log = logging.getLogger("everclust.jit")


def is_on(trick: str) -> bool:
    """Whether a trick is in use."""
    return trick not in _reasons


def reasons() -> dict[str, str]:
    """The tricks that are off, and why."""
    return dict(_reasons)


def switch_off(trick: str, reason: str) -> None:
    """Do without a trick from here on."""
    if trick not in TRICKS:
        raise ValueError(f"EVERCLUST_JIT_OFF names {trick!r}; choose from {', '.join(TRICKS)}, all.")
    _reasons.setdefault(trick, reason)
    _log.info("Kernels are compiled without %s (%s): slower, with the same results.", trick, reason)


@contextmanager
def attempt(trick: str) -> Iterator[None]:
    """Set a trick up; any error switches it off."""
    try:
        yield
    except Exception as error:
        switch_off(trick, f"{type(error).__name__}: {error}")


def read_environment(version: tuple[int, int] = version_info.short) -> None:
    """Switch off what EVERCLUST_JIT_OFF names, and everything in a version of numba that was not tried."""
    named = os.environ.get("EVERCLUST_JIT_OFF", "").replace(",", " ").split()
    for trick in TRICKS if "all" in named else named:
        switch_off(trick, "EVERCLUST_JIT_OFF")
    earliest, latest = TRIED
    if not earliest <= version <= latest:
        for trick in TRICKS:
            switch_off(trick, f"numba {version[0]}.{version[1]} was not tried")


read_environment()
