"""A list of points in bounded memory, over a stream of any length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MAX_POINTS = 1_200


def every_second(k: int, values: list[Any]) -> bool:
    """Retain every second point, so that a history is coarser the older it is."""
    return k % 2 == 0


class Trace:
    """Points in order. When there are too many, the older half is thinned.

    Parameters
    ----------
    retains : callable
        Called with the index and the values of an old point; True retains it.
    max_points : int
    """

    def __init__(
        self, retains: Callable[[int, list[Any]], bool] = every_second, max_points: int = MAX_POINTS
    ) -> None:
        self._retains, self._max_points = retains, max_points
        self._points: list[tuple[int, list[Any]]] = []
        self._n_added = 0

    def add(self, values: list[Any]) -> None:
        """Append a point."""
        self._n_added += 1
        self._points.append((self._n_added, values))
        if len(self._points) > self._max_points:
            half = self._max_points // 2
            old = [point for k, point in enumerate(self._points[:half]) if self._retains(k, point[1])]
            self._points = old[-(half // 2 + 1) :] + self._points[half:]

    def since(self, number: int) -> tuple[int, list[list[Any]]]:
        """(number of the last point, the points after the given number)."""
        points = list(self._points)  # another thread may add meanwhile
        last = points[-1][0] if points else 0
        return last, [values for k, values in points if k > number]
