"""Re-estimation of the interval Λ and the vigilance threshold V from the newest samples."""

from ..jit.compile import jit, jit_allocating
from ..jit.quantiles import hazen
from ..jit.reference import refer
from .resolution import finer, within_clusters
from .spread import widest_in_metric, widest_scale
from .stability import find_closest, longest_stable, new_similarities

KEEP = -1


@jit_allocating
def recalibrate(state, variant):  # INOUT scalars: interval, cluster_ratio, vigilance
    """Update Λ and V, from as many of the newest samples as can matter."""
    scalars = state.scalars[0]
    n_probed = min(2 * scalars.interval if variant.grows else scalars.interval, scalars.window_size)
    widest = widest_in_metric(state) if variant.capped and variant.refines else widest_scale(state)
    _recalibrate(state, variant, n_probed, new_similarities(state, n_probed, widest))


@jit
def _recalibrate(
    state, variant, n_probed, similar
):  # INOUT scalars: interval, cluster_ratio, vigilance; similar
    """Λ' from how many of the newest samples are still distinct, V' from how close these are."""
    scalars, similar = state.scalars[0], refer(similar)
    n_stable, n_known = longest_stable(state, similar, n_probed, variant.capped)
    n_components = scalars.n_nodes - scalars.n_joins  # over all nodes, active or not
    interval, ratio = next_interval(scalars, n_stable, n_components / scalars.n_nodes, variant)
    if interval == KEEP:
        return
    scalars.interval, scalars.cluster_ratio = interval, ratio
    find_closest(state, similar, n_known, interval, variant.capped)
    vigilance = finer(hazen(similar.closest[:interval], 1.0 - ratio), scalars.radius_factor)
    scalars.vigilance = within_clusters(vigilance, similar.alpha, scalars)


@jit
def next_interval(scalars, n_stable, ratio, variant):
    """(Λ', smoothed cluster ratio ρ'), or (KEEP, ·) when nothing is to change.

    The closed form of the shrink branch, the double smoothing of the grow branch and KEEP are departures
    from the printed text: see docs/algorithm.md, section 7.
    """
    interval, smoothed, n_window = scalars.interval, scalars.cluster_ratio, scalars.window_size
    shrinks = variant.shrinks and n_stable < min(interval, n_window)
    if shrinks and n_stable < 2:
        return KEEP, smoothed
    if shrinks or not variant.grows:
        length = n_stable if shrinks else interval
        weight = (1.0 - 1.0 / interval) ** (length - 1)
        return length, weight * smoothed + (1.0 - weight) * ratio
    if n_window <= interval:
        return KEEP, smoothed
    end = min(2 * interval, n_window)
    length = longest_probe(interval, end, n_stable)
    smoothed = smooth(smoothed, ratio, interval)
    if length < end:
        smoothed = smooth(smoothed, ratio, length)
    return length, smoothed


@jit
def smooth(smoothed, ratio, interval):
    """ρ ← c/Λ + (1 − 1/Λ)·ρ."""
    return ratio / interval + (1.0 - 1.0 / interval) * smoothed


@jit
def longest_probe(interval, end, n_stable):
    """The last stable one of the lengths Λ+1, Λ+2, Λ+4, Λ+8 …, capped at end; Λ if the first fails."""
    longest, step = interval, 1
    while longest < end:
        probe = min(interval + step, end)
        if probe > n_stable:
            break
        longest = probe
        step *= 2
    return longest
