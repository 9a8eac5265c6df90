import math

import numpy as np
import pytest

from everclust.core.spread import (
    SCALE_FLOOR,
    give_scale,
    largest_product,
    observe,
    present_scale,
    widest_in_metric,
    widest_scale,
)
from everclust.core.state import new_state, scalars_of


@pytest.fixture
def seen(compiled):
    """A state that has observed these samples, the last of them being the current one."""

    def build(*samples):
        state = new_state(len(samples[0]))
        for i, x in enumerate(samples):
            scalars_of(state).n_seen = i
            compiled(observe)(state, np.array(x, float))
        return state

    return build


def test_running_mean_and_squares(seen):
    # Feature 0: 1, 3, 8 has mean 4 and squared deviations 9 + 1 + 16. Feature 1 never changes.
    state = seen((1, 5), (3, 5), (8, 5))
    assert state.mean.tolist() == [4, 5]
    assert state.square_sum.tolist() == [26, 0]


def test_scale_is_the_largest_standard_deviation(seen, compiled):
    state = seen((1, 5), (3, 5), (8, 5))
    assert compiled(present_scale)(state) == math.sqrt(26 / 2)


@pytest.mark.parametrize("d", [1, 7, 8, 9, 16, 40])
def test_the_largest_product_wherever_it_is(d, compiled):
    rng = np.random.default_rng(d)
    a, b = rng.random((2, d))
    for where in range(d):
        a[where], before = 3.0, a[where]
        b[where], b_before = 2.0, b[where]
        assert compiled(largest_product)(a, b) == 6
        a[where], b[where] = before, b_before
    assert compiled(largest_product)(a, b) == (a * b).max()
    assert compiled(largest_product)(np.zeros(d), b) == 0


def test_scale_of_one_sample_is_the_floor(seen, compiled):
    assert compiled(present_scale)(seen((1e9,))) == SCALE_FLOOR == 1e-6


@pytest.mark.parametrize(("apart", "scale"), [(0.0, 1e-6), (1e-6, 1e-6), (1e-5, 1e-5 / math.sqrt(2))])
def test_scale_is_floored(apart, scale, seen, compiled):
    # Two samples have a standard deviation of their distance over √2.
    assert compiled(present_scale)(seen((0,), (apart,))) == pytest.approx(scale, rel=1e-14)


def test_widest_scale_is_kept_up_to_date(model, compiled):
    # Two samples −3 and 3: M2 = 18, so the present scale is √18 ≈ 4.2 when the second is current.
    state = model([[0], [1], [2]], scale=[5, 4, 1], square_sum=[18], n_seen=1)
    assert compiled(widest_scale)(state) == 5
    compiled(give_scale)(state, 1)
    assert state.node["scale"][1] == math.sqrt(18)
    assert scalars_of(state).widest == 5  # another node still holds it
    compiled(give_scale)(state, 0)
    assert scalars_of(state).widest < 0  # its holder has shrunk: it must be computed again
    assert compiled(widest_scale)(state) == math.sqrt(18)
    state.square_sum[:] = 50
    compiled(give_scale)(state, 2)
    assert scalars_of(state).widest == math.sqrt(50)  # a new record needs no looking up


def test_a_scale_from_before_its_feature_was_weighed_down_tells_nothing(model, compiled):
    # M2 = 255·4 of 256 samples: the stream has the scale 2.
    state = model([[0], [1], [2]], scale=[1, 4, 2], square_sum=[1020], n_seen=256)
    assert compiled(widest_in_metric)(state) == 4  # not more than twice as wide
    state.node["scale"][1] = scalars_of(state).widest = 4.5
    assert compiled(widest_in_metric)(state) == 2
    assert compiled(widest_scale)(state) == 4.5
    scalars_of(state).n_seen = 255  # weights may not have settled
    assert compiled(widest_in_metric)(state) == 4.5
