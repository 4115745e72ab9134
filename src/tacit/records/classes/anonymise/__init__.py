"""Optimal generalisation of whole columns: the lattice, its models and utilities, and the searches on it."""
