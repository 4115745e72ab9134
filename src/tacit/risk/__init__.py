"""Risk: how much a release would disclose."""
