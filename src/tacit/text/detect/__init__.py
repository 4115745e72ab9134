"""Detectors: one small file each, found by the registry."""
