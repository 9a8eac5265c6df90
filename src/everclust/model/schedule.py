"""When ids of hand-over clusters are updated: a function of what was learnt, never of how it was cut.

A read-out takes as long as learning some thousand samples, so there are few of them: at steps of a quarter of
the stream, up to 20,000 samples. In between, a cheap look at the youngest nodes calls for an update when a
cluster may be new, another one shows which clusters are quiet, and changes that wait to be told are looked at
again.
"""

from __future__ import annotations

from ..core.communities.levels import SHORTEST_PAUSE, last_answer, pause_after

FIRST_UPDATE = 8
CHECK_INTERVAL = 128  # samples between two looks at the youngest nodes, at least
MANY_NODES = 500
ABSENCE_INTERVAL = 1024  # and between two looks at absences
LONGEST_STEP = 2000  # samples between two looks at changes that wait, at most, where one of them asks for it


def is_answer(n_seen: int) -> bool:
    """Whether read-outs from here on are held to that of this sample."""
    return n_seen > 0 and last_answer(n_seen) == n_seen


def planned_update(n_seen: int) -> int:
    """The next update, unless something calls for an earlier one."""
    if n_seen < SHORTEST_PAUSE:
        return max(FIRST_UPDATE, min(n_seen + n_seen // 4, SHORTEST_PAUSE))
    last = last_answer(n_seen)
    return last + pause_after(last)


def earliest_update(n_seen: int) -> int:
    """The earliest next update for changes that wait: looks cost time."""
    return n_seen + min(max(n_seen // 8, SHORTEST_PAUSE), LONGEST_STEP)


def check_interval(n_nodes: int) -> int:
    """Samples between two looks at the youngest nodes; a look at many nodes takes longer."""
    return CHECK_INTERVAL * (1 if n_nodes < MANY_NODES else 2 if n_nodes < 2 * MANY_NODES else 4)


def next_check(n_seen: int, interval: int = CHECK_INTERVAL) -> int:
    """The next sample at which there may be a look at the youngest nodes."""
    return n_seen - n_seen % interval + interval
