"""everclust: clustering of data that keeps arriving, without a parameter to tune."""

from typing import TYPE_CHECKING

from .lazy import lazy_names
from .version import __version__

if TYPE_CHECKING:
    from .estimators.algorithms import load
    from .estimators.everclust import EverClust
    from .estimators.idat import IDAT
    from .estimators.merging import PairCounts, count_pairs, merge, recount
    from .feed import learn
    from .history import History
    from .live_page.page import live
    from .many_models.model_set import ModelSet
    from .model.events import Event
    from .model.snapshot import Snapshot
    from .view.curves import HistoryDisplay
    from .view.plots import TopologyDisplay
    from .view.timeline import StreamDisplay

__all__ = [
    "IDAT",
    "Event",
    "EverClust",
    "History",
    "HistoryDisplay",
    "ModelSet",
    "PairCounts",
    "Snapshot",
    "StreamDisplay",
    "TopologyDisplay",
    "__version__",
    "count_pairs",
    "learn",
    "live",
    "load",
    "merge",
    "recount",
]

# NumPy, numba and scikit-learn take seconds to import, which `everclust --help` must not wait for.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "IDAT": "estimators.idat",
        "Event": "model.events",
        "EverClust": "estimators.everclust",
        "History": "history",
        "HistoryDisplay": "view.curves",
        "ModelSet": "many_models.model_set",
        "PairCounts": "estimators.merging",
        "Snapshot": "model.snapshot",
        "StreamDisplay": "view.timeline",
        "TopologyDisplay": "view.plots",
        "count_pairs": "estimators.merging",
        "learn": "feed",
        "live": "live_page.page",
        "load": "estimators.algorithms",
        "merge": "estimators.merging",
        "recount": "estimators.merging",
    },
)
