"""How something has developed, in bounded memory and over any length of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST_POINTS = 1_200


def every_second(k: int, values: list[Any]) -> bool:
    """Histories become coarser the older they are."""
    return k % 2 == 0


class Trace:
    """Points in order. When there are too many, only some of the older half are kept.

    Parameters
    ----------
    keeps : callable
        Is an old point to be kept? Asked with its place and its values.
    most : int
        Points to keep.
    """

    def __init__(
        self, keeps: Callable[[int, list[Any]], bool] = every_second, most: int = MOST_POINTS
    ) -> None:
        self._keeps, self._most = keeps, most
        self._points: list[tuple[int, list[Any]]] = []
        self._n_added = 0

    def add(self, values: list[Any]) -> None:
        """Write down one more point."""
        self._n_added += 1
        self._points.append((self._n_added, values))
        if len(self._points) > self._most:
            half = self._most // 2
            old = [point for k, point in enumerate(self._points[:half]) if self._keeps(k, point[1])]
            self._points = old[-(half // 2 + 1) :] + self._points[half:]

    def since(self, number: int) -> tuple[int, list[list[Any]]]:
        """(number of the latest point, the points after the given number)."""
        points = list(self._points)  # another thread may add meanwhile
        last = points[-1][0] if points else 0
        return last, [values for k, values in points if k > number]
