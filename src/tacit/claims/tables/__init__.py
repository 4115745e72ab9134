"""Cells of released tables."""
