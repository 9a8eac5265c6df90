"""Prototypes joined by edges: shared by the graph-based baselines."""
