"""Synthesis on arrays: columns as codes and numbers, models that are fitted once and drawn from often."""
