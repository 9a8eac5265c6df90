"""A data set of your own in the benchmark: everclust bench run --with examples/extending/dataset.py."""

from collections.abc import Sequence

from sklearn.datasets import load_wine

from everclust.benchmark.data.datasets import register
from everclust.benchmark.data.entry import Arrays, DataSet, Recipe
from everclust.benchmark.data.fetch import fetch


def installed_wine(files: Sequence[bytes]) -> Arrays:
    """Wine installs with scikit-learn; other recipes convert the files that they have downloaded."""
    return load_wine(return_X_y=True)


register(
    DataSet(
        "wine",
        "Wine",
        n_samples=178,
        n_features=13,
        n_classes=3,
        source="scikit-learn",
        licence="CC BY 4.0",
        recipe=Recipe("", (), installed_wine),
    )
)

if __name__ == "__main__":
    print("stored:", fetch("wine"))
