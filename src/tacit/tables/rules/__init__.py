"""Sensitivity rules: which cells are unsafe, and how far an attacker must be kept from them."""
