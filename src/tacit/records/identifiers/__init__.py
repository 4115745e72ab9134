"""Direct identifiers: removal, pseudonyms, record keys."""
