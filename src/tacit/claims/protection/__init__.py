"""Models of what can be learnt about people from keys and sensitive values."""
