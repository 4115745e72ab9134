"""Profiles of files, and the plans to start from."""
