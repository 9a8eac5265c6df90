"""A page that shows a model while it learns."""

from .page import LivePage, live

__all__ = ["LivePage", "live"]
