"""Global disclosure risk of a masked file: the chance of a right link over what an intruder knows."""
