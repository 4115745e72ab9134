"""The cell-key method: consistent noise for counts and magnitudes."""
