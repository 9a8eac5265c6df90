"""The fast core equals the slow specification, field by field, after every single sample."""

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import oracle
from everclust.core import readings
from everclust.core.clusters import assign, components, read_out
from everclust.core.learn import learn
from everclust.core.portable import SCALARS, export, restore
from everclust.core.state import check, clock_of, new_state

PLAIN = bool(numba.config.DISABLE_JIT)
LONGEST = 60 if PLAIN else 120
SAFE_MARGIN = 1e-12  # closer decisions may fall either way: pow and the order of a sum are free to round
NAMED = {
    "published": readings.PUBLISHED,
    "printed_evidence": readings.PRINTED_EVIDENCE,
    "without_growth": readings.WITHOUT_GROWTH,
    "without_shrinking": readings.WITHOUT_SHRINKING,
    "without_both": readings.WITHOUT_BOTH,
}


def grid(rng, n, d):
    """Few distinct values on a dyadic grid: ties and duplicates everywhere."""
    return rng.integers(0, rng.integers(1, 6), (n, d), endpoint=True) / 2.0 ** rng.integers(-3, 4)


def constant(rng, n, d):
    """One sample over and over, but for a few."""
    X = np.full((n, d), float(rng.integers(-3, 4)))
    X[rng.random(n) < 0.1 * rng.integers(0, 3)] += 1
    return X


def duplicates(rng, n, d):
    """Every sample has been there before, often just before; exact, because ties come with it."""
    distinct = np.round(8 * rng.normal(size=(rng.integers(1, 8), d))) / 8
    return np.repeat(distinct[rng.integers(0, len(distinct), n)], rng.integers(1, 4), axis=0)[:n]


def blobs(rng, n, d):
    """A few round clusters in random order."""
    centre = rng.normal(size=(rng.integers(1, 5), d)) * rng.choice([1, 5, 20])
    return centre[rng.integers(0, len(centre), n)] + rng.normal(size=(n, d))


def tasks(rng, n, d):
    """Clusters one after the other."""
    centre = 10 * rng.normal(size=(3, d))
    return centre[np.arange(n) * 3 // n] + rng.normal(size=(n, d))


def drift(rng, n, d):
    """A cloud that walks away."""
    return rng.normal(size=(n, d)) + np.arange(n)[:, None] * rng.choice([0.01, 0.3, 3.0])


def tiny(rng, n, d):
    """A spread around and below the floor of the scale, far from the origin or at it."""
    return rng.choice([0.0, 1.0, 1e3]) + rng.normal(size=(n, d)) * 10.0 ** -rng.integers(3, 10)


def outliers(rng, n, d):
    """Heavy tails: edges long enough to be cut."""
    return rng.standard_t(1.2, size=(n, d))


TEXTURES = [grid, constant, duplicates, blobs, tasks, drift, tiny, outliers]
FIRST_INTERVALS = [2, 2, 2, 2, 3, 4, 7, 15, 200]


@pytest.mark.parametrize("name", NAMED)
@given(
    texture=st.sampled_from(TEXTURES),
    seed=st.integers(0, 2**32),
    n=st.integers(1, LONGEST),
    d=st.integers(1, 5),
    first_interval=st.sampled_from(FIRST_INTERVALS),
)
def test_streams(name, texture, seed, n, d, first_interval):
    rng = np.random.default_rng(seed)
    lockstep(texture(rng, n, d), readings.starting_at(first_interval, NAMED[name]))


@pytest.mark.parametrize("name", NAMED)
@given(
    X=arrays(
        float,
        st.tuples(st.integers(1, LONGEST // 2), st.integers(1, 2)),
        elements=st.integers(-4, 4).map(lambda value: value / 4),
    ),
    first_interval=st.sampled_from(FIRST_INTERVALS),
)
def test_ties(name, X, first_interval):
    """Every sum of squares is exact, so that ties are ties, to both alike: nothing is discarded."""
    lockstep(X, readings.starting_at(first_interval, NAMED[name]), discard_close_calls=False)


@pytest.mark.parametrize("texture", [blobs, tasks, outliers])
def test_longer_streams(texture):
    """More of everything: nodes, edges, retirements, drops."""
    X = texture(np.random.default_rng(1), 120 if PLAIN else 600, 3)
    lockstep(X, readings.PUBLISHED, discard_close_calls=False)


@pytest.mark.parametrize("name", NAMED)
@given(seed=st.integers(0, 2**32), d=st.integers(1, 3))
def test_from_any_model(name, seed, d):
    """Start in the middle, where cuts, lost gains and retirements are due that streams rarely lead to."""
    rng = np.random.default_rng(seed)
    slow = some_model(rng, d, NAMED[name])
    X = slow.prototype[rng.integers(len(slow.usage))] + rng.normal(size=(12, d))
    lockstep(X, NAMED[name], slow=slow)


def some_model(rng, d, reading):
    """A specification that might have seen a lot: nodes far and near, with any evidence between them."""
    slow = specification(reading)
    n_nodes = int(rng.integers(4, 14))
    prototype = rng.standard_t(1.0, size=(n_nodes, d))
    slow.prototype = prototype.tolist()
    slow.usage = rng.integers(1, 5, n_nodes).tolist()
    slow.scale = rng.uniform(0.5, 2.0, n_nodes).tolist()
    slow.n_seen = slow.n_welford = sum(slow.usage) + int(rng.integers(12, 15))
    slow.mean = prototype.mean(axis=0).tolist()
    slow.m2 = (prototype.var(axis=0) * slow.n_seen).tolist()
    used = [k for k in range(n_nodes) if slow.usage[k] > 1]
    for ij in ((i, j) for i in used for j in used if i < j):
        if rng.random() < 0.6:
            slow.evidence[ij] = int(rng.integers(1, 5))
            if rng.random() < 0.7:
                slow.edges.add(ij)
    slow.active = [k in used and (slow.has_edge(k) or rng.random() < 0.5) for k in range(n_nodes)]
    slow.idle = [int(active and rng.random() < 0.5) for active in slow.active]
    slow.evidence_before = [slow.row_sum(k) for k in range(n_nodes)]
    slow.usage_before = [usage - int(rng.integers(usage + 1)) for usage in slow.usage]
    slow.interval = int(rng.integers(2, 7))
    slow.window = (prototype[0] + rng.normal(size=(2 * slow.interval, d))).tolist()
    slow.vigilance, slow.cluster_ratio = rng.random(2).tolist()
    slow.since_recalibration = int(rng.integers(slow.interval))
    return slow


def specification(reading):
    return oracle.Oracle(
        first_interval=reading.first_interval,
        evidence="printed" if reading.printed_evidence else "published",
        grow=reading.grows,
        shrink=reading.shrinks,
        recalibrate=reading.recalibrates,
    )


def restored(slow):
    """The core's state with what the specification holds."""
    scalars = {name: getattr(slow, name) for name in SCALARS}
    fields = {name: np.array(getattr(slow, name)) for name in ("prototype", "mean", "window")}
    fields |= {name: np.array(getattr(slow, name)) for name in ("usage", "scale", "active", "idle")}
    fields["gain"] = np.array([slow.gain(k) for k in range(len(slow.usage))])
    fields["square_sum"] = np.array(slow.m2)
    fields["evidence"] = np.array([(*ij, n) for ij, n in slow.evidence.items()], np.int64).reshape(-1, 3)
    fields["edge"] = np.array(sorted(slow.edges), np.int64).reshape(-1, 2)
    return restore(scalars, fields)


def lockstep(X, reading, *, slow=None, discard_close_calls=True):
    """Learn X with both and compare after every sample; `slow` may have learnt something before."""
    if slow is None:
        slow = specification(reading)
        state = new_state(X.shape[1], reading)
    else:
        state = restored(slow)
        compare_models(state, slow)
    for i, x in enumerate(X):
        slow.learn(x)
        if discard_close_calls:
            assume(slow.margin >= SAFE_MARGIN)
        state = learn(state, X[i : i + 1], reading)
        check(state)
        compare_models(state, slow)
        compare_predictions(state, slow, np.stack([x, (x + X[i // 2]) / 2, -2 * X[i // 3]]))


def compare_models(state, slow):
    scalars, fields = export(state)
    clock = clock_of(state)
    n_nodes = len(slow.usage)
    assert clock.n_nodes == n_nodes
    assert scalars["n_seen"] == slow.n_seen == slow.n_welford
    assert scalars["since_recalibration"] == slow.since_recalibration
    assert scalars["interval"] == slow.interval
    assert scalars["vigilance"] == pytest.approx(slow.vigilance, rel=1e-12, abs=0)
    assert scalars["cluster_ratio"] == pytest.approx(slow.cluster_ratio, rel=1e-12, abs=0)

    # The core adds up in feature order and rounds strictly: not a bit may differ.
    same(fields["prototype"], slow.prototype)
    same(fields["scale"], slow.scale)
    same(fields["mean"], slow.mean)
    same(fields["square_sum"], slow.m2)
    same(fields["window"], slow.window)
    same(fields["usage"], slow.usage)
    same(fields["active"], slow.active)
    same(fields["idle"], slow.idle)
    same(fields["gain"], [slow.gain(k) for k in range(n_nodes)])

    assert {(i, j): n for i, j, n in fields["evidence"].tolist()} == slow.evidence
    assert list(map(tuple, fields["edge"].tolist())) == sorted(slow.edges)
    found = slow.components()
    same(components(state), [min(slow.component_of(k)) for k in range(n_nodes)])
    assert clock.n_nodes - clock.n_joins == len(found)
    assert clock.n_active == sum(slow.active)


def compare_predictions(state, slow, probes):
    """Distances of predictions may be rounded once less, so of nodes equally near another may win."""
    winner, nearness = np.empty(len(probes), np.int64), np.empty(len(probes))
    assign(read_out(state), probes, winner, nearness)
    component = components(state)
    margin = slow.margin  # probes half-way between nodes are close calls by design
    for i, x in enumerate(probes):
        slow.margin, slow.ties = np.inf, 0
        expected = slow.winner(x)
        ratio = [oracle.distance(x, slow.prototype[k]) / slow.scale[k] for k in (expected, winner[i])]
        assert nearness[i] == pytest.approx(ratio[0], rel=1e-12, abs=0)
        assert ratio[1] == pytest.approx(ratio[0], rel=1e-12, abs=0)
        if slow.margin >= SAFE_MARGIN and (slow.ties == 0 or len(x) == 1):
            assert winner[i] == expected
            assert component[winner[i]] == slow.predict(x)
    slow.margin = margin


def same(ours, theirs):
    assert np.array_equal(ours, np.array(theirs).reshape(ours.shape)), (ours, theirs)
