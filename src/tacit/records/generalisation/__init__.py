"""Generalisation: coarser values, by hierarchy, interval, rounding or code."""
