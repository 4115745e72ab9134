"""Risk-utility maps as charts."""
