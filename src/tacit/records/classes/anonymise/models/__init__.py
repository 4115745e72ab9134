"""The protection models that a search can aim at: what each asks of classes, and what it claims."""
