"""Outputs of research: what leaves a safe room that is neither records nor a table."""
