"""Risk of synthetic data: attacks against a control set, distances, replicas, and what weights give away."""
