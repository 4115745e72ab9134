"""Detectors of people: titles, relations, signatures, lists and columns of names."""
