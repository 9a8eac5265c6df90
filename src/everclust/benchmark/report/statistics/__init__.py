"""Tests and ranks over data sets: numbers in, numbers out."""
