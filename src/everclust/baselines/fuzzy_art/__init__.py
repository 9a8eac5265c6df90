"""Fuzzy ART and what is built on it: DDVFA, TopoART, TBM-P."""
