import pytest

from everclust.benchmark.algorithms import ALGORITHMS
from toys import TOYS


@pytest.fixture
def toys():
    """Small algorithms, known during one test."""
    ALGORITHMS.update({toy.name: toy for toy in TOYS})
    yield
    for toy in TOYS:
        del ALGORITHMS[toy.name]
