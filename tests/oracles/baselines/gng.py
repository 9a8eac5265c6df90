"""Growing Neural Gas in slow plain Python, one step after the other. Nothing from everclust."""

import numpy as np


class Oracle:
    """Errors fade one by one, so that a network that does it otherwise has them up to rounding only.

    `margin` is the narrowest decision that was taken between two errors so far, relative to their size.
    """

    def __init__(self, eps_b, eps_n, a_max, lambda_, alpha, delta, max_nodes=2000):
        self.eps_b, self.eps_n, self.a_max, self.lambda_ = eps_b, eps_n, a_max, lambda_
        self.alpha, self.delta, self.max_nodes = alpha, delta, max_nodes
        self.w, self.err, self.age, self.t, self.margin = [], [], {}, 0, np.inf

    def learn(self, x):
        x = np.array(x, float)
        if len(self.w) < 2:
            self.w.append(x.copy())
            self.err.append(0.0)
            if len(self.w) == 2:
                self.present(self.w[0].copy())
                self.present(x)
            return
        self.present(x)

    def neighbours(self, k):
        return sorted(next(iter(pair - {k})) for pair in self.age if k in pair)

    def present(self, x):
        self.t += 1
        # 1
        d = [squared(x, w) for w in self.w]
        s1, s2 = sorted(range(len(d)), key=lambda k: (d[k], k))[:2]
        # 2
        for pair in self.age:
            if s1 in pair:
                self.age[pair] += 1
        # 3
        self.err[s1] += d[s1]
        # 4
        self.w[s1] = self.w[s1] + self.eps_b * (x - self.w[s1])
        for n in self.neighbours(s1):
            self.w[n] = self.w[n] + self.eps_n * (x - self.w[n])
        # 5
        self.age[frozenset((s1, s2))] = 0
        # 6
        self.age = {pair: age for pair, age in self.age.items() if age <= self.a_max}
        for k in reversed(range(len(self.w))):
            if not self.neighbours(k):
                self.delete(k)
        # 7
        if self.t % self.lambda_ == 0 and len(self.w) < self.max_nodes:
            self.insert()
        # 8
        self.err = [self.delta * e for e in self.err]

    def delete(self, k):
        del self.w[k], self.err[k]
        self.age = {frozenset(i - (i > k) for i in pair): age for pair, age in self.age.items()}

    def insert(self):
        q = self.worst(range(len(self.w)))
        f = self.worst(self.neighbours(q))
        r = len(self.w)
        self.w.append((self.w[q] + self.w[f]) / 2)
        del self.age[frozenset((q, f))]
        self.age[frozenset((q, r))] = self.age[frozenset((f, r))] = 0
        self.err[q] *= self.alpha
        self.err[f] *= self.alpha
        self.err.append(self.err[q])

    def worst(self, nodes):
        worst, *others = sorted(nodes, key=lambda k: (-self.err[k], k))
        for e in [self.err[k] for k in others[:1]]:
            if e != self.err[worst]:
                self.margin = min(self.margin, 1 - e / self.err[worst])
        return worst

    def components(self):
        lowest, before = list(range(len(self.w))), None
        while lowest != before:
            before = lowest.copy()
            for i, j in map(tuple, self.age):
                lowest[i] = lowest[j] = min(lowest[i], lowest[j])
        return [sorted(set(lowest)).index(k) for k in lowest]


def squared(a, b):
    total = 0.0
    for difference in (np.asarray(a) - np.asarray(b)).tolist():
        total += difference * difference
    return total
