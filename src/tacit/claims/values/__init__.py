"""What the values of a released file may be, and what belongs together."""
