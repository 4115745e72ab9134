"""Detectors of numbers and addresses that stand for one person: telephones, records, the web."""
