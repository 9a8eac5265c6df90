"""A page that shows a model while it learns."""

from .show import LivePage, live

__all__ = ["LivePage", "live"]
