"""Computing on data that may not meet: retrieval, union and regression across owners."""
