"""The algorithms that IDAT is compared with, each as a scikit-learn estimator.

They are imported when they are first asked for: some need packages that the others do not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cae import CAE
    from .caea import CAEA
    from .ddvfa import DDVFA
    from .g_ceals import GCEALS
    from .gng import GNG
    from .soinn_plus import SOINNPlus
    from .sr_pcm_hdp import SRPCMHDP
    from .tabledc import TableDC
    from .tbm_p import TBMP
    from .torque_clustering import TorqueClustering

__all__ = [
    "CAE",
    "CAEA",
    "DDVFA",
    "GCEALS",
    "GNG",
    "SRPCMHDP",
    "TBMP",
    "SOINNPlus",
    "TableDC",
    "TorqueClustering",
]

_MODULES = {
    "CAE": "cae",
    "CAEA": "caea",
    "DDVFA": "ddvfa",
    "GCEALS": "g_ceals",
    "GNG": "gng",
    "SOINNPlus": "soinn_plus",
    "SRPCMHDP": "sr_pcm_hdp",
    "TBMP": "tbm_p",
    "TableDC": "tabledc",
    "TorqueClustering": "torque_clustering",
}


def __getattr__(name: str) -> Any:
    """The algorithm of that name, imported now."""
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
