"""Disclosure rules of least risk: what attackers may know, how much it hurts, which cells to show."""
