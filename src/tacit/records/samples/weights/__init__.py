"""Survey weights: brought in line with known totals."""
