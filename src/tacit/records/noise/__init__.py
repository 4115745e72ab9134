"""Noise: additive, multiplicative, correlated, in stages."""
