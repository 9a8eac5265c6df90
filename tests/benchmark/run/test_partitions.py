"""Further scores: hand-worked tables, brute force over all matchings, noise, several labellings."""

from itertools import permutations

import numpy as np
import pytest

from everclust.benchmark.data.entry import NOISE
from everclust.benchmark.run.measures import ami, ari
from everclust.benchmark.run.partitions import (
    ALL,
    clustering_accuracy,
    further_scores,
    labelling_scores,
)

# k-means on iris, and the scores that the manual of the R package genieclust prints for this table
IRIS = [[50, 0, 0], [0, 48, 2], [0, 14, 36]]
PRINTED = {"clustering_accuracy": 0.84, "fowlkes_mallows": 0.8208081}


def labels_of(table):
    """Classes and clusters with this table of counts."""
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return map(np.array, zip(*pairs, strict=True))


def by_all_matchings(y, labels):
    """The definition, word for word: the best of all one-to-one matchings, absent rows and columns 0."""
    classes, clusters = np.unique(y), np.unique(labels)
    size = max(len(classes), len(clusters))
    shares = np.zeros((size, size))
    for i, c in enumerate(classes):
        for j, k in enumerate(clusters):
            shares[i, j] = np.sum((y == c) & (labels == k)) / np.sum(y == c)
    n = len(classes)
    terms = [[(shares[i, s[i]] - 1 / n) / (1 - 1 / n) for i in range(n)] for s in permutations(range(size))]
    return max(map(sum, terms)) / n


def test_the_printed_example():
    y, labels = labels_of(IRIS)
    found = further_scores(y, labels)
    assert {name: pytest.approx(value, abs=5e-8) for name, value in PRINTED.items()} == {
        name: found[name] for name in PRINTED
    }
    assert ari(y, labels) == pytest.approx(0.7302383, abs=5e-8)


@pytest.mark.parametrize(("n_classes", "n_clusters"), [(2, 2), (2, 5), (4, 2), (3, 4), (5, 5)])
def test_accuracy_is_the_best_of_all_matchings(n_classes, n_clusters):
    random = np.random.RandomState(n_classes * 10 + n_clusters)
    for _ in range(10):
        y = np.r_[np.arange(n_classes), random.randint(n_classes, size=30)]
        labels = np.r_[random.randint(n_clusters, size=n_classes), random.randint(n_clusters, size=30)]
        assert clustering_accuracy(y, labels) == pytest.approx(by_all_matchings(y, labels), abs=1e-12)


def test_accuracy_of_small_classes_counts_as_much_as_of_large_ones():
    y, labels = labels_of([[90, 0], [10, 0]])  # the small class is lost
    assert clustering_accuracy(y, labels) == pytest.approx(0.0)
    assert clustering_accuracy([7, 7], [3, 3]) == 1.0
    assert clustering_accuracy([7, 7], [3, 4]) == 0.0


def test_homogeneity_and_completeness_by_hand():
    # classes 0011 in clusters 0012: clusters are pure; H(clusters) = 1.5 bit, of which 1 bit is the class
    found = further_scores([0, 0, 1, 1], [0, 0, 1, 2])
    assert found["homogeneity"] == pytest.approx(1.0)
    assert found["completeness"] == pytest.approx(1 / 1.5)
    # pairs: 2 of the same class, 1 of the same cluster, 1 of both
    assert found["fowlkes_mallows"] == pytest.approx(1 / np.sqrt(2 * 1))


def test_noise_is_left_out_of_every_score():
    random = np.random.RandomState(3)
    y, labels = random.randint(1, 4, size=60), random.randint(5, size=60)
    with_noise, with_labels = np.r_[y, [NOISE] * 20], np.r_[labels, random.randint(5, size=20)]
    assert labelling_scores([with_noise], with_labels) == labelling_scores([y], labels)
    assert labelling_scores([np.where(with_noise == NOISE, 9, with_noise)], with_labels) != labelling_scores(
        [y], labels
    )


def test_each_labelling_has_its_own_scores():
    y, other = np.array([1, 1, 2, 2]), np.array([1, 2, 1, 2])
    found = labelling_scores([y, other], other)
    assert set(found) == set(ALL)
    assert found["ari"] == [ari(y, other), 1.0]
    assert found["ami"] == [pytest.approx(ami(y, other)), pytest.approx(1.0)]
    assert all(len(scores) == 2 and scores[1] == pytest.approx(1.0) for scores in found.values())
