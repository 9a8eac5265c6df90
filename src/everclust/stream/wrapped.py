"""What sources around another source have in common: they only change how its batches come."""

from __future__ import annotations

from .batch import Position, Source


class WrappedSource:
    """Passes everything but `batches` on to another source.

    Parameters
    ----------
    source : Source
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.named, self.endless = source.named, source.endless
        self.wants_checkpoint = source.wants_checkpoint
        self.outage = getattr(source, "outage", None)

    def acknowledge(self, position: Position) -> None:
        """Acknowledge everything up to a position."""
        self._source.acknowledge(position)
        self.wants_checkpoint = self._source.wants_checkpoint

    def fraction(self, position: Position) -> float | None:
        """Share of the source that lies before a position."""
        return self._source.fraction(position)

    def lag(self) -> dict[str, int]:
        """How much of the source was not read yet."""
        return self._source.lag()

    def close(self) -> None:
        """Close files and connections."""
        self._source.close()
