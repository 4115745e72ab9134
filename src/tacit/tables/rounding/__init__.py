"""Rounding: controlled, random, of small counts."""
