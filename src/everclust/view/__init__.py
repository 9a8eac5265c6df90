"""Pictures of models. matplotlib is imported when something is drawn."""

from .curves import HistoryDisplay
from .plots import TopologyDisplay

__all__ = ["HistoryDisplay", "TopologyDisplay"]
