"""The risk of samples: how likely a record is found in the population."""
