"""SOINN+ in slow plain Python, one step after the other. Nothing from everclust."""

import math

import numpy as np


class Oracle:
    """Operations are in the order of the specification, so that results are equal to the bit."""

    def __init__(self, link=2, edge=2, node=2, divisor=100, sums_indices=True):
        self.link_factor, self.edge_factor, self.node_factor, self.divisor = link, edge, node, divisor
        self.sums_indices = sums_indices
        self.w, self.wt, self.ts, self.life, self.t = [], [], [], {}, 0
        self.n_l, self.mu, self.s = 0, [0.0, 0.0], [0.0, 0.0]
        self.e_n, self.e_m, self.d_n, self.d_u = 0, 0.0, 0, 0.0

    def learn(self, x):
        x = np.array(x, float)
        # 1
        self.t += 1
        if len(self.w) < 3:
            self.add(x)
            return
        # 2
        d = [squared(x, w) for w in self.w]
        order = sorted(range(len(d)), key=lambda k: (d[k], k))
        s1, s2 = order[:2]
        # 3
        theta = [self.threshold(s1), self.threshold(s2)]
        # 5
        if d[s1] > theta[0] or d[s2] > theta[1]:
            self.add(x)
        else:
            self.merge(x, s1, s2, [math.sqrt(v) for v in theta])
        # 9
        self.delete_idle()

    def add(self, x):
        self.w.append(x)
        self.wt.append(1)
        self.ts.append(self.t)

    def neighbours(self, k):
        return sorted(next(iter(pair - {k})) for pair in self.life if k in pair)

    def threshold(self, k):
        near = self.neighbours(k)
        if near:
            return max(squared(self.w[k], self.w[n]) for n in near)
        return sorted(squared(self.w[k], w) for w in self.w)[1]

    def merge(self, x, s1, s2, root):
        pair = frozenset((s1, s2))
        # 4
        if self.may_link(s1, s2, root):
            # 6
            if pair in self.life:
                self.n_l += 1
                for i in range(2):
                    old = self.mu[i]
                    self.mu[i] += (root[i] - old) / self.n_l
                    self.s[i] += (root[i] - old) * (root[i] - self.mu[i])
            self.life[pair] = 1
        # 7
        for edge in self.life:
            if s1 in edge:
                self.life[edge] += 1
        s1 = self.delete_edges(s1)
        # 8
        self.wt[s1] += 1
        self.w[s1] = self.w[s1] + (x - self.w[s1]) / self.wt[s1]
        self.ts[s1] = self.t
        for n in self.neighbours(s1):
            self.w[n] = self.w[n] + (x - self.w[n]) / (self.divisor * self.wt[n])

    def may_link(self, s1, s2, root):
        if 0 in self.s:
            return True
        linked = [self.wt[k] for k in frozenset().union(*self.life)]
        most = max(linked or self.wt)
        return any(
            root[i] * (1 - self.wt[k] / most)
            < self.mu[i] + self.link_factor * math.sqrt(self.s[i] / self.n_l)
            for i, k in enumerate((s1, s2))
        )

    def delete_edges(self, s1):
        component = self.components()
        ages = [age for pair, age in self.life.items() if component[min(pair)] == component[s1]]
        if not ages:
            return s1
        q25, q75 = np.percentile(ages, [25, 75], method="hazen")
        h = self.edge_factor * (q75 - q25)
        if h == 0:
            return s1
        rho = self.e_n / (self.e_n + len(ages))
        limit = self.e_m * rho + (q75 + h) * (1 - rho)
        old = [pair for pair in self.life if s1 in pair and self.life[pair] > limit]
        if not old:
            return s1
        gone = [self.life.pop(pair) for pair in old]
        self.e_m = (self.e_n * self.e_m + sum(gone)) / (self.e_n + len(gone))
        self.e_n += len(gone)
        alone = [k for pair in old for k in pair - {s1} if not self.neighbours(k)]
        self.d_n += sum(k + 1 for k in alone) if self.sums_indices else len(alone)
        self.delete(alone)
        return s1 - sum(k < s1 for k in alone)

    def delete_idle(self):
        u = [(self.t - ts) / wt for ts, wt in zip(self.ts, self.wt, strict=True)]
        linked = frozenset().union(*self.life)
        isolated = [k for k in range(len(u)) if k not in linked]
        connected = [u[k] for k in sorted(linked)]
        if not connected:
            return
        m = median(connected)
        mad = 1.482602218505602 * median([abs(v - m) for v in connected])
        rho = self.d_n / (self.d_n + len(connected))
        nu = len(isolated) / len(u)
        limit = self.d_u * rho + (m + self.node_factor * mad) * (1 - rho) * (1 - nu)
        idle = [k for k in isolated if u[k] > limit]
        if idle:
            self.d_u = (self.d_n * self.d_u + sum(u[k] for k in idle)) / (self.d_n + len(idle))
            self.d_n += len(idle)
            self.delete(idle)

    def delete(self, nodes):
        for k in sorted(nodes, reverse=True):
            del self.w[k], self.wt[k], self.ts[k]
            self.life = {frozenset(i - (i > k) for i in pair): age for pair, age in self.life.items()}

    def components(self):
        lowest, before = list(range(len(self.w))), None
        while lowest != before:
            before = lowest.copy()
            for i, j in map(tuple, self.life):
                lowest[i] = lowest[j] = min(lowest[i], lowest[j])
        return [sorted(set(lowest)).index(k) for k in lowest]


def squared(a, b):
    total = 0.0
    for difference in (np.asarray(a) - np.asarray(b)).tolist():
        total += difference * difference
    return total


def median(values):
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return low + 0.5 * (high - low)
