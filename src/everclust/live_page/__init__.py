"""A page that shows a model while it learns.

A subpackage called `live` would hide the public function `everclust.live`.
"""

from .page import LivePage, live

__all__ = ["LivePage", "live"]
