"""Risk of a sample: what it says about the population that nobody has on file."""
