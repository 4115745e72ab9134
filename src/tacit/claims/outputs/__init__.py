"""Plots, fits and records drawn from noisy counts."""
