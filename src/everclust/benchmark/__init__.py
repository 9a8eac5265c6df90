"""The paper's comparison: `data` loads data sets, `run` runs algorithms on them, `report` writes the report.

Nothing is imported here: import from a submodule, as in ``from everclust.benchmark.data.datasets import
load``.
"""
