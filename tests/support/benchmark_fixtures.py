import pytest

from everclust.benchmark.run.registry import ALGORITHMS
from support.toy_algorithms import TOYS


@pytest.fixture
def toys():
    """Small algorithms, known during one test."""
    ALGORITHMS.update({toy.name: toy for toy in TOYS})
    yield
    for toy in TOYS:
        del ALGORITHMS[toy.name]
