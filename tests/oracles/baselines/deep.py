"""TableDC and G-CEALS as specified, with PyTorch's own layers. Imports nothing from everclust."""

from itertools import pairwise

import numpy as np
import torch
from torch import nn
from torch.nn import functional


def perceptron(sizes):
    layers = []
    for n_in, n_out in pairwise(sizes):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Autoencoder(nn.Module):
    def __init__(self, sizes, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.encoder, self.decoder = perceptron(sizes), perceptron(sizes[::-1])

    def forward(self, rows):
        codes = self.encoder(rows)
        return codes, self.decoder(codes)


def pretrain(autoencoder, X, epochs, batch_size):
    """Mean squared error of every epoch."""
    adam, losses = torch.optim.Adam(autoencoder.parameters(), lr=1e-3), []
    for _ in range(epochs):
        total = 0.0
        order = torch.randperm(len(X))
        for start in range(0, len(X), batch_size):
            rows = X[order[start : start + batch_size]]
            loss = functional.mse_loss(autoencoder(rows)[1], rows)
            adam.zero_grad()
            loss.backward()
            adam.step()
            total += loss.item() * len(rows)
        losses.append(total / len(X))
    return losses


def tabledc(autoencoder, centres, X, epochs):
    """Reconstruction and clustering loss before every step; the nearest centres in the end."""
    centres = nn.Parameter(torch.tensor(centres, dtype=torch.float32))
    adam, losses = torch.optim.Adam([*autoencoder.parameters(), centres], lr=1e-3), []
    for _ in range(epochs):
        codes, rebuilt = autoencoder(X)
        away = [torch.linalg.vector_norm(codes - centre, dim=1) for centre in centres]
        distance = 10 * torch.stack(away, 1)
        q = 1 / (1 + distance / 0.25)
        kept = q.detach().numpy().astype(float)
        t = kept**2 / kept.sum(axis=0)
        t = torch.tensor(t / t.sum(axis=1, keepdims=True), dtype=torch.float32)
        divergence = (t * (t.log() - q.softmax(1).log())).sum(1).mean()
        error = ((rebuilt - X) ** 2).mean()
        adam.zero_grad()
        (0.9 * divergence + error).backward()
        adam.step()
        losses.append((error.item(), divergence.item()))
    return np.array(losses), torch.cdist(autoencoder(X)[0], centres).argmin(1).numpy()


def memberships(codes, centroids, variances):
    """With the inverse of each covariance matrix, as it is written."""
    distances = []
    for centroid, variance in zip(centroids, variances, strict=True):
        away = codes - centroid
        distances.append(((away @ torch.linalg.pinv(torch.diag(variance))) * away).sum(1).sqrt())
    return torch.softmax(-torch.stack(distances, 1), 1)


def balanced(groups, batch_size):
    """Rows of one batch, from the smallest group to the largest."""
    members = sorted(([i for i, g in enumerate(groups) if g == j] for j in sorted(set(groups))), key=len)
    total = min(batch_size, len(members) * len(members[0]))
    rows = []
    for j, group in enumerate(members):
        order = torch.randperm(len(group)).tolist()
        n = total // len(members) if j < len(members) - 1 else total - len(rows)
        rows += [group[i] for i in order[:n]]
    return rows


def g_ceals(autoencoder, centroids, groups, X, *, epochs, batch_size, gamma=0.1, stop_factor=0.1):
    """Both losses before every step, the labels, weights and number of steps in the end."""
    n_clusters, n_latent = centroids.shape
    centroids = nn.Parameter(torch.tensor(centroids, dtype=torch.float32))
    spreads = nn.Parameter(torch.full((n_clusters, n_latent), 0.541325))
    head = perceptron([n_latent, n_latent, n_clusters])
    adam = torch.optim.Adam([*autoencoder.parameters(), centroids, spreads, *head.parameters()], lr=1e-3)
    weights, losses, epoch = torch.full((n_clusters,), 1 / n_clusters), [], 0
    while True:
        with torch.no_grad():
            p = memberships(autoencoder(X)[0], centroids, functional.softplus(spreads))
        if epoch > 0:
            weights = p.mean(0)
        if epoch == epochs or weights.min() <= stop_factor / n_clusters:
            return np.array(losses), p.argmax(1).numpy(), weights.numpy(), epoch
        rows = X[balanced(groups.tolist(), batch_size)]
        codes, rebuilt = autoencoder(rows)
        target = weights * memberships(codes, centroids, functional.softplus(spreads))
        clustering = functional.cross_entropy(head(codes), target)
        error = functional.mse_loss(rebuilt, rows)
        adam.zero_grad()
        (error + gamma * clustering).backward()
        adam.step()
        losses.append((error.item(), clustering.item()))
        epoch += 1
