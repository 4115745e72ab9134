"""The post randomisation method on plain arrays: matrices, expected tables, corrections."""
