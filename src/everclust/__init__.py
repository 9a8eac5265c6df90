"""everclust: clustering of data that keeps arriving, without a parameter to tune."""

from .estimator import IDAT, load
from .version import __version__

__all__ = ["IDAT", "__version__", "load"]
