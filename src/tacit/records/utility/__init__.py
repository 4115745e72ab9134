"""Moments and distributions: how far the released numbers moved."""
