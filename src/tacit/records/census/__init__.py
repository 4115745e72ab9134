"""Samples of census and survey files for trusted users: whole households, safe geography, codes, order."""
