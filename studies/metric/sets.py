"""The data sets of the study: raw tables, and embeddings or scaled features that can be made offline.

Each set has a kind ("raw" or "scaled") and a half ("find" or "confirm"); sets of one origin are in one half.
"""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize
from sklearn.random_projection import GaussianRandomProjection

from studies.beyond.runs import load

MOST_ROWS = 5000
PACKAGES = {
    "find": ("numpy", "scipy", "sklearn", "pandas", "numba", "river", "matplotlib", "asyncio"),
    "confirm": ("email", "unittest", "xml", "llvmlite", "joblib", "rich", "pip", "typer", "mypy"),
}


class Set(NamedTuple):
    """A data set of the study."""

    name: str
    kind: str
    half: str
    make: Callable[[], tuple[np.ndarray, np.ndarray]]


def drawn(X, y, n=MOST_ROWS):
    """At most n rows, at random, the same ones every time."""
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:n])
    return np.ascontiguousarray(X[rows], dtype=float), np.asarray(y)[rows]


def table(name):
    """A set as it is, or one of scikit-learn's."""
    loader = getattr(datasets, f"load_{name}", None)
    return drawn(*(loader(return_X_y=True) if loader and name != "iris" else load(name)))


def with_step(name, step):
    """A set whose features were transformed."""
    X, y = table(name)
    return np.ascontiguousarray(step.fit_transform(X), dtype=float), y


def standard(X):
    """Features of unit variance."""
    return StandardScaler().fit_transform(X)


def components(name, n, scaled=False):
    """Principal components."""
    X, y = table(name)
    return PCA(n, random_state=0).fit_transform(standard(X) if scaled else X), y


def directions(name):
    """Rows of unit length."""
    X, y = table(name)
    return normalize(X), y


def hidden_layer(name, width):
    """What a small network says to other classes than those it was trained on, and to these."""
    X, y = table(name)
    X = MinMaxScaler().fit_transform(X)
    known = y % 2 == 0
    net = MLPClassifier((width,), max_iter=15, random_state=0).fit(X[known], y[known])
    return np.maximum(X @ net.coefs_[0] + net.intercepts_[0], 0.0), y


def cells(n_types, n_genes, seed, n=3000, n_parts=30):
    """Principal components of simulated counts: few genes tell types apart, depths vary."""
    rng = np.random.default_rng(seed)
    profile = rng.gamma(0.3, 1.0, n_genes) * np.exp(
        rng.normal(size=(n_types, n_genes)) * 2 * (rng.random((n_types, n_genes)) < 0.05)
    )
    y = rng.choice(n_types, n, p=rng.dirichlet(np.full(n_types, 2.0)))
    programme = np.exp(rng.normal(size=(n, 3)) @ rng.normal(size=(3, n_genes)) * 0.3)
    counts = rng.poisson(profile[y] * programme * rng.lognormal(0, 0.4, n)[:, None])
    depth = counts.sum(axis=1, keepdims=True)
    return PCA(n_parts, random_state=0).fit_transform(np.log1p(counts / np.maximum(depth, 1) * 1e4)), y


def docstrings(path):
    """Of the functions and classes of a file."""
    nodes = ast.walk(ast.parse(path.read_text()))
    found = [
        ast.get_docstring(node) or "" for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    return [text for text in found if len(text) > 200]


def pieces(path):
    """The source of a file, cut."""
    text = path.read_text(errors="replace")
    return [text[k : k + 2000] for k in range(0, len(text) - 1000, 2000)]


def corpus(half):
    """(text, number of the package) of installed packages."""
    library, site = (Path(sysconfig.get_paths()[key]) for key in ("stdlib", "purelib"))
    for k, package in enumerate(PACKAGES[half]):
        folder = library / package if (library / package).is_dir() else site / package
        paths = sorted(folder.rglob("*.py"))
        for i in np.random.default_rng(k).permutation(len(paths))[:60]:
            yield from ((text, k) for text in (docstrings if half == "find" else pieces)(paths[i]))


def texts(half, n=50, unit=False):
    """SVD of the words of docstrings (find) or of sources (confirm); the class is the package."""
    pairs = list(corpus(half))
    rng = np.random.default_rng(0)
    order = rng.permutation(len(pairs))
    y = np.array([pairs[i][1] for i in order])
    order = order[np.concatenate([np.flatnonzero(y == k)[:600] for k in np.unique(y)])]
    words = TfidfVectorizer(sublinear_tf=True, min_df=5, max_df=0.3, max_features=8000)
    X = TruncatedSVD(n, random_state=0).fit_transform(words.fit_transform([pairs[i][0] for i in order]))
    y = np.array([pairs[i][1] for i in order])
    return drawn(normalize(X) if unit else X, y)


def _raw(half, *names):
    return [Set(name, "raw", half, lambda name=name: table(name)) for name in names]


def _scaled(half, **makers):
    return [Set(name, "scaled", half, make) for name, make in makers.items()]


SETS = [
    *_raw("find", "iris", "dermatology", "image_segmentation", "rice", "texture", "statlog", "penbased"),
    *_raw("find", "optdigits", "yeast", "shuttle", "wine"),
    *_raw("confirm", "seeds", "pima", "mice_protein_uci", "phoneme", "anuran_calls", "letter", "tuandromd"),
    *_raw("confirm", "semeion", "binalpha", "breast_cancer", "isolet", "skin", "msra25_256"),
    *_scaled(
        "find",
        optdigits_pca=lambda: components("optdigits", 20),
        digits_pca=lambda: components("digits", 30),
        dermatology_standard_pca=lambda: components("dermatology", 10, scaled=True),
        image_segmentation_minmax=lambda: with_step("image_segmentation", MinMaxScaler()),
        statlog_pca=lambda: components("statlog", 10),
        texture_standard=lambda: with_step("texture", StandardScaler()),
        wine_standard=lambda: with_step("wine", StandardScaler()),
        penbased_kernel=lambda: with_step("penbased", Nystroem(gamma=5e-5, n_components=100, random_state=0)),
        optdigits_projected=lambda: with_step("optdigits", GaussianRandomProjection(32, random_state=0)),
        optdigits_hidden=lambda: hidden_layer("optdigits", 64),
        cells_8=lambda: cells(8, 2000, 1),
        cells_15=lambda: cells(15, 1000, 2, n_parts=50),
        texts_find=lambda: texts("find"),
    ),
    *_scaled(
        "confirm",
        mnist_pca=lambda: components("mnist10k_pixels", 50),
        isolet_pca=lambda: components("isolet", 50),
        semeion_pca=lambda: components("semeion", 40),
        mice_protein_directions=lambda: directions("mice_protein"),
        anuran_calls_standard_pca=lambda: components("anuran_calls", 10, scaled=True),
        breast_cancer_minmax=lambda: with_step("breast_cancer", MinMaxScaler()),
        letter_standard=lambda: with_step("letter", StandardScaler()),
        seeds_kernel=lambda: with_step("seeds", RBFSampler(gamma=0.1, n_components=50, random_state=0)),
        mnist_projected=lambda: with_step("mnist10k_pixels", GaussianRandomProjection(64, random_state=0)),
        isolet_hidden=lambda: hidden_layer("isolet", 100),
        cells_6=lambda: cells(6, 1500, 3, n_parts=20),
        cells_20=lambda: cells(20, 3000, 4),
        texts_confirm=lambda: texts("confirm"),
        texts_confirm_unit=lambda: texts("confirm", unit=True),
    ),
]
