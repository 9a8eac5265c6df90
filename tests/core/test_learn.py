import numpy as np
import pytest

from everclust.core.layout import FOUND_AT, NEVER, NEXT_PAUSE
from everclust.core.learn import learn
from everclust.core.serialise import export
from everclust.core.state import new_state, scalar, scalars_of
from everclust.core.variants import WITHOUT_BOTH, starting_at


def test_nothing_to_learn():
    state = learn(new_state(2), np.empty((0, 2)))
    assert scalars_of(state).n_seen == 0


def test_the_first_three_samples_are_nodes_even_if_they_coincide():
    state = learn(new_state(2), np.ones((3, 2)))
    scalars = scalars_of(state)
    assert (scalars.n_seen, scalars.n_nodes, scalars.n_active) == (3, 3, 0)
    assert state.node["scale"][:3].tolist() == [1e-6] * 3


def test_one_sample_after_another(model):
    # V = 0, so every sample resonates with both of its nearest. Samples 1 and 1 meet nodes 0, 4 and 20:
    # y_0 = 0 + 1/2, y_1 = 4 − 3/4; then y_0 = 1/2 + (1/2)/3, y_1 = 3.25 − 2.25/6.
    state = model([[0], [4], [20]], interval=50, n_seen=51, square_sum=[9])
    state = learn(state, np.array([[1.0], [1.0]]))
    assert state.prototype[:3].ravel() == pytest.approx([2 / 3, 2.875, 20], rel=1e-15)
    assert state.node["usage"][:3].tolist() == [3, 3, 1]
    assert scalars_of(state).n_seen == 53


def test_room_is_made_on_the_way():
    # Without recalibration V stays 0, but a first interval of 40 wants a window of 80 rows.
    variant = starting_at(40, WITHOUT_BOTH)
    state = learn(new_state(1, variant), np.arange(200.0)[:, None], variant)
    scalars = scalars_of(state)
    assert (scalars.n_seen, scalars.n_nodes, scalars.window_size) == (200, 3, 80)
    # Points ever farther out are all new to the model: 150 nodes need 256 rows.
    first = new_state(1)
    assert len(first.node) == 64
    state = learn(first, (2.0 ** np.arange(150))[:, None])
    assert scalars_of(state).n_nodes == 150
    assert len(state.node) == len(state.prototype) == 256


def test_variant_without_both_never_recalibrates():
    X = np.random.default_rng(0).normal(size=(60, 2))
    state = learn(new_state(2, WITHOUT_BOTH), X, WITHOUT_BOTH)
    scalars, _ = export(state)
    assert scalars == {
        "n_seen": 60,
        "since_recalibration": 60,
        "interval": 2,
        "vigilance": 0.0,
        "cluster_ratio": 0.0,
        "next_cluster": scalars["next_cluster"],
        "provisional": -1,
        "next_community": 0,
        "n_born": 3,
    }
    assert scalars_of(state).n_nodes == 3


def test_pauses_at_the_sample_that_is_watched_for():
    seen, watch = [], np.array([5, NEVER, 0, 16])

    def pause(state):
        seen.append(scalar(state, "n_seen"))
        watch[NEXT_PAUSE] = 8 if watch[NEXT_PAUSE] == 5 else NEVER

    X = np.random.default_rng(0).normal(size=(20, 2))
    state = learn(new_state(2), X, pause=pause, watch=watch)
    assert seen == [5, 8, 20]
    for ours, theirs in zip(state, learn(new_state(2), X), strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_pauses_when_there_are_newcomers():
    seen, watch = [], np.array([NEVER, 0, 0, 16])
    X = np.random.default_rng(0).normal(size=(300, 2))
    learn(new_state(2), X, pause=lambda state: seen.append(scalar(state, "n_seen")), watch=watch)
    assert [n for n in seen if n % 128 == 0] == [128, 256]
    assert watch[FOUND_AT] == 256
