"""SR-PCM-HDP in slow plain Python, step by step. Imports nothing from everclust."""

import math


def densities(X):
    n_near = math.isqrt(len(X))
    totals = [sum(sorted(math.dist(x, y) for y in X)[: n_near + 1]) for x in X]
    return [n_near / total if total else math.inf for total in totals]


def separations(X, density):
    order = sorted(range(len(X)), key=lambda i: -density[i])  # stable
    found = [0.0] * len(X)
    for p, i in enumerate(order):
        earlier = [math.dist(X[i], X[j]) for j in order[:p]]
        found[i] = min(earlier) if earlier else max(math.dist(X[i], y) for y in X)
    return found


def dense_points(X, n_points):
    density = densities(X)
    separation = separations(X, density)
    peak = [rho * delta if delta else 0.0 for rho, delta in zip(density, separation, strict=True)]
    return sorted(sorted(range(len(X)), key=lambda i: -peak[i])[:n_points])


def mean_of(rows, weights):
    total = sum(weights)
    return [
        sum(w * row[k] for row, w in zip(rows, weights, strict=True)) / total for k in range(len(rows[0]))
    ]


def fuzzy_memberships(V, X, quirks):
    """One row for each centre."""
    D = [[math.dist(v, x) for x in X] for v in V]
    hit_centres = [j for j, row in enumerate(D) if 0 in row]
    U = [[0.0] * len(X) for _ in V]
    for i in range(len(X)):
        hits = [j for j in range(len(V)) if D[j][i] == 0]
        if hits:
            for j in hit_centres if quirks else hits:
                U[j][i] = 1.0 if quirks else 1 / len(hits)
        else:
            total = sum(D[j][i] ** -2 for j in range(len(V)))
            for j in range(len(V)):
                U[j][i] = D[j][i] ** -2 / total
    return U


def largest_change(V, W):
    return max(abs(a - b) for v, w in zip(V, W, strict=True) for a, b in zip(v, w, strict=True))


def fuzzy_c_means(V, X, quirks):
    for t in range(1, 151):
        before, U = V, fuzzy_memberships(V, X, quirks)
        V = [mean_of(X, [u * u for u in row]) for row in U]
        if t >= 2 and largest_change(V, before) < 1e-4:
            break
    eta = [
        sum(u * math.dist(v, x) for u, x in zip(row, X, strict=True)) / sum(row)
        for v, row in zip(V, U, strict=True)
    ]
    return V, eta


def moved(V, U, X, G, strength):
    """Steps 9 and 10."""
    R = fuzzy_memberships(V, G, quirks=False)
    found = []
    for v, u, r in zip(V, U, R, strict=True):
        weights = [*u, *(strength * share for share in r)]
        found.append(mean_of([*X, *G], weights) if sum(weights) > 0 else v)
    return found


def core_width(rows, weights):
    """Step 12 for the samples won by one cluster."""
    mean = sum(weights) / len(weights)
    core = [row for row, w in zip(rows, weights, strict=True) if w >= mean]
    middle = mean_of(core, [1.0] * len(core))
    return sum(math.dist(row, middle) for row in core) / len(core) if len(core) > 1 else 0.0


def eliminate(V, eta, X, G, alpha, strength):
    """Steps 8 to 13: labels, centres and widths they come from, number of clusters after each iteration."""
    mean_eta, counts = sum(eta) / len(eta), []
    for t in range(2, 251):
        U = [
            [math.exp(-alpha * math.dist(v, x) ** 2 / (mean_eta * e)) if mean_eta * e else 0.0 for x in X]
            for v, e in zip(V, eta, strict=True)
        ]
        W = moved(V, U, X, G, strength)
        best = [max(range(len(V)), key=lambda j, i=i: (U[j][i], j)) for i in range(len(X))]
        kept = sorted(set(best))
        label = [kept.index(j) for j in best]
        V, W, eta, U = ([part[j] for j in kept] for part in (V, W, eta, U))
        counts.append(len(kept))
        if t >= 3 and (len(kept) == 1 or (counts[-1] == counts[-2] and largest_change(V, W) < 1e-4)):
            return label, V, eta, counts
        used, V, used_eta = V, W, eta
        eta = []
        for j in range(len(kept)):
            won = [i for i in range(len(X)) if label[i] == j]
            eta.append(core_width([X[i] for i in won], [U[j][i] for i in won]))
    return label, used, used_eta, counts
