"""When ids of hand-over clusters are updated: a function of what was learnt, never of how it was cut.

A read-out takes as long as learning some thousand samples, so there are few of them: at steps of a quarter of
the stream, up to 20,000 samples. In between, a cheap check of the youngest nodes calls for an update when a
cluster may be new, another one shows which clusters are quiet, and changes of clusters whose samples have
shifted are checked again.
"""

from __future__ import annotations

import numpy as np

from ...core.communities.levels import SHORTEST_PAUSE, last_answer, pause_after
from ...core.communities.newcomers import FEWEST_WINS
from ...core.layout import FEWEST, FIRST_YOUNG, NEVER, NEXT_PAUSE
from ...core.serialise import Arrays
from .waiting import check_pause

FIRST_UPDATE = 8
ABSENCE_INTERVAL = 1024  # and between two checks for absences


def is_answer(n_seen: int) -> bool:
    """Whether read-outs from here on are held to that of this sample."""
    return n_seen > 0 and last_answer(n_seen) == n_seen


def planned_update(n_seen: int) -> int:
    """The next update, unless something calls for an earlier one."""
    if n_seen < SHORTEST_PAUSE:
        return max(FIRST_UPDATE, min(n_seen + n_seen // 4, SHORTEST_PAUSE))
    last = last_answer(n_seen)
    return last + pause_after(last)


def next_update(n_seen: int, check: int | None) -> int:
    """The next update: that which is planned, or an earlier check of changes that wait.

    Checks cost time. So there are no more of them than one change asks for that was found now, and one
    shortly before a planned update waits for that.
    """
    planned, pause = planned_update(n_seen), check_pause(n_seen)
    if check is None or max(check, n_seen + pause) + pause // 2 > planned:
        return planned
    return max(check, n_seen + pause)


class Schedule:
    """The next update, and what learning is to pause for."""

    def __init__(self) -> None:
        self.next_update = FIRST_UPDATE
        self.first_young = NEVER  # birth of the first node that may belong to a new cluster
        self._next_young = NEVER  # the same from the next answer on
        self.watch = np.array([FIRST_UPDATE, NEVER, 0, FEWEST_WINS])

    def begin(self, n_seen: int, n_born: int) -> None:
        """Clusters that were found elsewhere are known from here on."""
        self.next_update = planned_update(n_seen)
        self.first_young = self._next_young = n_born

    def plan(self, n_seen: int, check: int | None, n_born: int | None) -> None:
        """Plan the next update. Without newcomers, the nodes born from the latest answer but one on are
        young: a new cluster may have begun shortly before an answer."""
        self.next_update = next_update(n_seen, check)
        if is_answer(n_seen) and n_born is not None:
            self.first_young, self._next_young = min(self._next_young, n_born), n_born

    def set_watch(self, n_seen: int, fewest_wins: int) -> None:
        """Let learning pause at the next update or check for absences, and for large enough newcomers."""
        self.watch[NEXT_PAUSE] = min(self.next_update, n_seen - n_seen % ABSENCE_INTERVAL + ABSENCE_INTERVAL)
        self.watch[FIRST_YOUNG] = self.first_young
        self.watch[FEWEST] = fewest_wins

    def export(self) -> Arrays:
        """All of it, as a plain array."""
        return {"community_schedule": np.array([self.next_update, self.first_young, self._next_young])}

    def restore(self, arrays: Arrays, fewest_wins: int) -> None:
        """Take over what `export` wrote."""
        self.next_update, self.first_young, self._next_young = arrays["community_schedule"].tolist()
        self.watch[:] = 0, self.first_young, 0, fewest_wins  # the next step sets the first
