"""Levels: what generalisation costs."""
