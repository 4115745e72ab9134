"""What analysts do with protected data: weighting, extrapolation and other corrections."""
