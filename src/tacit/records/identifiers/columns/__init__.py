"""Which columns point at people: by their combinations, by their names and values."""
