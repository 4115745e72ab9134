"""Time series of records: containers, normalisation and distances."""
