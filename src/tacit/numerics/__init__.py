"""Arithmetic with the same bits on every machine: algebra, elementary functions, random streams, kernels."""
