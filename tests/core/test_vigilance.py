import math

import numpy as np
import pytest

from everclust.core import vigilance
from everclust.core.learn import learn
from everclust.core.state import new_state, scalars_of
from everclust.core.variants import PUBLISHED, WITHOUT_GROWTH, WITHOUT_SHRINKING, starting_at
from everclust.core.window import window_rows


@pytest.fixture
def decided(model, compiled):
    """(interval, ratio) decided on for a model with an interval, a window size and a cluster ratio."""

    def decide(n_stable, *, interval, n_window, ratio_now, ratio_before=0.0, variant=PUBLISHED):
        state = model(
            [[0], [1], [2]], interval=interval, window=np.zeros((n_window, 1)), cluster_ratio=ratio_before
        )
        return compiled(vigilance.next_interval)(state.scalars[0], n_stable, ratio_now, variant)

    return decide


def test_smooth(compiled):
    assert compiled(vigilance.smooth)(0.5, 1.0, 4) == 0.25 + 0.75 * 0.5


@pytest.mark.parametrize(
    ("end", "n_stable", "longest"),
    [
        # Λ = 4: the lengths probed are 5, 6 and 8.
        (8, 4, 4),
        (8, 5, 5),
        (8, 6, 6),
        (8, 7, 6),  # 8 fails, and 7 is not asked for
        (8, 8, 8),
        (7, 7, 7),  # capped at 7
        (7, 6, 6),
        (5, 5, 5),
        (8, 2, 4),  # without shrinking: the first probe fails
    ],
)
def test_longest_probe(end, n_stable, longest, compiled):
    assert compiled(vigilance.longest_probe)(4, end, n_stable) == longest


def test_shrinking_smooths_in_closed_form(decided):
    # w = (1 − 1/4)^(3 − 1) = 9/16: ρ' = 9/16 · 1/2 + 7/16 · 1 = 23/32.
    after = decided(3, interval=4, n_window=8, ratio_now=1.0, ratio_before=0.5)
    assert after == (3, pytest.approx(23 / 32, rel=1e-15))


@pytest.mark.parametrize("variant", [PUBLISHED, WITHOUT_GROWTH])
def test_two_coinciding_newest_samples_keep_everything(variant, decided):
    after = decided(1, interval=4, n_window=8, ratio_now=1.0, ratio_before=0.5, variant=variant)
    assert after == (vigilance.KEEP, 0.5)


def test_a_short_window_is_no_reason_to_shrink(decided):
    # Three samples, all stable, and an interval of 4: there is nothing to probe, so everything is kept.
    assert decided(3, interval=4, n_window=3, ratio_now=1.0)[0] == vigilance.KEEP
    assert decided(4, interval=4, n_window=4, ratio_now=1.0)[0] == vigilance.KEEP
    assert decided(2, interval=4, n_window=3, ratio_now=1.0)[0] == 2


@pytest.mark.parametrize(
    ("n_stable", "interval", "ratio"),
    [
        (4, 4, 1 / 2),  # no probe failed: smoothed once, c/2
        (3, 3, 1 / 3 + 2 / 3 * 1 / 2),  # 4 failed: c/2, then c/3 + 2/3 ρ
        (2, 2, 1 / 2 + 1 / 2 * 1 / 2),  # 3 failed: c/2, then c/2 + 1/2 ρ
    ],
)
def test_growing(n_stable, interval, ratio, decided):
    after = decided(n_stable, interval=2, n_window=4, ratio_now=1.0)
    assert after == (interval, pytest.approx(ratio, rel=1e-15))


def test_without_growth_the_interval_stays(decided):
    # w = (1 − 1/4)^3 = 27/64: ρ' = 37/64 · 1.
    after = decided(4, interval=4, n_window=8, ratio_now=1.0, variant=WITHOUT_GROWTH)
    assert after == (4, pytest.approx(37 / 64, rel=1e-15))


def test_without_shrinking_the_first_probe_fails(decided):
    # Smoothed twice with Λ = 4: 1/4, then 1/4 + 3/4 · 1/4 = 7/16.
    after = decided(1, interval=4, n_window=8, ratio_now=1.0, variant=WITHOUT_SHRINKING)
    assert after == (4, pytest.approx(7 / 16, rel=1e-15))


def test_the_first_recalibration_by_hand():
    # 0, 1, 3 are three nodes. σ of the first two is √(1/2); of the third √(42/9/2) ≈ 1.53, the largest.
    # Λ = 2, three samples are remembered and stable: Λ' = 3, with no probe failed. Three components of
    # three nodes: c = 1, ρ = 1/2. u is σ/(σ + 2) for the 3 and σ/(σ + 1) for the others: V is the median.
    state = learn(new_state(1), np.array([[0.0], [1.0], [3.0]]))
    scalars = scalars_of(state)
    sigma = math.sqrt(42 / 9 / 2)
    assert (scalars.interval, scalars.cluster_ratio, scalars.since_recalibration) == (3, 0.5, 0)
    assert scalars.vigilance == pytest.approx(sigma / (sigma + 1), rel=1e-14)


def test_samples_that_coincide_keep_the_interval_but_count_as_a_recalibration():
    state = new_state(1)
    since = []
    for x in [0.0, 1.0, 1.0, 1.0, 1.0]:
        state = learn(state, np.array([[x]]))
        since.append(int(scalars_of(state).since_recalibration))
    scalars = scalars_of(state)
    assert since == [1, 2, 0, 1, 0]  # due from the second sample on, but for that three nodes are needed
    assert (scalars.interval, scalars.vigilance, scalars.cluster_ratio) == (2, 0, 0)


def test_without_shrinking_all_of_an_unstable_interval_is_used():
    # 1, 2, 4, 4 with Λ = 4 and |W| = 5: the newest two coincide, yet V comes from all four newest: u = 1
    # for the two 4s. ρ = 7/16 · 1 as above; level 9/16, rank 1.75 of the four.
    variant = starting_at(4, WITHOUT_SHRINKING)
    state = new_state(1, variant)
    state = learn(state, np.array([[0.0], [1.0], [2.0], [4.0]]), variant)
    before = scalars_of(state).vigilance
    assert (scalars_of(state).interval, before) == (4, 0)  # |W| ≤ Λ keeps everything
    state.scalars["since_recalibration"] = 3
    state = learn(state, np.array([[4.0]]), variant)
    scalars = scalars_of(state)
    assert scalars.interval == 4
    assert scalars.cluster_ratio == pytest.approx(7 / 16)
    sigma = state.node["scale"][: scalars.n_nodes].max()
    u = [sigma / (sigma + 1), sigma / (sigma + 1), 1, 1]  # of 1, 2, 4 and 4
    assert scalars.vigilance == pytest.approx(np.quantile(u, 9 / 16, method="hazen"), rel=1e-14)


def test_the_window_is_trimmed_to_the_new_interval():
    # Eight distinct samples, then two pairs: the interval shrinks and the window with it.
    variant = starting_at(6)
    state = new_state(1, variant)
    for x in [0.0, 9.0, 3.0, 14.0, 5.0, 30.0, 7.0, 21.0, 2.0, 4.0, 5.0, 2.0]:
        state = learn(state, np.array([[x]]), variant)
    scalars = scalars_of(state)
    assert scalars.interval == 3  # 2, 5, 4; before them comes another 2
    assert window_rows(state).ravel().tolist() == [7.0, 21.0, 2.0, 4.0, 5.0, 2.0]
