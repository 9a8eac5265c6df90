"""Sinks of predictions and events."""
