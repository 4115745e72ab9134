"""Attribute disclosure: how closely released values tell true ones."""
