"""Plots of models. matplotlib is imported only when something is drawn."""

from .curves import HistoryDisplay
from .plots import TopologyDisplay
from .timeline import StreamDisplay

__all__ = ["HistoryDisplay", "StreamDisplay", "TopologyDisplay"]
