"""Named readings of the paper, and the variants of its ablation study.

`IDAT()` always uses PUBLISHED. The others exist for the benchmark and for curious readers.
"""

from typing import NamedTuple


class Reading(NamedTuple):
    """How to read the paper where it can be read in more than one way."""

    first_interval: int = 2
    printed_evidence: bool = False  # count evidence in every Case III, as Algorithm 2 prints it
    grows: bool = True  # the interval may grow
    shrinks: bool = True  # the interval may shrink
    recalibrates: bool = True


PUBLISHED = Reading()
PRINTED_EVIDENCE = Reading(printed_evidence=True)
WITHOUT_GROWTH = Reading(grows=False)
WITHOUT_SHRINKING = Reading(shrinks=False)
WITHOUT_BOTH = Reading(recalibrates=False)


def starting_at(first_interval: int, reading: Reading = PUBLISHED) -> Reading:
    """The same reading with another first interval (the paper's ablation uses 2 and 500)."""
    if first_interval < 2:
        raise ValueError(f"The first interval is {first_interval}, but it must be at least 2 samples.")
    return reading._replace(first_interval=first_interval)
