"""Detectors of streets, towns and villages."""
