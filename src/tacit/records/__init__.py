"""Methods and measures for records, one family to a folder: what is looked for together lies together."""
