"""Risk by classes of records that share their keys."""
