"""Controlled adjustment: the nearest additive table in which unsafe cells have moved enough."""
