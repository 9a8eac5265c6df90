"""Algorithms, settings and measures, and the runs themselves. Importing it registers the algorithms."""

from . import algorithms as algorithms
