"""IDAT, the variants of its ablation and the additions to it, and the paper's other algorithms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ...core.variants import (
    PUBLISHED,
    WITHOUT_BOTH,
    WITHOUT_GROWTH,
    WITHOUT_SHRINKING,
    Variant,
    starting_at,
)
from ...estimators.idat import IDAT
from .baselines import register_baselines
from .registry import Algorithm, register


class _Variant(IDAT):
    """IDAT in another reading."""

    def save(self, path: str | Path) -> None:
        """Refuse: a file holds no reading, so that it would go on learning as another algorithm."""
        raise NotImplementedError("Variants of IDAT exist for the benchmark only and cannot be saved.")


def _make_idat(params: dict[str, Any], seed: int) -> IDAT:
    """IDAT draws nothing at random; it is the stream that depends on the seed."""
    return IDAT(**params)


def _make_variant(reading: Variant, params: dict[str, Any], seed: int) -> IDAT:
    return type("IDATVariant", (_Variant,), {"_variant": reading})(**params)


def _count_candidates(model: IDAT) -> tuple[int, int]:
    """Nodes that take part in the answer, and clusters."""
    return len(model.snapshot().candidates.node), model.n_clusters_


def _register_variants() -> None:
    readings = {
        ("idat", "IDAT"): PUBLISHED,
        ("idat-without-growth", "w/o Inc"): WITHOUT_GROWTH,
        ("idat-without-shrinking", "w/o Dec"): WITHOUT_SHRINKING,
        ("idat-without-both", "w/o All"): WITHOUT_BOTH,
    }
    for (name, title), reading in readings.items():
        for first, suffix in ((2, ""), (500, "-500")):
            if (reading, first) == (PUBLISHED, 2):
                continue
            make = partial(_make_variant, starting_at(first, reading))
            title_of_column = f"{title} ({first})"
            register(
                Algorithm(name + suffix, title_of_column, make, _count_candidates, True, kind="ablation")
            )


def _register_additions() -> None:
    """Hand-over clusters."""
    for name, title, modes in (
        ("idat-handover", "Hand-over", {"clusters": "handover"}),
        ("idat-handover-capped", "Hand-over, capped", {"clusters": "handover", "metric": "capped"}),
    ):
        make = partial(_make_in_modes, _make_idat, modes)
        register(Algorithm(name, title, make, _count_candidates, True, kind="beyond"))


def _make_in_modes(
    make: Callable[..., IDAT], modes: dict[str, str], params: dict[str, Any], seed: int
) -> IDAT:
    return make(modes | params, seed)


register(Algorithm("idat", "IDAT", _make_idat, _count_candidates, incremental=True))
_register_additions()
_register_variants()
register_baselines()
