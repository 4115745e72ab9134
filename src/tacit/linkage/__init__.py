"""Record linkage on plain arrays: nearest records under a metric, and agreement weights."""
