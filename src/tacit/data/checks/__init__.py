"""What is looked at before a release: steps without effect, and columns that give away hidden values."""
