"""Detectors of dates and of great ages."""
