"""Protection: methods that change microdata."""
