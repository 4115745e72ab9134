"""Block structure of the relations of a table: finding, judging and using it."""
