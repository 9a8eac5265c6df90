"""Events: clusters that are born, merge, split, are gone, quiet, back or revised, and one wording of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

MOST_NAMED = 5  # clusters in a sentence


class Event(NamedTuple):
    """An event in the life of a cluster.

    Parameters
    ----------
    sample : int
        Number of the sample at which it happened, counted from 1.
    kind : {"gone", "split", "merged", "born", "quiet", "back", "revised"}
        Within one sample, events come in this order. Clusters are revised when more samples show better how
        they divide, although these samples lie where those before did.
    before, after : tuple of int
        Ids of the clusters before and after. The one that keeps its id comes first.
    sizes : tuple of int
        Numbers of samples: of the parts of a split, of the clusters before a merger (the one that keeps its
        id first), the same of what is revised, or of the cluster that is born, gone, quiet or back.
    centre : tuple of float
        Mean of the samples of the cluster that keeps its id, is born, gone, quiet or back.

    Examples
    --------
    >>> from everclust import Event
    >>> print(Event(70, "split", (5,), (5, 101), (30, 12), (0.5, 0.1)))
    sample 70: 5 split into 5 and 101 (30 and 12 samples)
    """

    sample: int
    kind: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    sizes: tuple[int, ...]
    centre: tuple[float, ...]

    def __str__(self) -> str:
        return f"sample {self.sample:,}: {self.text}"

    @property
    def text(self) -> str:
        """The event in words, the same on the terminal, in logs and on the live page."""
        return "".join(map(str, self.words()))

    def words(self) -> list[int | str]:
        """The sentence in pieces; integers are ids of clusters.

        Returns
        -------
        words : list of int or str
        """
        happened: list[int | str]
        if self.kind not in ("split", "merged", "revised"):
            happened = [(self.after or self.before)[0], f" is {self.kind}"]
        else:
            happened = [*_listed(self.before), f" {self.kind} into ", *_listed(self.after)]
        sizes = "".join(map(str, _listed([f"{size:,}" for size in self.sizes])))
        return [*happened, f" ({sizes} {'sample' if self.sizes == (1,) else 'samples'})"]

    def to_dict(self) -> dict[str, Any]:
        """The event as plain JSON, with its sentence as `text`.

        Returns
        -------
        event : dict
        """
        return {
            "sample": int(self.sample),
            "kind": self.kind,
            "before": [int(k) for k in self.before],
            "after": [int(k) for k in self.after],
            "sizes": [int(n) for n in self.sizes],
            "centre": [float(x) for x in self.centre],
            "text": self.text,
        }


def _listed(items: Sequence[int | str]) -> list[int | str]:
    """`1, 2 and 3` in pieces; of many items, the first MOST_NAMED and how many more."""
    shown = list(items[:MOST_NAMED])
    if len(items) > MOST_NAMED:
        return [*_separated(shown), f" and {len(items) - MOST_NAMED} more"]
    return [*_separated(shown[:-1]), " and ", shown[-1]] if len(shown) > 1 else shown


def _separated(items: list[int | str]) -> list[int | str]:
    pieces: list[int | str] = []
    for item in items:
        pieces += [", ", item]
    return pieces[1:]
