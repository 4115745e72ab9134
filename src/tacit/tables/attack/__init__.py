"""Attacks on tables: intervals, exact deductions, differencing, audits."""
