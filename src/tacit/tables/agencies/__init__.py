"""Several agencies and several tables: co-ordination, mixed strategies, linked tables."""
