"""Algorithms, settings, measures, and the runner. Importing this package registers the algorithms."""

from . import algorithms as algorithms
