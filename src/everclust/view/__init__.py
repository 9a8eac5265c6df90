"""Plots of models. matplotlib is imported only when something is drawn."""

from .curves import HistoryDisplay
from .plots import TopologyDisplay

__all__ = ["HistoryDisplay", "TopologyDisplay"]
