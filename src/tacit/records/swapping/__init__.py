"""Swapping and shuffling: true values, other records."""
