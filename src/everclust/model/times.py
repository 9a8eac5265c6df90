"""When samples happened, by the stream's own clock: from a sample's number to its time."""

from __future__ import annotations

import math
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

MAX_MARKS = 1_024  # pairs of sample and time that are saved, so that they are 0.2 % of the stream apart
MAX_RECENT = 2**20  # samples whose times are known exactly: 8 MB
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SampleTimes:
    """Times of samples in bounded memory: exact for recent ones, interpolated between marks for older ones.

    A mark is the time of a sample whose number is a multiple of the spacing, which doubles when there are too
    many. So marks depend on the samples alone, not on how they are cut into batches.

    Parameters
    ----------
    record : dict, optional
        What `record` returned.
    """

    def __init__(self, record: Any = None) -> None:
        self._spacing: int = 1
        self._marks: list[tuple[int, float]] = []
        self._ends: list[tuple[int, float]] = []  # the first sample and the last
        self._recent: deque[tuple[int, np.ndarray]] = deque()  # samples before, times
        if record is not None:
            self._spacing = record["spacing"]
            self._marks, self._ends = _checked(record["marks"]), _checked(record["ends"])
            if not isinstance(self._spacing, int) or self._spacing < 1 or len(self._ends) != 2:
                raise ValueError("invalid times of samples")

    def record(self) -> dict[str, Any]:
        """The marks as JSON."""
        return {
            "spacing": self._spacing,
            "marks": [list(mark) for mark in self._marks],
            "ends": [list(end) for end in self._ends],
        }

    def add(self, n_before: int, times: np.ndarray, *, is_recent: bool = True) -> None:
        """Add the times, in seconds since 1970, of the samples after the first `n_before`.

        If not `is_recent`, only marks are kept: of many models, the exact times would fill the memory.
        """
        if not len(times):
            return
        last = (n_before + len(times), float(times[-1]))
        self._ends = [self._ends[0] if self._ends else (n_before + 1, float(times[0])), last]
        self._mark(n_before, times)
        if is_recent:
            self._recent.append((n_before, times))
        while len(self._recent) > 1 and last[0] - self._recent[0][0] > MAX_RECENT:
            self._recent.popleft()

    def _mark(self, n_before: int, times: np.ndarray) -> None:
        first = self._spacing - n_before % self._spacing - 1
        new = range(first, len(times), self._spacing)
        while len(self._marks) + len(new) > MAX_MARKS:
            self._spacing *= 2
            self._marks = [mark for mark in self._marks if mark[0] % self._spacing == 0]
            new = range(self._spacing - n_before % self._spacing - 1, len(times), self._spacing)
        self._marks += [(n_before + 1 + k, float(times[k])) for k in new]

    def of(self, sample: int) -> float | None:
        """Time of a sample; None if it came without one."""
        for n_before, times in reversed(tuple(self._recent)):  # another thread may add meanwhile
            if n_before < sample <= n_before + len(times):
                return float(times[sample - n_before - 1])
        if not self._ends or not self._ends[0][0] <= sample <= self._ends[1][0]:
            return None
        samples, seconds = zip(*sorted({*self._ends, *self._marks}), strict=True)
        return float(np.interp(sample, samples, seconds))

    def text(self, sample: int) -> str | None:
        """Time of a sample as ISO 8601 in UTC."""
        time = self.of(sample)
        return None if time is None else iso(time)

    def copy(self) -> SampleTimes:
        """An independent copy."""
        twin = SampleTimes()
        twin._spacing, twin._marks, twin._ends = self._spacing, list(self._marks), list(self._ends)
        twin._recent = deque(self._recent)
        return twin


def iso(time: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC, such as 2026-11-18T01:30:00Z."""
    return (EPOCH + timedelta(seconds=time)).isoformat().replace("+00:00", "Z")


def _checked(pairs: Any) -> list[tuple[int, float]]:
    found = [(sample, float(time)) for sample, time in pairs]
    is_valid = all(isinstance(sample, int) and math.isfinite(time) for sample, time in found)
    if not is_valid or [sample for sample, _ in found] != sorted({sample for sample, _ in found}):
        raise ValueError("invalid times of samples")
    return found
