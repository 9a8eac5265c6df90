"""Signals wait while a kernel returns several arrays.

numba then calls Python to make a tuple of them. There, the handler of Ctrl-C may raise, which numba does not
check: the process crashes, or a SystemError takes the place of KeyboardInterrupt.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM when the block is done, not within."""
    if threading.current_thread() is not threading.main_thread():  # handlers run in that one only
        yield
        return
    handlers = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}
    arrived: dict[int, Any] = {}  # frames
    try:
        for number in handlers:
            signal.signal(number, arrived.__setitem__)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, handler in handlers.items():
            if number in arrived:
                handler(number, arrived[number])
