"""A release: what is written, recorded, stated, signed and verified.

The release itself is in :mod:`tacit.release.release`; this package imports nothing.
"""
