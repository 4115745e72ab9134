"""Choosing between plans: comparisons, risk-utility maps, products for different users, recommendations."""
