"""In which order the samples come."""

import numpy as np
import pytest

from everclust.benchmark.run.settings import SETTINGS, class_incremental, setting_called, stationary

Y = np.array([2, 0, 1, 0, 2, 1, 0, 2, 2, 1, 0, 1])
X = np.arange(24.0).reshape(12, 2)


def test_stationary_is_a_permutation_that_the_seed_decides():
    order = stationary(X, Y, 1)
    assert sorted(order) == list(range(12))
    assert (order == np.random.RandomState(1).permutation(12)).all()
    assert (order == stationary(X, Y, 1)).all()
    assert (order != stationary(X, Y, 2)).any()


@pytest.mark.parametrize("reshuffle", [False, True])
def test_every_step_is_one_class_and_together_they_are_all_rows(reshuffle):
    steps = class_incremental(X, Y, 4, reshuffle_within_class=reshuffle)
    assert sorted(np.concatenate(steps)) == list(range(12))
    assert [len(np.unique(Y[step])) for step in steps] == [1, 1, 1]


def test_the_order_within_a_class_is_the_same_in_all_runs():
    by_class = [{Y[step[0]]: step.tolist() for step in class_incremental(X, Y, seed)} for seed in range(1, 9)]
    assert all(steps == by_class[0] for steps in by_class)
    other = {Y[step[0]]: step.tolist() for step in class_incremental(X, Y, 1, within_seed=1)}
    assert other != by_class[0]


def test_within_class_orders_are_drawn_in_ascending_order_of_the_labels():
    random = np.random.RandomState(0)
    drawn = {label: random.permutation(np.flatnonzero(label == Y)).tolist() for label in (0, 1, 2)}
    assert {Y[step[0]]: step.tolist() for step in class_incremental(X, Y, 7)} == drawn


def test_the_order_of_the_classes_depends_on_the_seed_alone():
    for seed in range(1, 9):
        learnt = np.random.RandomState(seed).permutation(3).tolist()
        assert [Y[step[0]] for step in class_incremental(X, Y, seed)] == learnt
        assert [Y[step[0]] for step in class_incremental(X, Y, seed, within_seed=3)] == learnt
        assert [Y[step[0]] for step in class_incremental(X, Y, seed, reshuffle_within_class=True)] == learnt


def test_two_classes_give_two_different_runs():
    y = Y % 2
    runs = {tuple(np.concatenate(class_incremental(X, y, seed))) for seed in range(1, 31)}
    assert len(runs) == 2


def test_reshuffled_streams_are_those_of_the_golden_traces():
    random = np.random.RandomState(5)
    expected = [random.permutation(np.flatnonzero(c == Y)) for c in random.permutation(np.unique(Y))]
    for step, rows in zip(class_incremental(X, Y, 5, reshuffle_within_class=True), expected, strict=True):
        assert (step == rows).all()


def test_settings_by_name():
    assert [setting_called(name) for name in SETTINGS] == list(SETTINGS)
    assert setting_called("class-incremental") == "nonstationary"
    with pytest.raises(
        ValueError, match="no setting called 'drifting'; choose from stationary, nonstationary"
    ):
        setting_called("drifting")
