"""The families of documents, one file each: SPLIT, COUNTRY, LANGUAGE, LOOKS and RULES, of which ``start`` is the first."""
