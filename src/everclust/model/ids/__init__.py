"""Permanent ids of clusters, and what happens to them."""
