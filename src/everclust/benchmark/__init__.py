"""The paper's comparison: data sets, settings, measures, statistics, and what runs and reports them.

Nothing is imported here: ask for the module that is needed, as in ``from everclust.benchmark.data.datasets
import load``.
"""
