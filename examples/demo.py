"""Cluster handwritten digits that arrive class by class: prints a table and draws a picture (`make demo`)."""

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from everclust import EverClust, TopologyDisplay
from everclust.view.palette import colours_of, paler

SEED = 0
PICTURE = Path("everclust_demo.png")
N_ROWS = 12  # of the table of clusters


def main() -> None:
    """Learn, print the clusters, draw the nodes."""
    X, y = load_digits(return_X_y=True)
    random = np.random.default_rng(SEED)
    classes = random.permutation(np.unique(y))
    parts = [random.permutation(np.flatnonzero(y == digit)) for digit in classes]
    warm_up(X)
    model = learn_class_by_class(X, y, classes, parts)
    order = np.concatenate(parts)
    print_clusters(model, X[order], y[order])
    draw(model, X[order])
    print(f"\npicture: {PICTURE.resolve()}")


def warm_up(X: np.ndarray) -> None:
    """Compile; later runs load the compiled kernels from disk."""
    print("compiling (first run only) ...", end=" ", flush=True)
    start = time.perf_counter()
    EverClust().fit(X)
    print(f"{time.perf_counter() - start:.1f} s\n")


def learn_class_by_class(
    X: np.ndarray, y: np.ndarray, classes: np.ndarray, parts: list[np.ndarray]
) -> EverClust:
    """Learn one digit after the other; the model sees each image once and no class labels."""
    print(f"{len(X)} images of {X.shape[1]} pixels, one digit after the other, each image once\n")
    print("new digit   samples   nodes   active   clusters    ARI    AMI   over all digits so far")
    model, took = EverClust(), 0.0
    for n, digit in enumerate(classes, start=1):
        start = time.perf_counter()
        model.partial_fit(X[parts[n - 1]])
        took += time.perf_counter() - start
        print(f"{digit:9}   {progress(model, X, y, np.concatenate(parts[:n]))}")
    print(f"\nlearnt in {took * 1e3:.0f} ms, with nothing to tune")
    return model


def progress(model: EverClust, X: np.ndarray, y: np.ndarray, seen: np.ndarray) -> str:
    """Counts, and agreement with the digits seen so far if there are two or more."""
    line = f"{len(seen):7}   {model.n_nodes_:5}   {model.n_active_nodes_:6}   {model.n_clusters_:8}"
    if len(np.unique(y[seen])) == 1:
        return line + "      -      -"
    labels = model.predict(X[seen])
    ari, ami = adjusted_rand_score(y[seen], labels), adjusted_mutual_info_score(y[seen], labels)
    return line + f"   {ari:4.2f}   {ami:4.2f}"


def print_clusters(model: EverClust, X: np.ndarray, y: np.ndarray) -> None:
    """Print the largest clusters and their most frequent digit."""
    labels = model.predict(X)
    ids, sizes = np.unique(labels, return_counts=True)
    print(f"\nthe {min(N_ROWS, len(ids))} largest of {model.n_clusters_} clusters\n")
    print("cluster   size   mostly   purity")
    for i in np.argsort(-sizes, kind="stable")[:N_ROWS]:
        count = np.bincount(y[labels == ids[i]])
        print(f"{ids[i]:7}   {sizes[i]:4}   {count.argmax():6}   {count.max() / sizes[i]:6.0%}")


def draw(model: EverClust, X: np.ndarray) -> None:
    """Draw the topology (left) and the prototypes of the active nodes as images (right)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.9), layout="constrained", dpi=120)
    TopologyDisplay.from_estimator(model, X, ax=left)
    draw_atlas(model, right)
    left.set_title("nodes, edges and samples", loc="left", fontsize=11)
    right.set_title("what the nodes have learnt", loc="left", fontsize=11)
    figure.savefig(PICTURE, pil_kwargs={"optimize": True})


def draw_atlas(model: EverClust, ax: Axes) -> None:
    """Draw each active node as an image in the colour of its cluster, next to similar ones."""
    nodes = np.flatnonzero(model.node_labels_ >= 0)
    place = np.full((model.n_nodes_, 2), np.nan)
    place[nodes] = cells(model.prototypes_[nodes], model.node_labels_[nodes])
    for a, b in model.edges_:
        colour = colours_of(model.node_labels_[[a]])[0]
        ax.plot(*place[[a, b]].T, color=colour, linewidth=3, zorder=1, solid_capstyle="round")
    for k in nodes:
        x, y = place[k]
        ax.imshow(
            tinted(model.prototypes_[k].reshape(8, 8), colours_of(model.node_labels_[[k]])[0]),
            extent=(x - 0.4, x + 0.4, y - 0.4, y + 0.4),
            interpolation="bilinear",
            zorder=2,
        )
    ax.set(xlim=(-0.6, place[nodes, 0].max() + 0.6), ylim=(-0.6, place[nodes, 1].max() + 0.6), aspect="equal")
    ax.axis("off")


def cells(prototypes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Assign each prototype a cell of a square grid so that clusters and neighbours stay together."""
    _, cluster = np.unique(labels, return_inverse=True)
    centres = np.stack([prototypes[cluster == k].mean(axis=0) for k in range(cluster.max() + 1)])
    drawn_together = 0.4 * prototypes + 0.6 * centres[cluster]
    flat = TSNE(method="exact", init="pca", perplexity=8, random_state=SEED).fit_transform(drawn_together)
    side = int(np.ceil(np.sqrt(len(flat))))
    even = 0.5 * (flat - flat.min(axis=0)) / np.ptp(flat, axis=0) + 0.5 * rankdata(flat, axis=0) / len(flat)
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
    cost = ((even[:, None] * (side - 1) - grid[None]) ** 2).sum(axis=2)
    return grid[linear_sum_assignment(cost)[1]].astype(float)


def tinted(image: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """The image in the colour of the cluster on a pale background of the same colour."""
    ink = np.clip(image / 16.0, 0.0, 1.0)[:, :, None]
    return ink * (0.75 * colour) + (1.0 - ink) * paler(colour, 0.8)


if __name__ == "__main__":
    main()
