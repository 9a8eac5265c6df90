"""When ids of hand-over clusters are updated: a function of what was learnt, never of how it was cut.

A read-out takes as long as learning some thousand samples, so there are few of them: at steps of a quarter of
the stream, up to 20,000 samples. In between, a cheap look at the youngest nodes calls for an update when a
cluster may be new, another one shows which clusters are quiet, and changes of clusters whose samples have
shifted are looked at again.
"""

from __future__ import annotations

from ..core.communities.levels import SHORTEST_PAUSE, last_answer, pause_after
from .waiting import look_pause

FIRST_UPDATE = 8
ABSENCE_INTERVAL = 1024  # and between two looks at absences


def is_answer(n_seen: int) -> bool:
    """Whether read-outs from here on are held to that of this sample."""
    return n_seen > 0 and last_answer(n_seen) == n_seen


def planned_update(n_seen: int) -> int:
    """The next update, unless something calls for an earlier one."""
    if n_seen < SHORTEST_PAUSE:
        return max(FIRST_UPDATE, min(n_seen + n_seen // 4, SHORTEST_PAUSE))
    last = last_answer(n_seen)
    return last + pause_after(last)


def next_update(n_seen: int, look: int | None) -> int:
    """The next update: that which is planned, or an earlier look at changes that wait.

    Looks cost time. So there are no more of them than one change asks for that was found now, and one shortly
    before a planned update waits for that.
    """
    planned, pause = planned_update(n_seen), look_pause(n_seen)
    if look is None or max(look, n_seen + pause) + pause // 2 > planned:
        return planned
    return max(look, n_seen + pause)
