"""Records drawn from a model, a sample or imputation."""
