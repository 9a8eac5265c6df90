"""What models know of the stream, merged: means, variances, correlation, and the metric that follows."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..correlation import EXCESS, EXPECTED, FARTHEST, FEWEST_SEEN, LARGEST_EXCESS
from ..metric import RELAXED
from ..serialise import Arrays
from ..spread import SCALE_FLOOR


class Stream(NamedTuple):
    """How many samples there were, their mean, the sum of squared deviations from it, and of squares along
    directions, which may be none; and which features others foretell."""

    n: int
    mean: np.ndarray
    square_sum: np.ndarray
    direction: np.ndarray
    projection: np.ndarray
    foretold: np.ndarray


def stream_of(scalars: Mapping[str, Any], arrays: Arrays) -> Stream:
    """The stream of a model that was taken apart."""
    direction = arrays.get("direction", np.zeros((len(arrays["mean"]), 0)))
    projection = arrays.get("projection", np.zeros((2, 0)))
    foretold = arrays.get("foretold", np.zeros(0, np.bool_))
    return Stream(scalars["n_seen"], arrays["mean"], arrays["square_sum"], direction, projection, foretold)


def merge_streams(whole: Stream, b: Stream, base: Stream) -> Stream:
    """A stream, and what b has learnt since the base (Chan's formula). Foretold is what was in the former."""
    later = _since(b, base)
    n = whole.n + later.n
    delta = later.mean - whole.mean
    mean = whole.mean + delta * (later.n / n)
    square_sum = whole.square_sum + later.square_sum + delta * delta * (whole.n * (later.n / n))
    if not (whole.direction.size and later.direction.size):
        none = whole.direction[:, :0], whole.projection[:, :0], whole.foretold[:0]
        return Stream(n, mean, square_sum, *none)
    direction = np.sign(whole.direction) * _inverse_deviation(n, square_sum)[:, None]
    between = _along(direction, delta) * (whole.n * (later.n / n))
    projection = whole.projection + later.projection + between
    return Stream(n, mean, square_sum, direction, projection, whole.foretold)


def _since(whole: Stream, before: Stream) -> Stream:
    """The stream after `before`: Chan's formula solved for the second summand."""
    if before.n == 0:
        return whole
    n = whole.n - before.n
    delta = (whole.mean - before.mean) * (whole.n / n)
    share = before.n * (n / whole.n)
    square_sum = np.maximum(whole.square_sum - before.square_sum - delta * delta * share, 0.0)
    projection = whole.projection
    if before.projection.size and projection.size:
        projection = projection - before.projection - _along(whole.direction, delta) * share
        projection[EXPECTED] = np.maximum(projection[EXPECTED], 0.0)
    return Stream(n, before.mean + delta, square_sum, whole.direction, projection, whole.foretold)


def _inverse_deviation(n: int, square_sum: np.ndarray) -> np.ndarray:
    """1/σ, or 0 for what does not vary."""
    variance = square_sum / max(n - 1, 1)
    return 1.0 / np.sqrt(np.where(variance > 0, variance, np.inf))


def _along(direction: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """What one sample adds to the sums of `correlation.project`."""
    z = np.clip(direction * delta[:, None], -FARTHEST, FARTHEST)
    squares = (z * z).sum(axis=0)
    return np.stack([z.sum(axis=0) ** 2 - squares, squares])


def capped_weights(stream: Stream) -> np.ndarray:
    """`metric.cap`: no feature weighs more than the median one, or than a few of it if uncorrelated and
    foretold."""
    square_sum = np.sort(stream.square_sum)
    positive = square_sum[square_sum > 0]
    if not len(positive):
        return np.ones(len(square_sum))
    low, high = positive[(len(positive) - 1) // 2], positive[len(positive) // 2]
    median = low + 0.5 * (high - low)
    most = np.full(len(square_sum), median)
    if are_uncorrelated(stream):
        most[stream.foretold] = max(median, min(RELAXED * median, square_sum[-2:][0]))
    return most / np.maximum(stream.square_sum, most)


def are_uncorrelated(stream: Stream) -> bool:
    """`correlation.are_uncorrelated`."""
    excess, expected = stream.projection[EXCESS], stream.projection[EXPECTED]
    if stream.n < FEWEST_SEEN or not expected.size or not (expected > 0).all():
        return False
    return bool(np.mean((excess / expected) ** 2) <= LARGEST_EXCESS**2)


def scale_of(stream: Stream, weight: np.ndarray) -> float:
    """`spread.present_scale` after the last sample."""
    if stream.n < 2:
        return SCALE_FLOOR
    return max(math.sqrt((stream.square_sum * weight).max() / (stream.n - 1)), SCALE_FLOOR)
