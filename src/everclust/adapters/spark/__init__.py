"""everclust on Apache Spark: one model of a large table or of a stream, or one model for each key.

Functions that run on executors import everclust there, so that it must be installed on every machine.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names
from ...optional import require

require("pyspark.sql", extra="spark", purpose="everclust.adapters.spark")

if TYPE_CHECKING:
    from .learning import fit
    from .micro_batches import fit_stream
    from .ml import EverClustEstimator, EverClustModel
    from .model_bytes import from_bytes, to_bytes
    from .per_key import learn_per_key, read_models
    from .scoring import predict

__all__ = [
    "EverClustEstimator",
    "EverClustModel",
    "fit",
    "fit_stream",
    "from_bytes",
    "learn_per_key",
    "predict",
    "read_models",
    "to_bytes",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "EverClustEstimator": "ml",
        "EverClustModel": "ml",
        "fit": "learning",
        "fit_stream": "micro_batches",
        "from_bytes": "model_bytes",
        "learn_per_key": "per_key",
        "predict": "scoring",
        "read_models": "per_key",
        "to_bytes": "model_bytes",
    },
)
