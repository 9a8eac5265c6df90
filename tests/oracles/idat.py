"""The specification of IDAT in slow, plain Python: what the fast core is compared with.

Every rule is one small function that says what docs/algorithm.md says and nothing cleverer: means
are taken by scanning, every window length is factorised from scratch, components are found by
walking the graph. It imports nothing from everclust, so a slip in one is not a slip in both.

Notation: k a node, x a sample, first and second the two nearest nodes of x (s1, s2), usage M_k,
scale sigma_k, interval Lambda, vigilance V, evidence E_cand, cluster_ratio rho, idle U_k.
"""

import math
from collections.abc import Sequence

Matrix = list[list[float]]

SEED_NODES = 3
SCALE_FLOOR = 1e-6
DETERMINANT_FLOOR = 1e-6
TUKEY = 1.5
QUIET_ROUNDS = 2
TINY = 1e-300


class Oracle:
    """IDAT, one sample at a time; every field may be read, none is hidden."""

    def __init__(
        self,
        *,
        first_interval: int = 2,
        evidence: str = "published",
        grow: bool = True,
        shrink: bool = True,
        recalibrate: bool = True,
    ) -> None:
        if evidence not in ("published", "printed"):
            raise ValueError(f"evidence is {evidence!r}; expected 'published' or 'printed'")
        self.evidence_is_printed = evidence == "printed"
        self.may_grow = grow
        self.may_shrink = shrink
        self.may_recalibrate = recalibrate

        # Nodes, in order of creation.
        self.prototype: list[list[float]] = []
        self.usage: list[int] = []
        self.wins: list[int] = []  # not in the paper: it changes nothing
        self.scale: list[float] = []
        self.active: list[bool] = []
        self.idle: list[int] = []
        self.usage_before: list[int] = []
        self.evidence_before: list[int] = []

        # Pairs of nodes (i, j) with i < j; only positive evidence is kept.
        self.edges: set[tuple[int, int]] = set()
        self.evidence: dict[tuple[int, int], int] = {}

        # The spread of the whole stream, per feature.
        self.n_welford = 0
        self.mean: list[float] = []
        self.m2: list[float] = []

        # The newest samples, oldest first, and what was derived from them.
        self.window: list[list[float]] = []
        self.interval = first_interval
        self.vigilance = 0.0
        self.cluster_ratio = 0.0
        self.since_recalibration = 0
        self.n_seen = 0

        # How close the closest decision was; see `above`.
        self.margin = math.inf
        self.ties = 0

    # ---- Learning one sample (docs/algorithm.md, section 2) ----------------------------------

    def learn(self, x: Sequence[float]) -> None:
        x = [float(value) for value in x]
        self.remember(x)
        if len(self.prototype) < SEED_NODES:
            self.seed(x)
        else:
            self.resonate(x)
        if self.n_seen % self.interval == 0:
            self.maintain()
        self.n_seen += 1
        self.since_recalibration += 1
        if self.is_due():
            self.recalibrate()

    def remember(self, x: list[float]) -> None:
        """2.1 Remember: the window holds the newest two intervals of samples."""
        self.window.append(x)
        self.trim()

    def trim(self) -> None:
        self.window = self.window[-2 * self.interval :]

    def seed(self, x: list[float]) -> None:
        """2.2 Fewer than three nodes: every sample is one; the first takes over a spread."""
        self.create(x)
        if len(self.prototype) == 2:
            self.scale[0] = self.scale[1]

    def create(self, x: list[float]) -> None:
        """2.2 A new node is at x; the spread it is given has already seen x."""
        self.observe(x)
        self.prototype.append(list(x))
        self.usage.append(1)
        self.wins.append(1)
        self.scale.append(self.spread())
        self.active.append(False)
        self.idle.append(0)
        self.usage_before.append(0)
        self.evidence_before.append(0)

    def observe(self, x: list[float]) -> None:
        """Welford's running mean and sum of squared deviations, per feature."""
        if self.n_welford == 0:
            self.mean = [0.0] * len(x)
            self.m2 = [0.0] * len(x)
        self.n_welford += 1
        for j in range(len(x)):
            before = x[j] - self.mean[j]
            self.mean[j] += before / self.n_welford
            after = x[j] - self.mean[j]
            self.m2[j] += before * after

    def spread(self) -> float:
        """The largest standard deviation of any feature, not below the floor."""
        if self.n_welford < 2:
            return SCALE_FLOOR
        widest = max(math.sqrt(m2 / (self.n_welford - 1)) for m2 in self.m2)
        return widest if self.above(widest, SCALE_FLOOR) else SCALE_FLOOR

    def distance(self, a: Sequence[float], b: Sequence[float]) -> float:
        """The metric of everything below; a subclass may weigh the features."""
        return distance(a, b)

    def distances(self, x: Sequence[float], points: Matrix) -> list[float]:
        return [self.distance(x, point) for point in points]

    def nearest_two(self, x: list[float]) -> tuple[int, int]:
        """2.3 Nearest two, by distance; of equally near nodes the older comes first."""
        away = self.distances(x, self.prototype)
        order = sorted(range(len(away)), key=lambda k: (away[k], k))
        self.weigh(away[order[0]], away[order[1]])
        self.weigh(away[order[1]], away[order[2]])
        return order[0], order[1]

    def similarity_to(self, k: int, x: list[float]) -> float:
        return 1 / (1 + self.distance(x, self.prototype[k]) / self.scale[k])

    def resonate(self, x: list[float]) -> None:
        """2.4 Resonance; both similarities are taken before anything moves."""
        first, second = self.nearest_two(x)
        similarity_first = self.similarity_to(first, x)
        similarity_second = self.similarity_to(second, x)
        if not self.at_least(similarity_first, self.vigilance):
            self.create(x)  # 2.4 Case I
            return
        self.absorb(first, x)  # 2.4 Case II
        if self.above(similarity_second, self.vigilance):
            self.draw_along(first, second, x)  # 2.4 Case III
            self.connect(first, second)

    def absorb(self, first: int, x: list[float]) -> None:
        """2.4 Case II: the nearest node moves towards x and takes the current spread."""
        self.usage[first] += 1
        self.wins[first] += 1
        self.move(first, x, self.usage[first])
        self.observe(x)
        self.scale[first] = self.spread()

    def draw_along(self, first: int, second: int, x: list[float]) -> None:
        """2.4 Case III: the second nearest follows more slowly; its scale is left alone."""
        self.usage[second] += 1
        self.move(second, x, self.usage[first] + self.usage[second])

    def move(self, k: int, x: list[float], divisor: int) -> None:
        y = self.prototype[k]
        for j in range(len(x)):
            y[j] += (x[j] - y[j]) / divisor

    def connect(self, first: int, second: int) -> None:
        """2.4 Case III: two well-used nodes that win together become active and gather evidence.

        The published tables come from evidence gathered by well-used pairs only; the printed
        variant gathers it whenever Case III occurs.
        """
        bar = self.activity_bar()
        well_used = self.above(self.usage[first], bar) and self.above(self.usage[second], bar)
        if well_used:
            self.active[first] = True
            self.active[second] = True
        if well_used or self.evidence_is_printed:
            self.promote(pair(first, second))

    def activity_bar(self) -> float:
        """2.4 T_active: the mean usage of the nodes used more than once."""
        return mean_of([usage for usage in self.usage if usage > 1])

    def promote(self, ij: tuple[int, int]) -> None:
        """2.4 One more piece of evidence; more than the average pair has makes an edge."""
        self.evidence[ij] = self.evidence.get(ij, 0) + 1
        if self.above(self.evidence[ij], self.edge_bar()):
            self.edges.add(ij)

    def edge_bar(self) -> float:
        """2.4 T_edge: the mean of the positive evidence."""
        return mean_of(list(self.evidence.values()))

    # ---- Maintenance (docs/algorithm.md, section 2, step 5) ----------------------------------

    def maintain(self) -> None:
        self.cut_long_edges()
        self.drop_single_use_nodes()
        self.retire_quiet_nodes()
        self.take_snapshots()

    def cut_long_edges(self) -> None:
        """2.5.1 An edge longer than Tukey's upper fence goes, and its evidence with it."""
        if not self.edges:
            return
        length = {(i, j): self.distance(self.prototype[i], self.prototype[j]) for i, j in self.edges}
        q1 = hazen_quantile(list(length.values()), 0.25)
        q3 = hazen_quantile(list(length.values()), 0.75)
        fence = q3 + TUKEY * (q3 - q1)
        for ij in sorted(length):
            if self.above(length[ij], fence):
                self.edges.remove(ij)
                del self.evidence[ij]

    def drop_single_use_nodes(self) -> None:
        """2.5.2 Of the nodes used once the newest Lambda stay, if any node was used more."""
        used_once = [k for k in range(len(self.usage)) if self.usage[k] == 1]
        some_used_more = len(used_once) < len(self.usage)
        if some_used_more and len(used_once) > self.interval:
            dropped = used_once[: -self.interval]
            self.keep_only([k for k in range(len(self.usage)) if k not in dropped])

    def keep_only(self, kept: list[int]) -> None:
        """The nodes kept stay in their order and their indices close up, also in the pairs."""
        self.prototype = [self.prototype[k] for k in kept]
        self.usage = [self.usage[k] for k in kept]
        self.wins = [self.wins[k] for k in kept]
        self.scale = [self.scale[k] for k in kept]
        self.active = [self.active[k] for k in kept]
        self.idle = [self.idle[k] for k in kept]
        self.usage_before = [self.usage_before[k] for k in kept]
        self.evidence_before = [self.evidence_before[k] for k in kept]
        place = {old: new for new, old in enumerate(kept)}
        self.edges = {(place[i], place[j]) for i, j in self.edges}
        self.evidence = {(place[i], place[j]): n for (i, j), n in self.evidence.items()}

    def row_sum(self, k: int) -> int:
        """All evidence that node k shares with others."""
        return sum(n for ij, n in self.evidence.items() if k in ij)

    def activity(self, k: int) -> int:
        """2.5.3 P_k: what node k gained in usage and evidence since the last maintenance."""
        usage_gained = self.usage[k] - self.usage_before[k]
        evidence_gained = self.row_sum(k) - self.evidence_before[k]
        return usage_gained + evidence_gained

    def retire_quiet_nodes(self) -> None:
        """2.5.3 Two quiet rounds in a row make a node inactive; any other resets the count."""
        activities = [self.activity(k) for k in range(len(self.usage))]
        positive = [activity for activity in activities if activity > 0]
        if not positive:
            self.idle = [0] * len(self.idle)
            return
        q1 = hazen_quantile(positive, 0.25)
        q3 = hazen_quantile(positive, 0.75)
        lower_bound = max(q1 - TUKEY * (q3 - q1), 0.0)
        for k in range(len(self.usage)):
            if self.active[k] and not self.has_edge(k) and not self.above(activities[k], lower_bound):
                self.idle[k] += 1
            else:
                self.idle[k] = 0
            if self.idle[k] == QUIET_ROUNDS:
                self.active[k] = False
                self.idle[k] = 0

    def has_edge(self, k: int) -> bool:
        return any(k in ij for ij in self.edges)

    def take_snapshots(self) -> None:
        """2.5.4 What the next maintenance measures activity from."""
        self.usage_before = list(self.usage)
        self.evidence_before = [self.row_sum(k) for k in range(len(self.usage))]

    # ---- Recalibration (docs/algorithm.md, section 3) ----------------------------------------

    def is_due(self) -> bool:
        """2.6 An interval has passed and there are nodes enough; never in the variant w/o All."""
        enough_samples = self.since_recalibration >= self.interval
        enough_nodes = len(self.prototype) > 2
        return self.may_recalibrate and enough_samples and enough_nodes

    def recalibrate(self) -> None:
        """3. A new interval, cluster ratio and vigilance, or all kept; it counts either way."""
        ratio_now = len(self.components()) / len(self.prototype)
        similarity = self.window_similarity()
        interval_and_ratio = self.reconsider(similarity, ratio_now)
        if interval_and_ratio is not None:
            self.interval, self.cluster_ratio = interval_and_ratio
            self.vigilance = self.vigilance_over(similarity, self.interval)
        self.since_recalibration = 0
        self.trim()

    def window_similarity(self) -> Matrix:
        """3. S over the whole window, newest first, so that S_L is its leading L x L block."""
        alpha = 1 / self.widest()
        newest_first = self.window[::-1]
        return [[1 / (1 + alpha * away) for away in self.distances(a, newest_first)] for a in newest_first]

    def widest(self) -> float:
        """3. The largest scale of a node."""
        return max(self.scale)

    def reconsider(self, similarity: Matrix, ratio_now: float) -> tuple[int, float] | None:
        """3. Shrink, else grow; None means that everything is kept."""
        wanted = min(self.interval, len(self.window))
        longest = self.longest_stable(similarity, wanted) if self.may_shrink else wanted
        if longest < wanted:
            return self.shrunk(longest, ratio_now)
        if self.may_grow:
            return self.grown(similarity, ratio_now)
        # 6. w/o Inc.: the interval stays, by the same formula as if it had shrunk to itself.
        return self.shrunk(self.interval, ratio_now)

    def longest_stable(self, similarity: Matrix, limit: int) -> int:
        """3. L_ok, as far as it matters: try every length from 1 up until one is unstable."""
        longest = 0
        while longest < limit and self.is_stable(similarity, longest + 1):
            longest += 1
        return longest

    def is_stable(self, similarity: Matrix, length: int) -> bool:
        """3. S_L has a Cholesky factor, and its determinant is not all but zero."""
        factor: Matrix = []
        product = 1.0
        for i in range(length):
            row: list[float] = []
            for j in range(i):
                known = sum_of_products(row, factor[j], j)
                row.append((similarity[i][j] - known) / factor[j][j])
            pivot = similarity[i][i] - sum_of_products(row, row, i)
            if not self.above(pivot, 0.0):
                return False
            row.append(math.sqrt(pivot))
            factor.append(row)
            product *= row[i]
        return self.at_least(product * product, DETERMINANT_FLOOR)

    def shrunk(self, longest: int, ratio_now: float) -> tuple[int, float] | None:
        """3. Shrink: down to the longest stable length, unless not even two samples are stable.

        The ratio is smoothed once per length from 2 to the longest, here in closed form.
        """
        if longest < 2:
            return None
        weight = (1 - 1 / self.interval) ** (longest - 1)
        return longest, weight * self.cluster_ratio + (1 - weight) * ratio_now

    def grown(self, similarity: Matrix, ratio_now: float) -> tuple[int, float] | None:
        """3. Grow: probe ever longer windows, up to twice the interval, until one is unstable."""
        if len(self.window) <= self.interval:
            return None
        end = min(2 * self.interval, len(self.window))
        smoothed = smooth(self.cluster_ratio, ratio_now, self.interval)
        last_stable = self.interval
        step = 1
        while last_stable < end:
            probe = min(self.interval + step, end)
            if not self.is_stable(similarity, probe):
                return last_stable, smooth(smoothed, ratio_now, last_stable)
            last_stable = probe
            step *= 2
        return end, smoothed

    def vigilance_over(self, similarity: Matrix, length: int) -> float:
        """3. Vigilance: a quantile of how similar the newest samples are to their closest other."""
        closest = [max(similarity[i][j] for j in range(length) if j != i) for i in range(length)]
        return hazen_quantile(closest, 1 - self.cluster_ratio)

    # ---- Clusters and prediction (docs/algorithm.md, section 4) ------------------------------

    def components(self) -> list[list[int]]:
        """The connected components over all nodes, each sorted, in order of their oldest node."""
        found: list[list[int]] = []
        seen: set[int] = set()
        for k in range(len(self.prototype)):
            if k not in seen:
                component = self.component_of(k)
                seen |= component
                found.append(sorted(component))
        return found

    def component_of(self, start: int) -> set[int]:
        reached = {start}
        waiting = [start]
        while waiting:
            k = waiting.pop()
            for i, j in self.edges:
                if k in (i, j):
                    other = j if k == i else i
                    if other not in reached:
                        reached.add(other)
                        waiting.append(other)
        return reached

    def winner(self, x: Sequence[float]) -> int:
        """4. The candidate with the smallest distance in units of its scale; of equals the older.

        Nothing learnt is changed; only `margin` and `ties` record how close it was.
        """
        x = [float(value) for value in x]
        nodes = range(len(self.prototype))
        candidates = [k for k in nodes if self.active[k]] or list(nodes)
        scaled = {k: self.distance(x, self.prototype[k]) / self.scale[k] for k in candidates}
        order = sorted(candidates, key=lambda k: (scaled[k], k))
        if len(order) > 1:
            self.weigh(scaled[order[0]], scaled[order[1]])
        return order[0]

    def predict(self, x: Sequence[float]) -> int:
        """4. The label is the oldest node of the winner's component."""
        return min(self.component_of(self.winner(x)))

    # ---- How close every decision was --------------------------------------------------------

    def above(self, a: float, b: float) -> bool:
        self.weigh(a, b)
        return a > b

    def at_least(self, a: float, b: float) -> bool:
        self.weigh(a, b)
        return a >= b

    def weigh(self, a: float, b: float) -> None:
        """Note the relative margin of a comparison; an exact tie is counted instead."""
        if a == b:
            self.ties += 1
        else:
            self.margin = min(self.margin, abs(a - b) / max(abs(a), abs(b), TINY))


# ---- Arithmetic ------------------------------------------------------------------------------


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    total = 0.0
    for j in range(len(a)):
        difference = a[j] - b[j]
        total += difference * difference
    return math.sqrt(total)


def sum_of_products(a: Sequence[float], b: Sequence[float], count: int) -> float:
    total = 0.0
    for j in range(count):
        total += a[j] * b[j]
    return total


def mean_of(counts: Sequence[int]) -> float:
    return sum(counts) / len(counts)


def smooth(ratio: float, ratio_now: float, length: int) -> float:
    return ratio_now / length + (1 - 1 / length) * ratio


def hazen_quantile(values: Sequence[float], level: float) -> float:
    """The i-th smallest of n values (from 1) is at level (i - 1/2) / n; linear in between."""
    ordered = sorted(values)
    position = len(ordered) * level - 0.5
    if position <= 0:
        return ordered[0]
    if position >= len(ordered) - 1:
        return ordered[-1]
    below = math.floor(position)
    step = ordered[below + 1] - ordered[below]
    return ordered[below] + (position - below) * step


def pair(i: int, j: int) -> tuple[int, int]:
    return (i, j) if i < j else (j, i)
