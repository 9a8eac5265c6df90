"""Variants of the algorithm: the published one, those of the paper's ablation study, and additions.

`IDAT()` uses PUBLISHED, `EverClust()` uses REFINED, capped or not. The others exist for the paper's ablation
study, tests and studies.
"""

from typing import NamedTuple

UNBOUNDED = 2**62


class Variant(NamedTuple):
    """What differs between variants."""

    first_interval: int = 2
    printed_evidence: bool = False  # count evidence in every Case III, as Algorithm 2 prints it
    grows: bool = True  # the interval may grow
    shrinks: bool = True  # the interval may shrink
    recalibrates: bool = True
    capped: bool = False  # the metric: no feature weighs more than the median one, or a few of it
    refines: bool = False  # nodes are finer where clusters are many: see resolution.py
    max_nodes: int = UNBOUNDED  # more are evicted


PUBLISHED = Variant()
PRINTED_EVIDENCE = Variant(printed_evidence=True)
WITHOUT_GROWTH = Variant(grows=False)
WITHOUT_SHRINKING = Variant(shrinks=False)
WITHOUT_BOTH = Variant(recalibrates=False)
CAPPED = Variant(capped=True)
REFINED = Variant(refines=True)


def starting_at(first_interval: int, variant: Variant = PUBLISHED) -> Variant:
    """The same variant with another first interval (the paper's ablation uses 2 and 500)."""
    if first_interval < 2:
        raise ValueError(f"The first interval is {first_interval}, but it must be at least 2 samples.")
    return variant._replace(first_interval=first_interval)
