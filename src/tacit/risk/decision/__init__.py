"""The expected loss of a release against what attackers may know."""
