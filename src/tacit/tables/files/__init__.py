"""Table files: JJ, tau-ARGUS tables, a-priori files and batches, and plain CSV, Parquet and Excel."""
