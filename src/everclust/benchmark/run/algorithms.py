"""Registers IDAT, the variants of its ablation, EverClust, the paper's baselines, and the references."""

from __future__ import annotations

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
from ...estimators.everclust import EverClust
from ...estimators.idat import IDAT
from ...estimators.incremental import IncrementalClusterer
from .baselines import register_baselines
from .references import register_references
from .registry import Algorithm, register
from .streams import register_streams


class _Variant(IDAT):
    """IDAT with other rules than the published ones."""

    def save(self, path: str | Path) -> None:
        """Refuse to save: a file does not record the variant, so a loaded model would learn as plain IDAT."""
        raise NotImplementedError("Variants of IDAT exist for the benchmark only and cannot be saved.")


def _make_idat(params: dict[str, Any], seed: int) -> IDAT:
    """IDAT draws no random numbers; only the order of the stream depends on the seed."""
    return IDAT(**params)


def _make_variant(variant: Variant, params: dict[str, Any], seed: int) -> IDAT:
    return type("IDATVariant", (_Variant,), {"_variant": variant})(**params)


def _count_candidates(model: IncrementalClusterer) -> tuple[int, int]:
    """Count the nodes that are prediction candidates, and the clusters."""
    return len(model.snapshot().candidates.node), model.n_clusters_


def _register_variants() -> None:
    variants = {
        ("idat", "IDAT"): PUBLISHED,
        ("idat-without-growth", "w/o Inc"): WITHOUT_GROWTH,
        ("idat-without-shrinking", "w/o Dec"): WITHOUT_SHRINKING,
        ("idat-without-both", "w/o All"): WITHOUT_BOTH,
    }
    for (name, title), variant in variants.items():
        for first, suffix in ((2, ""), (500, "-500")):
            if (variant, first) == (PUBLISHED, 2):
                continue
            make = partial(_make_variant, starting_at(first, variant))
            column = f"{title} ({first})"
            register(Algorithm(name + suffix, column, make, _count_candidates, True, kind="ablation"))


def _register_extensions() -> None:
    for name, title, metric in (
        ("everclust", "EverClust", "capped"),
        ("everclust-euclidean", "EverClust, Euclidean", "euclidean"),
    ):
        make = partial(_make_everclust, metric)
        register(Algorithm(name, title, make, _count_candidates, incremental=True, kind="extensions"))


def _make_everclust(metric: str, params: dict[str, Any], seed: int) -> EverClust:
    return EverClust(**{"metric": metric} | params)


register(Algorithm("idat", "IDAT", _make_idat, _count_candidates, incremental=True))
_register_extensions()
_register_variants()
register_baselines()
register_references()
register_streams()
