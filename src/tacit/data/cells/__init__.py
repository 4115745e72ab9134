"""The parts of a table: dimensions, relations, contributions, status, tabulation."""
