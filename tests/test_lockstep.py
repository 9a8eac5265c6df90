"""The fast core equals the slow specification, field by field, after every single sample."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from everclust.core import variants
from everclust.core.invariants import check
from everclust.core.learn import learn
from everclust.core.readout import assign, components, read_out
from everclust.core.serialise import export
from everclust.core.state import new_state, scalars_of
from support.jit_mode import PLAIN
from support.slow import others_slow
from support.streams import TEXTURES, blobs, foretelling, outliers, restored, some_model, specification, tasks

LONGEST = 60 if PLAIN else 120
SAFE_MARGIN = 1e-12  # closer decisions may fall either way: pow and the order of a sum are free to round
NAMED = {
    "published": variants.PUBLISHED,
    "printed_evidence": variants.PRINTED_EVIDENCE,
    "without_growth": variants.WITHOUT_GROWTH,
    "without_shrinking": variants.WITHOUT_SHRINKING,
    "without_both": variants.WITHOUT_BOTH,
    "capped": variants.CAPPED,
    "everclust": variants.REFINED._replace(capped=True),
}


# Those of the two estimators now; the others are for the ablation study.
READINGS = pytest.mark.parametrize("name", others_slow(NAMED, now=["published", "everclust"]))
FIRST_INTERVALS = [2, 2, 2, 2, 3, 4, 7, 15, 200]


@READINGS
@given(
    texture=st.sampled_from(TEXTURES),
    seed=st.integers(0, 2**32),
    n=st.integers(1, LONGEST),
    d=st.integers(1, 5),
    first_interval=st.sampled_from(FIRST_INTERVALS),
)
def test_streams(name, texture, seed, n, d, first_interval):
    rng = np.random.default_rng(seed)
    lockstep(texture(rng, n, d), variants.starting_at(first_interval, NAMED[name]))


@READINGS
@given(
    X=arrays(
        float,
        st.tuples(st.integers(1, LONGEST // 2), st.integers(1, 2)),
        elements=st.integers(-4, 4).map(lambda value: value / 4),
    ),
    first_interval=st.sampled_from(FIRST_INTERVALS),
)
def test_ties(name, X, first_interval):
    """Every sum of squares is exact, so that ties are ties, to both alike: nothing is discarded.

    But with weights that are not 1 it is not.
    """
    variant = variants.starting_at(first_interval, NAMED[name])
    lockstep(X, variant, discard_close_calls=variant.capped)


@pytest.mark.parametrize("texture", others_slow([blobs, tasks, outliers], now=[tasks]))
def test_longer_streams(texture):
    """More of everything: nodes, edges, retirements, drops."""
    X = texture(np.random.default_rng(1), 120 if PLAIN else 600, 3)
    lockstep(X, variants.PUBLISHED, discard_close_calls=False)


@pytest.mark.parametrize("capped", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_many_clusters(capped):
    """So many that nodes become finer, twice, and outdate what coarser ones handed over."""
    rng = np.random.default_rng(2)
    centre = 12.0 * np.stack(np.divmod(np.arange(25), 5), axis=1)
    X = centre[rng.integers(25, size=700)] + rng.normal(size=(700, 2)) * [1.0, 1.5]
    slow = lockstep(X, variants.REFINED._replace(capped=capped), discard_close_calls=False)
    assert slow.radius_factor < 0.5
    assert slow.n_outdated > 10


@pytest.mark.slow
def test_many_clusters_that_are_far_apart():
    """Nodes would reach several of them, and may not."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-10, 10, size=(12, 4))[rng.integers(12, size=1200)] + rng.normal(size=(1200, 4))
    slow = lockstep(X[:760], variants.REFINED, discard_close_calls=False)
    assert slow.n_limited > 1


@pytest.mark.slow
def test_many_clusters_of_unequal_width():
    """Narrow ones end before wide ones, and would make nodes too fine for these."""
    rng = np.random.default_rng(2)
    y = rng.integers(25, size=700)
    X = (
        12.0 * np.stack(np.divmod(y, 5), axis=1)
        + rng.normal(size=(700, 2)) * np.where(y % 2, 1, 0.2)[:, None]
    )
    slow = lockstep(X, variants.REFINED, discard_close_calls=False)
    assert slow.radius_factor < 0.5
    assert slow.n_narrow > 1
    assert slow.n_floored > 0


@pytest.mark.slow
def test_an_early_outlier():
    """It makes the scale of its node so large that every later sample would be a node."""
    X = np.random.default_rng(1).normal(size=(330, 6))
    X[2, 0] = 1e4
    slow = lockstep(X, variants.REFINED._replace(capped=True), discard_close_calls=False)
    assert slow.n_outdated_scales > 0


@pytest.mark.parametrize("correlated", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_wide_features_that_others_foretell(correlated):
    """So many samples that the cap is relaxed for these, not for noise, unless features are correlated."""
    X = foretelling(np.random.default_rng(3), 560, n_noise=1)
    X[:40, 4] = 7.0  # varies late
    X[:, 3] += 4.0 * correlated * X[:, 2]
    slow = lockstep(X, variants.CAPPED, discard_close_calls=False)
    assert (slow.n_relaxed > 2) != correlated
    assert slow.foretold_at > 500 or correlated
    assert not slow.foretold[-1]


def test_many_clusters_whose_rows_repeat():
    """A fifth of the rows are sent twice, so that some probes meet themselves."""
    rng = np.random.default_rng(3)
    centre = 12.0 * np.stack(np.divmod(np.arange(25), 5), axis=1)
    X = centre[rng.integers(25, size=400)] + rng.normal(size=(400, 2))
    again = 8 + rng.choice(392, size=80, replace=False)
    X[again] = X[again - rng.integers(1, 8, size=80)]
    slow = lockstep(X, variants.REFINED, discard_close_calls=False)
    assert slow.radius_factor < 1
    assert slow.n_repeated > 0


@READINGS
@given(seed=st.integers(0, 2**32), d=st.integers(1, 3))
def test_from_any_model(name, seed, d):
    """Start in the middle, where cuts, lost gains and retirements are due that streams rarely lead to."""
    rng = np.random.default_rng(seed)
    slow = some_model(rng, d, NAMED[name])
    X = slow.prototype[rng.integers(len(slow.usage))] + rng.normal(size=(12, d))
    lockstep(X, NAMED[name], slow=slow)


def lockstep(X, variant, *, slow=None, discard_close_calls=True):
    """Learn X with both and compare after every sample; `slow` may have learnt something before."""
    if slow is None:
        slow = specification(variant)
        state = new_state(X.shape[1], variant)
    else:
        state = restored(slow)
        compare_models(state, slow)
    for i, x in enumerate(X):
        slow.learn(x)
        if discard_close_calls:
            assume(slow.margin >= SAFE_MARGIN)
        state = learn(state, X[i : i + 1], variant)
        check(state)
        compare_models(state, slow)
        compare_predictions(state, slow, np.stack([x, (x + X[i // 2]) / 2, -2 * X[i // 3]]))
    return slow


def compare_models(state, slow):
    scalars, fields = export(state)
    now = scalars_of(state)
    n_nodes = len(slow.usage)
    assert now.n_nodes == n_nodes
    assert scalars["n_seen"] == slow.n_seen == slow.n_welford
    assert scalars["since_recalibration"] == slow.since_recalibration
    assert scalars["interval"] == slow.interval
    assert scalars["vigilance"] == pytest.approx(slow.vigilance, rel=1e-12, abs=0)
    assert scalars["cluster_ratio"] == pytest.approx(slow.cluster_ratio, rel=1e-12, abs=0)

    # The core adds up in feature order and rounds strictly: not a bit may differ.
    same(fields["prototype"], slow.prototype)
    np.testing.assert_allclose(fields["scale"], slow.scale, rtol=1e-12 if slow.is_capped else 0)
    np.testing.assert_allclose(fields["weight"], slow.feature_weight, rtol=1e-12)
    same(fields["mean"], slow.mean)
    same(fields["square_sum"], slow.m2)
    if slow.is_capped:
        same(fields["foretold"], slow.foretold)
        assert now.foretold_at == slow.foretold_at
    if slow.is_capped and slow.directions:
        np.testing.assert_allclose(fields["direction"].T, slow.directions, rtol=1e-12)
        np.testing.assert_allclose(fields["projection"], [slow.excess, slow.expected], rtol=1e-9, atol=1e-9)
    same(fields["window"], slow.window)
    same(fields["usage"], slow.usage)
    same(fields["active"], slow.active)
    same(fields["idle"], slow.idle)
    same(fields["activity"], [slow.activity(k) for k in range(n_nodes)])

    assert {(i, j): n for i, j, n in fields["evidence"].tolist()} == slow.evidence
    assert list(map(tuple, fields["edge"].tolist())) == sorted(slow.edges)
    assert {(i, j): n for i, j, n in fields["handover"].tolist()} == slow.handover
    found = slow.components()
    lowest = {k: component[0] for component in found for k in component}
    same(components(state), [lowest[k] for k in range(n_nodes)])
    assert now.n_nodes - now.n_joins == len(found)
    assert now.n_active == sum(slow.active)
    if state.probe.size:
        assert now.n_probes == len(slow.probes)
        assert now.radius_factor == pytest.approx(slow.radius_factor, rel=1e-12)
        assert now.n_clusters == pytest.approx(slow.k, rel=1e-12)
        assert now.cluster_end == pytest.approx(slow.end or 0.0, rel=1e-12)
        assert now.cluster_radius == pytest.approx((slow.width or 0.0) / math.sqrt(2), rel=1e-12)


def compare_predictions(state, slow, probes):
    """Distances of predictions may be rounded once less, so of nodes equally near another may win."""
    winner, nearness = np.empty(len(probes), np.int64), np.empty(len(probes))
    assign(read_out(state), probes, winner, nearness)
    component = components(state)
    margin = slow.margin  # probes half-way between nodes are close calls by design
    for i, x in enumerate(probes):
        slow.margin, slow.ties = np.inf, 0
        expected = slow.winner(x)
        ratio = [slow.distance(x, slow.prototype[k]) / slow.scale[k] for k in (expected, winner[i])]
        assert nearness[i] == pytest.approx(ratio[0], rel=1e-12, abs=0)
        assert ratio[1] == pytest.approx(ratio[0], rel=1e-12, abs=0)
        if slow.margin >= SAFE_MARGIN and (slow.ties == 0 or len(x) == 1):
            assert winner[i] == expected
            assert component[winner[i]] == slow.predict(x)
    slow.margin = margin


def same(ours, theirs):
    assert np.array_equal(ours, np.array(theirs).reshape(ours.shape)), (ours, theirs)
