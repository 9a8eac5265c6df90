"""Prototypes joined by edges: what the baselines with a graph share."""
