"""Torque Clustering."""
