"""What models are compared by."""

from typing import Any

from everclust import IDAT, EverClust


def learnt(model: IDAT | EverClust) -> tuple[dict[str, Any], dict[str, tuple[str, tuple[int, ...], bytes]]]:
    """All that a model knows, to the bit."""
    scalars, arrays = model._learner.export()
    return scalars, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}
