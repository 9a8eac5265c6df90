"""everclust: clustering of data that keeps arriving, without a parameter to tune."""

from typing import TYPE_CHECKING, Any

from .estimators.idat import IDAT, load
from .feed import learn
from .history import History
from .model.events import Event
from .model.snapshot import Snapshot
from .version import __version__

if TYPE_CHECKING:
    from .live_page import live
    from .view import HistoryDisplay, TopologyDisplay

__all__ = [
    "IDAT",
    "Event",
    "History",
    "HistoryDisplay",
    "Snapshot",
    "TopologyDisplay",
    "__version__",
    "learn",
    "live",
    "load",
]

_PLOTS = ("HistoryDisplay", "TopologyDisplay")


def __getattr__(name: str) -> Any:
    """The plots and the live page are imported when they are first asked for."""
    if name in _PLOTS:
        from . import view

        return getattr(view, name)
    if name == "live":
        from .live_page import live

        return live
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLOTS, "live"})
