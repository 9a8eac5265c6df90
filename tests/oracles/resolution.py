"""Finer nodes where clusters are many, in slow, plain Python: docs/handover.md, section Resolution.

All distances are kept, with the weight of their round, and counted again for every edge of a bin. Nothing is
imported from everclust.
"""

import math
from typing import Any

from oracles import idat as oracle
from oracles.handover import HandoverOracle

N_PROBES = 32
ROUND, SHORTEST = 16, 8  # intervals, samples
MEMORY = 7 / 8
LONGEST_REST = 7
UNEVEN = 3  # standard deviations
BINS, BINS_BELOW = 128, 96
FEWEST, HOLLOW = 2, 1 / 4
RISE, RISE_OF_REPEATED, HIGHER = 1.5, 3, 1  # the last is a number of dimensions
ENOUGH, PER_CLUSTER = 2, 5  # samples of a cluster
MOST = 0.95
MOST_PROBES = 0.8
SETTLED = 256  # samples


class RefinedOracle(HandoverOracle):
    """The learning of EverClust."""

    def __init__(self, **variant: Any) -> None:
        super().__init__(**variant)
        self.probes: list[list[float]] = []
        self.away: list[list[float]] = []  # squared distances of every probe
        self.rounds: list[list[float]] = []  # those above 0 of earlier rounds, the newest first
        self.ratios: list[list[float]] = []  # ln(r2 / r1) of the same
        self.first: float | None = None  # the first squared distance above 0
        self.radius_factor = 1.0
        self.k = 0.0  # clusters, if they are known to end
        self.end: float | None = None  # the distance at which they do
        self.width: float | None = None  # within which most pairs of samples of a cluster are
        self.resting = 0
        self.n_rounds = 0
        self.n_outdated = 0  # hand-overs, for tests to see that there were some
        self.n_outdated_scales = 0  # at recalibrations, likewise
        self.n_repeated = 0  # probes whose row came again, likewise
        self.n_narrow = 0  # ends of narrow clusters only, likewise
        self.n_floored = 0  # radii that are as small as the width of clusters lets them be, likewise
        self.n_limited = 0  # vigilance thresholds raised by the width of clusters, likewise

    def widest(self) -> float:
        """A scale from before its feature was weighed down tells nothing: then that of the stream counts."""
        widest, present = super().widest(), self.spread()
        is_settled = self.is_capped and self.n_seen >= SETTLED
        is_outdated = is_settled and self.above(widest, 2 * present)
        self.n_outdated_scales += is_outdated
        return present if is_outdated else widest

    def seed(self, x: list[float]) -> None:
        super().seed(x)
        self.watch(x)

    def resonate(self, x: list[float]) -> None:
        super().resonate(x)
        self.watch(x)

    def link_birth(self, k: int, first: int) -> None:
        """A new node outdates what its neighbour handed over to nodes beyond it, in other clusters."""
        if self.end is not None:
            away = [self.distance(self.prototype[first], y) for y in self.prototype]
            for i in range(k):
                ij = oracle.pair(first, i)
                if away[i] > away[k] and away[i] > self.end and ij in self.handover:
                    self.n_outdated += self.handover[ij] - 1
                    self.handover[ij] = 1
        super().link_birth(k, first)

    def watch(self, x: list[float]) -> None:
        if self.resting:
            self.resting -= 1
            return
        if len(self.probes) < N_PROBES:
            self.probes.append(x)
            self.away.append([])
            return
        for probe, away in zip(self.probes, self.away, strict=True):
            total = 0.0
            for j in range(len(x)):
                total += self.feature_weight[j] * ((x[j] - probe[j]) * (x[j] - probe[j]))
            away.append(total)
            if self.first is None and total > 0:
                self.first = total
        if len(self.away[0]) >= ROUND * max(self.interval, SHORTEST):
            self.end_round()

    def end_round(self) -> None:
        n = len(self.away[0])
        self.resting = n * min(self.n_rounds, LONGEST_REST)
        self.n_rounds += 1
        apart = [away for away in self.away if min(away) > 0]
        n_first = sum(away.index(min(away)) < n / 2 for away in apart)
        if abs(n_first - len(apart) / 2) > UNEVEN * math.sqrt(len(apart)) / 2:
            self.rounds, self.ratios = [], []
            self.radius_factor, self.k, self.end, self.width = 1.0, 0.0, None, None
            self.probes, self.away = [], []
            return
        pairs = [sorted(away)[:2] for away in self.away]
        self.ratios.insert(0, [math.log(b) / 2 - math.log(a) / 2 for a, b in pairs if a > 0])
        self.rounds.insert(0, [squared for away in self.away for squared in away if squared > 0])
        if any(self.rounds) and sum(map(sum, self.ratios)) > 0:
            self.decide(n)
        self.probes, self.away = [], []

    def faded(self, rounds: list[list[float]], value: Any) -> float:
        return sum(MEMORY**age * sum(map(value, each)) for age, each in enumerate(rounds))

    def edge(self, b: int) -> float:
        """Where bin b begins."""
        assert self.first is not None
        octave, half = divmod(b - BINS_BELOW, 2)
        return math.ldexp(0.75 if half else 0.5, math.frexp(self.first)[1] + octave)

    def within(self, b: int) -> float:
        """How many distances lie in bin b or below."""
        return self.faded(self.rounds, lambda squared: squared < self.edge(b + 1) or b == BINS - 1)

    def decide(self, n: int) -> None:
        share = [self.within(b) / self.within(BINS - 1) for b in range(BINS)]
        k, end = self.n_clusters(share, n)
        self.radius_factor, self.k, self.end, self.width = 1.0, 0.0, None, None
        is_settled = self.n_rounds > 1
        if is_settled and k > 1:
            self.k, self.end = k, math.sqrt(self.edge(end + 1))
        if self.interval / k < ENOUGH:
            near, far = (self.distance_of(share, math.log(2) / m) for m in (PER_CLUSTER * k, self.interval))
            width = self.distance_of(share, MOST / k)
            least = (math.log(2) / PER_CLUSTER / MOST) ** (1 / self.dimension()) * width / math.sqrt(2)
            self.n_floored += least > near
            self.radius_factor = min(max(near, least) / far, 1.0)
            if is_settled:
                self.width = width

    def dimension(self) -> float:
        """That samples fill near a probe."""
        return self.faded(self.ratios, lambda _: 1) / self.faded(self.ratios, lambda ratio: ratio)

    def n_clusters(self, share: list[float], n: int) -> tuple[float, int]:
        """How many clusters there are, and the last bin inside of one."""
        places = [b for b in range(BINS - 2) if share[b] * n >= FEWEST]
        slope = {b: 2 * math.log2(share[b + 2] / share[b]) for b in places}
        beyond = {b: max([slope[c] for c in places if c > b], default=0) for b in places}
        n_repeated = sum(min(away) == 0 for away in self.away)
        self.n_repeated += n_repeated
        rise = RISE + RISE_OF_REPEATED * n_repeated / N_PROBES
        rising = [
            b for b in places if share[b] < 1 / 2 and beyond[b] >= max(rise * slope[b], slope[b] + HIGHER)
        ]
        ends = [b for b in rising if self.share_of_probes(b) >= MOST_PROBES * (1 - math.exp(-n * share[b]))]
        self.n_narrow += len(rising) - len(ends)
        if not ends:
            return 1, BINS
        end = min(ends, key=lambda b: (slope[b], -b))
        around = share[end + 2] / share[end] - 1
        inside = 2 ** (self.dimension() / 2) - 1
        return 1 / share[end + 1] if around < HOLLOW * inside else 1, end

    def share_of_probes(self, b: int) -> float:
        """Share of the probes that have a sample in bin b or below."""
        return sum(min(away) < self.edge(b + 1) for away in self.away) / N_PROBES

    def distance_of(self, share: list[float], wanted: float) -> float:
        b = min(i for i in range(BINS) if share[i] >= wanted)
        before = share[b - 1] if b else 0.0
        part = (wanted - before) / (share[b] - before)
        return math.sqrt(self.edge(b) + part * (self.edge(b + 1) - self.edge(b)))

    def vigilance_over(self, similarity: Any, interval: int) -> float:
        """The similarity at the radius, which is 1/V - 1 in units of the scale, times the factor."""
        vigilance = super().vigilance_over(similarity, interval)
        if self.radius_factor == 1.0:
            return vigilance
        vigilance = 1 / (1 + (1 / vigilance - 1) * self.radius_factor)
        if self.width is None:
            return vigilance
        least = 1 / (1 + self.width / math.sqrt(2) / self.widest())
        is_limited = self.above(least, vigilance)
        self.n_limited += is_limited
        return least if is_limited else vigilance
