"""Detectors of hospitals, employers and other bodies."""
