"""Risk against a population register."""
