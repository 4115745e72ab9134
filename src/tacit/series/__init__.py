"""Time series of records: containers, normalisation, distances."""
