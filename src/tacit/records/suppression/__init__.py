"""Suppression of single cells and of records."""
