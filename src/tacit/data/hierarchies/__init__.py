"""Ways to make a hierarchy: rules that build one from values, and readers of files."""
