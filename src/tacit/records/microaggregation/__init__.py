"""Microaggregation: groups of at least k records share one value. Algorithms are in ``grouping``."""
