"""Data objects: microdata, their columns and roles, hierarchies, files."""
