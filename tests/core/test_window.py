import numpy as np
import pytest

from everclust.core.state import new_state, scalars_of
from everclust.core.window import remember, window_rows


@pytest.mark.parametrize("n", [1, 4, 6, 70])  # 70 runs over the seam of the ring, which has 64 rows
def test_the_newest_two_intervals_are_kept(n, compiled):
    state = new_state(1)
    assert len(state.window) == 64
    for i in range(n):
        compiled(remember)(state, np.array([float(i)]))
    assert window_rows(state).ravel().tolist() == list(range(max(0, n - 4), n))
    assert scalars_of(state).window_size == min(n, 4)


def test_a_longer_interval_remembers_more(compiled):
    state = new_state(1)
    for i in range(10):
        if i == 6:
            scalars_of(state).interval = 4
        compiled(remember)(state, np.array([float(i)]))
    # Four were left of the first six; the window then fills up to eight.
    assert window_rows(state).ravel().tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
