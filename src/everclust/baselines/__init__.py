"""The algorithms that IDAT is compared with, each as a scikit-learn estimator.

Each is imported on first access, because some need optional packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cim.cae import CAE
    from .cim.caea import CAEA
    from .deep.g_ceals import GCEALS
    from .deep.tabledc import TableDC
    from .fuzzy_art.ddvfa import DDVFA
    from .fuzzy_art.tbm_p import TBMP
    from .neural_gas.gng import GNG
    from .neural_gas.soinn_plus import SOINNPlus
    from .possibilistic.sr_pcm_hdp import SRPCMHDP
    from .torque.torque_clustering import TorqueClustering

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
    "CAE": "cim.cae",
    "CAEA": "cim.caea",
    "DDVFA": "fuzzy_art.ddvfa",
    "GCEALS": "deep.g_ceals",
    "GNG": "neural_gas.gng",
    "SOINNPlus": "neural_gas.soinn_plus",
    "SRPCMHDP": "possibilistic.sr_pcm_hdp",
    "TBMP": "fuzzy_art.tbm_p",
    "TableDC": "deep.tabledc",
    "TorqueClustering": "torque.torque_clustering",
}


def __getattr__(name: str) -> Any:
    """Import the algorithm of that name."""
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
