"""IDAT: plain functions over one State, compiled by numba."""
