"""Models of risk for masked files."""
